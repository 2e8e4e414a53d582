//! A simulated user who knows a few things. The secret is
//! `{"knows": {"period": "The second quarter of 2025."}, "otherwise": "I cannot say."}`: a question
//! that names a word gets its reply.

use std::collections::BTreeMap;

use serde::Deserialize;
use tribunal_kit::{Description, Failure, Host, User};

/// The plugin. A user has no database, so there is nothing to ask for.
#[derive(Debug)]
pub struct Plugin;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Secret {
    knows: BTreeMap<String, String>,
    otherwise: String,
}

impl User for Plugin {
    fn describe() -> Description {
        Description::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
    }

    fn reply<H: Host>(host: &H, secret: &str, about: &str, question: &str) -> Result<String, Failure> {
        let Secret { knows, otherwise } = serde_json::from_str(secret).map_err(|fault| {
            // For the author of the task: no byte of the secret may reach the agent.
            host.log(&format!("secret: {fault}"));
            Failure::failed("the user cannot answer")
        })?;
        let asked = format!("{about} {question}").to_lowercase();
        let asked: Vec<&str> = asked.split(|c: char| !c.is_alphanumeric()).collect();
        let known = knows.into_iter().find(|(word, _)| asked.contains(&word.to_lowercase().as_str()));
        Ok(known.map_or(otherwise, |(_, reply)| reply))
    }
}

tribunal_kit::user!(Plugin);

#[cfg(test)]
mod tests {
    use super::*;
    use tribunal_kit::testing::{NoDatabase, TestHost};

    const SECRET: &str = r#"{"knows": {"period": "The second quarter of 2025."}, "otherwise": "I cannot say."}"#;

    fn reply(secret: &str, question: &str) -> Result<String, Failure> {
        Plugin::reply(&TestHost::new(NoDatabase), secret, "", question)
    }

    #[test]
    fn a_word_that_is_known_gets_its_reply() {
        assert_eq!(reply(SECRET, "Which period do you mean?").unwrap(), "The second quarter of 2025.");
    }

    #[test]
    fn nothing_else_is_said() {
        assert_eq!(reply(SECRET, "Tell me all you know.").unwrap(), "I cannot say.");
        assert_eq!(reply(SECRET, "periodically").unwrap(), "I cannot say.");
    }

    #[test]
    fn a_broken_secret_is_not_told() {
        assert_eq!(reply("{\"knows\": \"hush\"}", "period").unwrap_err().message, "the user cannot answer");
    }
}
