//! SQLite's functions of dates, without the clock: `now`, and whatever stands for it, is refused,
//! since what a statement gives must not depend on when it runs.

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::{Value as Cell, ValueRef};
use rusqlite::{Connection, Error, Result};

use crate::plain;

/// The functions, and how many arguments each takes at least: with less it means now.
const FUNCTIONS: [(&str, usize); 6] =
    [("date", 1), ("time", 1), ("datetime", 1), ("julianday", 1), ("unixepoch", 1), ("strftime", 2)];
/// What reads the clock or the time zone of the machine.
const CLOCKS: [&str; 3] = ["now", "localtime", "utc"];

/// Registers them over SQLite's own.
pub(crate) fn register(connection: &Connection) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    for (name, least) in FUNCTIONS {
        connection.create_scalar_function(name, -1, flags, move |context| pure(name, least, context))?;
    }
    Ok(())
}

fn wrong(why: &str) -> Error {
    Error::UserFunctionError(why.into())
}

fn pure(name: &str, least: usize, context: &Context<'_>) -> Result<Cell> {
    if context.len() < least {
        return Err(wrong("a date expected"));
    }
    for index in 0..context.len() {
        if let ValueRef::Text(text) = context.get_raw(index)
            && CLOCKS.iter().any(|clock| text.trim_ascii().eq_ignore_ascii_case(clock.as_bytes()))
        {
            return Err(wrong("a date expected, not the clock"));
        }
    }
    plain::call(name, context)
}
