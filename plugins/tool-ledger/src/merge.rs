//! Merging two accounts: all or nothing.

use serde::Deserialize;
use tribunal_kit::{Database, Failure, Kind, Output, Value, quoted};

use crate::rows::{Scalar, Tables, change_one, one_row, shown, value};
use crate::settings::{Accounts, Merge};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    keep_id: Scalar,
    close_id: Scalar,
}

/// Moves what belongs to one account to the other, and closes it.
pub(crate) fn accounts(session: &impl Database, rule: &Merge, wanted: &Wanted) -> Result<Output, Failure> {
    let accounts = &rule.accounts;
    let kind = Tables::of(session).kind(&accounts.table, &accounts.id, Kind::Integer);
    let read = |name: &str, scalar: &Scalar| {
        value(kind, &scalar.text()).map_err(|failure| Failure::invalid(format!("argument {name}: {}", failure.message)))
    };
    let (keep, close) = (read("keep_id", &wanted.keep_id)?, read("close_id", &wanted.close_id)?);
    if keep == close {
        return Err(Failure::invalid("keep_id and close_id are the same account"));
    }
    for id in [&keep, &close] {
        check_open(session, accounts, id)?;
    }
    let mut moved = Vec::new();
    for child in &rule.children {
        let column = quoted(&child.column);
        let sql = format!("UPDATE {} SET {column} = $1 WHERE {column} = $2", quoted(&child.table));
        let rows = session.change(&sql, &[keep.clone(), close.clone()])?;
        moved.push(format!("{rows} {}", child.table));
    }
    let mut sets = vec![format!("{} = $2", quoted(&accounts.status))];
    let mut values = vec![close.clone(), Value::Text(accounts.closed_value.clone())];
    if let Some(column) = &accounts.merged_into {
        sets.push(format!("{} = $3", quoted(column)));
        values.push(keep.clone());
    }
    let (table, id) = (quoted(&accounts.table), quoted(&accounts.id));
    let sql = format!("UPDATE {table} SET {} WHERE {id} = $1", sets.join(", "));
    change_one(session, &sql, &values)?;
    let moved = if moved.is_empty() { "nothing".to_owned() } else { moved.join(", ") };
    Ok(Output::text(format!("{} is closed and merged into {}; moved: {moved}", shown(&close), shown(&keep))))
}

fn check_open(session: &impl Database, accounts: &Accounts, id: &Value) -> Result<(), Failure> {
    let row = one_row(session, &accounts.table, &accounts.id, id, &[&accounts.status])?;
    match row.first() {
        Some(Value::Text(status)) if *status == accounts.closed_value => {
            Err(Failure::invalid(format!("account {} is already {status}", shown(id))))
        }
        _ => Ok(()),
    }
}
