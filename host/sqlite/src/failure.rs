//! SQLite's errors in our words. Of its texts nothing reaches an agent but names that stood in the
//! agent's own statement.

use rusqlite::{Error, ErrorCode};
use tribunal_protocol::Failure;

use crate::functions::TOO_LONG;
use crate::wall::Denied;

/// What the budget says where it ends.
pub(crate) fn spent() -> Failure {
    Failure::quota("the budget of rows scanned is spent")
}

/// What is said where the work ends before the rows do.
pub(crate) fn worked() -> Failure {
    Failure::quota("the statement is too much work; use fewer operators and functions, or fewer rows")
}

/// What is said where a statement would hold too much.
pub(crate) fn out_of_memory() -> Failure {
    Failure::quota(
        "the statement takes too much memory: it sorts, groups, joins or keeps aside too many rows, or too long \
         ones; filter or aggregate first",
    )
}

/// What the wall stopped.
pub(crate) fn denied(what: &Denied) -> Failure {
    match what {
        Denied::Table(name) => Failure::unknown(format!("no table {name}")),
        Denied::Column(name) => Failure::unknown(format!("no column {name}")),
        Denied::Function(name) => Failure::unknown(format!("no function {name}")),
        Denied::Action => Failure::unsupported("the statement does more than to read"),
    }
}

/// What went wrong in SQLite.
pub(crate) fn failed(error: &Error) -> Failure {
    let (code, text) = match error {
        Error::SqliteFailure(code, text) => (code.code, text.as_deref().unwrap_or_default()),
        Error::SqlInputError { error, msg, .. } => (error.code, msg.as_str()),
        _ => return Failure::invalid("the statement does not fit the data"),
    };
    match code {
        ErrorCode::OperationInterrupted => spent(),
        ErrorCode::TooBig => too_long(),
        ErrorCode::OutOfMemory => out_of_memory(),
        _ => said(text),
    }
}

fn too_long() -> Failure {
    Failure::quota("the texts of this statement grow too long")
}

fn said(text: &str) -> Failure {
    let named =
        [("no such column: ", "no column "), ("no such table: ", "no table "), ("no such function: ", "no function ")];
    for (theirs, ours) in named {
        if let Some(name) = text.strip_prefix(theirs) {
            // SQLite may put the name in quotes, and a hint of its own after it.
            let name = name.split(" - ").next().unwrap_or_default().trim_matches('"');
            return Failure::unknown(format!("{ours}{name}"));
        }
    }
    if let Some(name) = text.strip_prefix("ambiguous column name: ") {
        return Failure::invalid(format!("column {name} is ambiguous; put its table before it"));
    }
    match text {
        "integer overflow" => Failure::invalid("a number is out of range"),
        TOO_LONG => too_long(),
        text if text.starts_with("wrong number of arguments") => {
            Failure::invalid("a function was given too few or too many arguments")
        }
        text if text.starts_with("misuse of") => Failure::invalid("an aggregate or window stands where none can"),
        text if text.contains("syntax error") => Failure::unsupported("a construct of this statement"),
        _ => Failure::invalid("a function or operator was given a value that it cannot take"),
    }
}
