//! SQLite's own functions, for those that are registered over them.

use std::sync::{Mutex, OnceLock, PoisonError};

use rusqlite::functions::Context;
use rusqlite::types::Value as Cell;
use rusqlite::{Connection, Error, Result, params_from_iter};

static PLAIN: OnceLock<Mutex<Connection>> = OnceLock::new();

fn wrong(why: &str) -> Error {
    Error::UserFunctionError(why.into())
}

/// What SQLite's own function of that name gives for the arguments.
pub(crate) fn call(name: &str, context: &Context<'_>) -> Result<Cell> {
    let arguments = (0..context.len()).map(|index| Cell::try_from(context.get_raw(index)));
    let arguments: Vec<Cell> =
        arguments.collect::<std::result::Result<_, _>>().map_err(|_| wrong("a value expected"))?;
    let places = vec!["?"; arguments.len()].join(", ");
    if PLAIN.get().is_none() {
        let connection = Connection::open_in_memory()?;
        connection.execute_batch("PRAGMA case_sensitive_like = ON")?;
        // Whoever comes second keeps the first one's.
        let _ = PLAIN.set(Mutex::new(connection));
    }
    let plain = PLAIN.get().ok_or_else(|| wrong("no memory"))?.lock().unwrap_or_else(PoisonError::into_inner);
    plain.query_row(&format!("SELECT {name}({places})"), params_from_iter(arguments), |row| row.get(0))
}
