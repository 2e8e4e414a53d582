//! From the guest to the host. A guest may give anything; what the interface does not allow
//! becomes an error here, and every text has an end.

use tribunal_protocol::failure::{Code, Failure};
use tribunal_protocol::plugin::{Description, ToolSpec};
use tribunal_protocol::value::Value;
use tribunal_protocol::verdict::{Difference, Score};

use crate::bindings::{description, evidence, types};
use crate::convert::decimal;
use crate::log::shorten;

/// Bytes of a failure's message that an agent reads.
const MESSAGE_BYTES: usize = 4_096;
/// Bytes of each text of a difference.
const DIFFERENCE_BYTES: usize = 1_024;
/// Bytes of a reason code.
const REASON_BYTES: usize = 64;

/// A statement's parameters.
pub(crate) fn values(values: Vec<types::Value>) -> Result<Vec<Value>, Failure> {
    let read = |(place, value)| match value {
        types::Value::Null => Ok(Value::Null),
        types::Value::Boolean(b) => Ok(Value::Boolean(b)),
        types::Value::Integer(i) => Ok(Value::Integer(i)),
        types::Value::Float(x) => Ok(Value::Float(x)),
        types::Value::Decimal(text) => decimal::read(&text).map(Value::Decimal).ok_or_else(|| {
            let text = shorten(&text, 64);
            Failure::invalid(format!("parameter ${}: `{text}` is no decimal of at most 28 digits", place + 1))
        }),
        types::Value::Text(text) => Ok(Value::Text(text)),
        types::Value::Date(days) => Ok(Value::Date(days)),
        types::Value::Timestamp(micros) => Ok(Value::Timestamp(micros)),
    };
    values.into_iter().enumerate().map(read).collect()
}

pub(crate) fn failure(failure: types::Failure) -> Failure {
    Failure { code: code(failure.code), message: shorten(&failure.message, MESSAGE_BYTES) }
}

fn code(code: types::Code) -> Code {
    match code {
        types::Code::Denied => Code::Denied,
        types::Code::Unknown => Code::Unknown,
        types::Code::Unsupported => Code::Unsupported,
        types::Code::Quota => Code::Quota,
        types::Code::Invalid => Code::Invalid,
        types::Code::Failed => Code::Failed,
    }
}

/// A verifier's score, on instance 0 until the caller says which.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn score(scored: evidence::Scored) -> Result<Score, String> {
    if !(0.0..=1.0).contains(&scored.reward) {
        return Err(format!("a reward in 0..=1 expected, {} given", scored.reward));
    }
    if !is_reason(&scored.reason) {
        let reason = shorten(&scored.reason, REASON_BYTES);
        return Err(format!(
            "a reason of lower-case words joined by `-`, at most {REASON_BYTES} bytes, expected, `{reason}` given"
        ));
    }
    let short = |text: &str| shorten(text, DIFFERENCE_BYTES);
    let difference = scored.difference.map(|difference| Difference {
        path: short(&difference.path),
        row: difference.row,
        column: difference.column.as_deref().map(short),
        expected: short(&difference.expected),
        found: short(&difference.found),
    });
    // Adding zero turns -0.0 into 0.0, which prints otherwise.
    Ok(Score { reward: scored.reward + 0.0, reason: scored.reason, difference, instance: 0 })
}

fn is_reason(reason: &str) -> bool {
    let word =
        |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    reason.len() <= REASON_BYTES && reason.split('-').all(word)
}

/// A plugin's description, its schemas read; whether it makes sense is checked elsewhere.
///
/// # Errors
/// The tool whose schema is no JSON.
pub(crate) fn description(given: description::Description) -> Result<Description, String> {
    let tool = |tool: description::ToolInfo| {
        let arguments = serde_json::from_str(&tool.arguments).map_err(|fault| {
            format!("tool `{}`: its schema of arguments is no JSON: {fault}", shorten(&tool.name, 64))
        })?;
        Ok(ToolSpec { name: tool.name, description: tool.description, arguments })
    };
    let tools = given.tools.into_iter().map(tool).collect::<Result<_, String>>()?;
    Ok(Description { name: given.name, version: given.version, tools, contract: given.contract })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scored(reward: f64, reason: &str) -> Result<Score, String> {
        score(evidence::Scored { reward, reason: reason.to_owned(), difference: None })
    }

    #[test]
    fn rewards_lie_between_zero_and_one() {
        for good in [0.0, 0.5, 1.0] {
            assert_eq!(scored(good, "match").unwrap().reward, good);
        }
        assert!(scored(-0.0, "match").unwrap().reward.is_sign_positive());
        for wrong in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.001, 1.000_001] {
            assert!(scored(wrong, "match").unwrap_err().contains("0..=1"), "{wrong}");
        }
    }

    #[test]
    fn reasons_are_codes() {
        for good in ["match", "row-count", "top-3"] {
            assert!(scored(1.0, good).is_ok());
        }
        let long = "a".repeat(65);
        for wrong in ["", "Match", "row count", "-a", "a-", "a--b", "é", "a\n", long.as_str()] {
            assert!(scored(1.0, wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn long_texts_end() {
        let long = "é".repeat(10_000);
        let given = types::Failure { code: types::Code::Denied, message: long.clone() };
        let cut = failure(given);
        assert_eq!((cut.code, cut.message.len()), (Code::Denied, MESSAGE_BYTES + "…".len()));
        let difference = evidence::Difference {
            path: long.clone(),
            row: Some(3),
            column: Some(long.clone()),
            expected: long.clone(),
            found: long,
        };
        let given = evidence::Scored { reward: 0.0, reason: "cell".to_owned(), difference: Some(difference) };
        let difference = score(given).unwrap().difference.unwrap();
        assert!(difference.path.len() + difference.expected.len() + difference.found.len() < 4_000);
    }

    #[test]
    fn a_wrong_parameter_is_named() {
        let given = vec![types::Value::Null, types::Value::Decimal("12 €".to_owned())];
        let failure = values(given).unwrap_err();
        assert_eq!(failure.to_string(), "invalid: parameter $2: `12 €` is no decimal of at most 28 digits");
    }
}
