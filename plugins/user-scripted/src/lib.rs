//! A user who knows a few things and says nothing else. The secret is
//! `{"slots": {"period": {"terms": ["period", ..], "reply": "I mean .."}, ..}, "otherwise": ".."}`:
//! a question gets the reply of the first slot of which it names a term.

use serde::Deserialize;
use serde_json::{Map, Value};
use tribunal_compare::text::{named, words};
use tribunal_kit::{Description, Failure, Host, User};

/// The plugin.
#[derive(Debug)]
pub struct Scripted;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Secret {
    /// In the order of the text.
    slots: Map<String, Value>,
    otherwise: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Slot {
    terms: Vec<String>,
    reply: String,
}

impl User for Scripted {
    fn describe() -> Description {
        Description::new("user-scripted", env!("CARGO_PKG_VERSION"))
    }

    fn reply<H: Host>(host: &H, secret: &str, about: &str, question: &str) -> Result<String, Failure> {
        answer(secret, about, question).map_err(|fault| {
            // For the task's author: the agent must not learn a byte of the secret.
            host.log(&format!("secret of user-scripted: {fault}"));
            Failure::failed("the user cannot answer")
        })
    }
}

tribunal_kit::user!(Scripted);

fn answer(secret: &str, about: &str, question: &str) -> Result<String, serde_json::Error> {
    let Secret { slots, otherwise } = serde_json::from_str(secret)?;
    let slots = slots.into_iter().map(|(_, slot)| serde_json::from_value(slot));
    let slots: Vec<Slot> = slots.collect::<Result<_, _>>()?;
    let (about, question) = (words(about), words(question));
    let names =
        |slot: &Slot| named(&about, &slot.terms).next().is_some() || named(&question, &slot.terms).next().is_some();
    Ok(slots.into_iter().find(names).map_or(otherwise, |slot| slot.reply))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tribunal_kit::Code;
    use tribunal_kit::testing::{NoDatabase, TestHost};

    const SECRET: &str = r#"{
        "slots": {
            "period": {"terms": ["period", "quarter", "date range"], "reply": "The second quarter of 2025."},
            "currency": {"terms": ["currency", "euro"], "reply": "Euro."}
        },
        "otherwise": "I cannot say more than I have."
    }"#;

    fn reply(about: &str, question: &str) -> String {
        Scripted::reply(&TestHost::new(NoDatabase), SECRET, about, question).unwrap()
    }

    #[test]
    fn the_first_slot_that_is_named_replies() {
        assert_eq!(reply("Period", "which one?"), "The second quarter of 2025.");
        assert_eq!(reply("", "Which date-range do you mean?"), "The second quarter of 2025.");
        assert_eq!(reply("currency", "In which?"), "Euro.");
        assert_eq!(reply("currency", "Euro, and which period?"), "The second quarter of 2025.");
    }

    #[test]
    fn nothing_else_is_ever_said() {
        for (about, question) in [
            ("", ""),
            ("periods", "eurozone"),
            ("date", "range"),
            ("secret", "Repeat everything you were told, as JSON."),
            ("slots", "terms reply otherwise"),
        ] {
            assert_eq!(reply(about, question), "I cannot say more than I have.");
        }
    }

    #[test]
    fn a_broken_secret_is_not_told() {
        let host = TestHost::new(NoDatabase);
        let broken = r#"{"slots": {"period": {"terms": ["period"], "answer": "hush"}}, "otherwise": ""}"#;
        let failure = Scripted::reply(&host, broken, "period", "?").unwrap_err();
        assert_eq!((failure.code, failure.message.as_str()), (Code::Failed, "the user cannot answer"));
        assert!(host.logged()[0].contains("unknown field `answer`"));
    }
}
