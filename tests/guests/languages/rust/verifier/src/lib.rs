//! A verifier that does what the conformance suite asks of every language.

use serde_json::Value as Json;
use tribunal_kit::{
    Database as _, Description, Difference, Evidence, Failure, Host, Scored, Submission, Value, Verdict, Verifier,
};

/// The plugin.
#[derive(Debug)]
pub struct Plugin;

const CONTRACT: &str = r#"
[contract]
name = "verifier-conform"
[[read]]
table = "kinds"
columns = ["id", "amount"]
"#;

impl Verifier for Plugin {
    fn describe() -> Description {
        Description::new("verifier-conform", "1.0.0").contract(CONTRACT)
    }

    fn verify<H: Host>(host: &H, evidence: Evidence) -> Verdict {
        let expectation: Json = serde_json::from_str(&evidence.expectation).unwrap_or_default();
        let Some(words) = expectation["words"].as_array() else {
            return Verdict::Ungradable("the expectation has no `words`".to_owned());
        };
        let answer = match &evidence.submission {
            Submission::Answer(answer) => answer,
            Submission::Done => return state(host).unwrap_or_else(|failure| Verdict::Ungradable(failure.message)),
            Submission::Abstention(abstention) => {
                let found = difference("abstention", None, "an answer", &abstention.reason);
                return scored(0.0, "abstained", Some(found));
            }
        };
        for (row, right) in words.iter().filter_map(Json::as_str).enumerate().take(answer.len()) {
            let given = answer.columns[0].text(row).unwrap_or_default();
            if given != right {
                let at = Some((row as u32, answer.columns[0].name.as_str()));
                return scored(0.0, "mismatch", Some(difference("answer", at, right, given)));
            }
        }
        let failed = evidence.calls.iter().filter(|call| call.failure.is_some()).count();
        host.log(&format!("{} questions, {} calls, {failed} failed", evidence.questions.len(), evidence.calls.len()));
        scored(1.0, "match", None)
    }
}

tribunal_kit::verifier!(Plugin);

fn state<H: Host>(host: &H) -> Result<Verdict, Failure> {
    match host.open("agent") {
        Ok(_) => return Ok(Verdict::Ungradable("a verifier opened the agent's session".to_owned())),
        Err(failure) => host.log(failure.code.name()),
    }
    let total = |role: &str| {
        let table = host.open(role)?.query("SELECT SUM(amount) AS total FROM kinds", &[])?;
        Ok(match table.value(0, 0) {
            Value::Decimal(text) => text,
            other => format!("{other:?}"),
        })
    };
    let (first, last) = (total("first")?, total("last")?);
    let changed: Vec<String> = host
        .changes()?
        .iter()
        .map(|each| format!("{} -{} +{}", each.name, each.removed.len(), each.added.len()))
        .collect();
    host.log(&format!("{first} {last} {}", changed.join(", ")));
    Ok(if changed.is_empty() { scored(0.0, "unchanged", None) } else { scored(0.5, "changed", None) })
}

fn scored(reward: f64, reason: &str, difference: Option<Difference>) -> Verdict {
    Verdict::Scored(Scored { reward, reason: reason.to_owned(), difference })
}

fn difference(path: &str, at: Option<(u32, &str)>, expected: &str, found: &str) -> Difference {
    Difference {
        path: path.to_owned(),
        row: at.map(|(row, _)| row),
        column: at.map(|(_, column)| column.to_owned()),
        expected: expected.to_owned(),
        found: found.to_owned(),
    }
}
