//! Terms: whether what they name is there.

use std::collections::BTreeSet;

use tribunal_protocol::task::TaskKind;
use tribunal_protocol::value::parse_date;

use super::{Checked, Tables, listed};
use crate::condition::Conditions;
use crate::draw::Draw;
use crate::error::TasksError;
use crate::family::Family;
use crate::frame::RowsForm;
use crate::suite::Schema;
use crate::terms::Carry;

/// What a schema's terms are checked against.
pub(crate) struct Around<'a> {
    /// The names of all family files that there are, used or not.
    pub(crate) files: &'a BTreeSet<String>,
    /// The families that this suite uses.
    pub(crate) family: &'a dyn Fn(&str) -> Option<&'a Family>,
}

/// Verbs of a write grant.
const VERBS: [&str; 3] = ["insert", "update", "delete"];

/// Refuses terms that name what is not there, or stand twice.
pub(crate) fn carries(schema: &Schema, around: &Around<'_>) -> Result<(), TasksError> {
    let file = &schema.terms_file;
    let fault = |(key, why): (String, String)| TasksError::invalid(file, key, why);
    window(&schema.terms.window).map_err(|why| fault(("window".to_owned(), why)))?;
    let mut seen = BTreeSet::new();
    for carry in &schema.terms.carries {
        let at = |(key, why): (String, String)| fault((format!("{}{key}", carry.key()), why));
        if !seen.insert(carry.key()) {
            return Err(at((String::new(), "stands twice; give one of them another name".to_owned())));
        }
        if !around.files.contains(&carry.family) {
            let known = listed(around.files.iter().map(String::as_str));
            return Err(at((", family".to_owned(), format!("no family `{}`; there are: {known}", carry.family))));
        }
        let is_state = (around.family)(&carry.family).is_some_and(|family| family.kind == TaskKind::State);
        if is_state && schema.terms.ledger.is_none() {
            let why = format!("settings of tool-ledger expected: family {} changes the database", carry.family);
            return Err(fault(("ledger".to_owned(), why)));
        }
        one(carry, schema).map_err(at)?;
    }
    Ok(())
}

/// The first day of a window must lie before its end.
fn window([from, until]: &[String; 2]) -> Result<(), String> {
    let day =
        |text: &str| parse_date(text).ok_or_else(|| format!("a date such as 2025-01-01 expected, `{text}` given"));
    if day(from)? < day(until)? { Ok(()) } else { Err(format!("{from} must lie before {until}")) }
}

fn one(carry: &Carry, schema: &Schema) -> Checked {
    let tables = Tables::of(&schema.shape);
    let at = |key: &'static str| move |why: String| (format!(", {key}"), why);
    carry.window.as_ref().map_or(Ok(()), window).map_err(at("window"))?;
    carry.tables.iter().try_for_each(|table| tables.readable(table)).map_err(at("tables"))?;
    if let Some(metric) = &carry.metric {
        let mut metrics = schema.shape.metrics.iter().map(|metric| metric.name.as_str());
        if !metrics.clone().any(|known| known == metric) {
            let why = format!("no [[metric]] `{metric}` in the schema; there are: {}", listed(&mut metrics));
            return Err(at("metric")(why));
        }
    }
    for (table, write) in &carry.write {
        tables.table(table).map_err(at("write"))?;
        write.columns.iter().try_for_each(|column| tables.column(table, column)).map_err(at("write"))?;
        if let Some(verb) = write.verbs.iter().find(|verb| !VERBS.contains(&verb.as_str())) {
            let why = format!("table {table}: no verb `{verb}`; there are: {}", listed(VERBS));
            return Err(at("write")(why));
        }
    }
    carry.reveal.iter().try_for_each(|path| tables.path(path)).map_err(at("reveal"))?;
    carry.hide.iter().try_for_each(|path| tables.path(path)).map_err(at("hide"))?;
    for (table, columns) in &carry.ignore {
        columns.iter().try_for_each(|column| tables.column(table, column)).map_err(at("ignore"))?;
    }
    for (name, draw) in &carry.draws {
        one_draw(draw, tables).map_err(|why| (format!(", draw {name}"), why))?;
    }
    Ok(())
}

fn one_draw(draw: &Draw, tables: Tables<'_>) -> Result<(), String> {
    match draw {
        Draw::Value { table, column, conditions, .. } => {
            std::iter::once(column).chain(conditions.keys()).try_for_each(|name| tables.column(table, name))
        }
        Draw::Row(form) | Draw::Rows(form) => rows(form, tables),
        Draw::Period { .. } | Draw::MonthEnd {} | Draw::Integer(_) | Draw::OneOf(_) | Draw::Choice(_) => Ok(()),
    }
}

fn rows(form: &RowsForm, tables: Tables<'_>) -> Result<(), String> {
    // A name is a column of the table, or `alias.column` of a join before it.
    let name = |joins: usize, name: &str| match name.split_once('.') {
        None => tables.column(&form.table, name),
        Some((alias, column)) => {
            let joins = form.joins.get(..joins).unwrap_or(&form.joins);
            let join = joins.iter().find(|join| join.alias == alias);
            let join = join.ok_or_else(|| {
                let known = listed(joins.iter().map(|join| join.alias.as_str()));
                format!("`{name}`: no join as `{alias}`; there are: {known}")
            })?;
            tables.column(&join.table, column)
        }
    };
    for (place, join) in form.joins.iter().enumerate() {
        name(place, &join.on[0])?;
        tables.column(&join.table, &join.on[1])?;
    }
    let all = form.joins.len();
    let conditions = |conditions: &Conditions| conditions.keys().try_for_each(|column| name(all, column));
    let named = [&form.id, &form.amount, &form.label, &form.identity].into_iter().flatten();
    named.chain(&form.latest).try_for_each(|column| name(all, column))?;
    conditions(&form.conditions)?;
    for without in &form.without {
        tables.column(&without.table, &without.column)?;
        name(all, &without.to)?;
    }
    for other in form.others.values() {
        other.same.iter().chain(&other.differ).try_for_each(|column| name(all, column))?;
        conditions(&other.conditions)?;
    }
    Ok(())
}
