//! Status transitions.

use std::collections::BTreeMap;

use serde::Deserialize;
use tribunal_kit::{Database, Failure, Kind, Output, Value, quoted};

use crate::rows::{Scalar, Tables, change_one, one_row, shown, value};
use crate::settings::Transitions;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    entity: String,
    id: Scalar,
    status: String,
}

/// Sets the status of one thing, where the transition is allowed.
pub(crate) fn set(
    session: &impl Database,
    rules: &BTreeMap<String, Transitions>,
    wanted: &Wanted,
) -> Result<Output, Failure> {
    let Wanted { entity, status, .. } = wanted;
    let rule = rules.get(entity).ok_or_else(|| {
        let known: Vec<&str> = rules.keys().map(String::as_str).collect();
        Failure::unknown(format!("no entity {entity}; there are {}", known.join(", ")))
    })?;
    let kind = Tables::of(session).kind(&rule.table, &rule.id, Kind::Integer);
    let id = value(kind, &wanted.id.text())
        .map_err(|failure| Failure::invalid(format!("argument id: {}", failure.message)))?;
    let row = one_row(session, &rule.table, &rule.id, &id, &[&rule.status])?;
    let before = row.first().map(shown).unwrap_or_default();
    let next = rule.allowed.get(&before).map(Vec::as_slice).unwrap_or_default();
    if !next.contains(status) {
        let next = if next.is_empty() { "nothing".to_owned() } else { next.join(" or ") };
        return Err(Failure::invalid(format!("{entity} {} is {before}; from there it can become {next}", shown(&id))));
    }
    let (table, column, id_column) = (quoted(&rule.table), quoted(&rule.status), quoted(&rule.id));
    let sql = format!("UPDATE {table} SET {column} = $1 WHERE {id_column} = $2");
    change_one(session, &sql, &[Value::Text(status.clone()), id.clone()])?;
    Ok(Output::text(format!("{entity} {}: {before} is now {status}", shown(&id))))
}
