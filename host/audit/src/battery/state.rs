//! States: the golden one by other ways, and all that is next to it.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value as Json;
use tribunal_contract::{Contract, Effective};
use tribunal_database::{DatabaseSession, State};
use tribunal_episode::{Exhibit, Prepared};
use tribunal_protocol::evidence::Submission;
use tribunal_protocol::policy::{Action, names};
use tribunal_protocol::schema::TableSchema;
use tribunal_protocol::session::{Session, TableChanges};
use tribunal_protocol::table::Table;
use tribunal_protocol::usage::Usage;
use tribunal_protocol::value::Value;

use super::answer::strange;
use super::{Maker, Site, played};
use crate::kind::CaseKind;
use crate::sheet::Sheet;

/// Fields of changed rows that are spoilt, each in a case of its own, at most.
const FIELDS: usize = 12;

/// All powers over all tables: whoever makes a wrong state stands outside every contract.
const ALL: &str = r#"
    [contract]
    name = "audit"
    [[read]]
    table = "*"
    columns = ["*"]
    [[write]]
    table = "*"
    columns = ["*"]
    verbs = ["insert", "update", "delete"]
"#;

/// Makes all cases about states.
pub(crate) fn make(maker: &mut Maker<'_>) {
    let ground = maker.ground;
    let Some(site) = ground.sites.first() else { return };
    let Some(contract) = all_powers(ground.prepared) else { return };
    let first = ground.prepared.snapshots()[site.instance].fork();
    submissions(maker, site, &first);
    other_order(maker, site);
    half(maker, site);
    let Ok(changes) = site.exhibit.last.changes_since(&first) else { return };
    for change in &changes {
        if let Some(schema) = schema(ground.prepared, &change.name) {
            fields(maker, site, &contract, schema, change);
            reverts(maker, site, &contract, schema, change);
            if changes.len() > 1 {
                undone(maker, site, &contract, schema, change);
            }
        }
    }
    collateral(maker, site, &contract, &changes);
}

fn all_powers(prepared: &Prepared) -> Option<Arc<Effective>> {
    let snapshot = prepared.snapshots().first()?;
    Contract::parse(ALL).ok()?.resolve(snapshot.schemas()).ok().map(Arc::new)
}

fn schema<'p>(prepared: &'p Prepared, table: &str) -> Option<&'p TableSchema> {
    prepared.snapshots().first()?.schemas().iter().find(|schema| schema.name == table)
}

/// Nothing done at all, and the right state handed in as something else.
fn submissions(maker: &mut Maker<'_>, site: &Site, first: &State) {
    let nothing = Exhibit { last: first.clone(), ..site.exhibit.clone() };
    maker.exhibit(CaseKind::NoOp, site, nothing, "nothing changed");
    let words = "it cannot be done".to_owned();
    let table = Submission::Answer(Table::default());
    let abstained = Submission::Abstention { reason: words.clone(), missing: words };
    for (submission, how) in
        [(table, "the right state, and a table of nothing"), (abstained, "the right state, and an abstention")]
    {
        maker.exhibit(CaseKind::WrongSubmission, site, Exhibit { submission, ..site.exhibit.clone() }, how);
    }
}

/// The same calls in reverse, where they lead to the same state.
fn other_order(maker: &mut Maker<'_>, site: &Site) {
    let ground = maker.ground;
    let (mut work, end): (Vec<Action>, Vec<Action>) =
        ground.task.oracle.iter().cloned().partition(|action| !names::ALL.contains(&action.tool.as_str()));
    work.reverse();
    let actions: Vec<Action> = work.into_iter().chain(end).collect();
    let Some(exhibit) = played(ground.prepared, &actions).and_then(|episode| episode.exhibit(site.instance).ok())
    else {
        return maker.leave_out();
    };
    if exhibit.last.digest() == site.exhibit.last.digest() {
        maker.exhibit(CaseKind::OtherPath, site, exhibit, "the same calls in reverse");
    } else {
        maker.leave_out();
    }
}

/// Without one of the calls that change something.
fn half(maker: &mut Maker<'_>, site: &Site) {
    let ground = maker.ground;
    let oracle = &ground.task.oracle;
    let mut made = 0;
    for left_out in (0..oracle.len()).rev() {
        if made == 2 || names::ALL.contains(&oracle[left_out].tool.as_str()) {
            continue;
        }
        let actions: Vec<Action> = oracle
            .iter()
            .enumerate()
            .filter(|(place, _)| *place != left_out)
            .map(|(_, action)| action.clone())
            .collect();
        let exhibit = played(ground.prepared, &actions).and_then(|episode| episode.exhibit(site.instance).ok());
        if let Some(exhibit) = exhibit
            && wrong(site, &exhibit, ground.prepared)
        {
            let how = format!("call {} ({}) left out", left_out + 1, oracle[left_out].tool);
            maker.exhibit(CaseKind::Half, site, exhibit, &how);
            made += 1;
        }
    }
}

/// Every field of a changed or new row spoilt by itself.
fn fields(maker: &mut Maker<'_>, site: &Site, contract: &Arc<Effective>, schema: &TableSchema, change: &TableChanges) {
    let added = Sheet::of(&change.added);
    if added.rows.is_empty() || schema.primary_key.is_empty() {
        return;
    }
    let row = maker.dice.below(added.rows.len());
    let Some(key) = key_of(schema, &added, row) else { return };
    for (place, (name, _)) in added.columns.iter().enumerate().take(FIELDS) {
        if schema.primary_key.contains(name) {
            continue;
        }
        let kind = schema.columns.iter().find(|column| column.name == *name).map(|column| column.kind);
        let old = &added.rows[row][place];
        let value = match (old, kind) {
            (Value::Null, Some(kind)) => some_value(kind),
            (value, _) => Some(strange(value)),
        };
        let Some(value) = value else { continue };
        let sql = format!("UPDATE {} SET {} = $1 WHERE {}", quoted(&schema.name), quoted(name), key.0);
        let parameters: Vec<Value> = std::iter::once(value).chain(key.1.iter().cloned()).collect();
        let how = format!("{}.{name} of one changed row spoilt", schema.name);
        with_change(maker, site, contract, (&sql, &parameters), CaseKind::StateField, &how);
    }
}

/// A changed row put back, and a new one taken away.
fn reverts(maker: &mut Maker<'_>, site: &Site, contract: &Arc<Effective>, schema: &TableSchema, change: &TableChanges) {
    let added = Sheet::of(&change.added);
    let row = added.rows.len().saturating_sub(1);
    if added.rows.is_empty() {
        return;
    }
    let Some((condition, values)) = key_of(schema, &added, row) else { return };
    let sql = format!("DELETE FROM {} WHERE {}", quoted(&schema.name), shifted(&condition));
    with_change(
        maker,
        site,
        contract,
        (&sql, &values),
        CaseKind::Half,
        &format!("one changed row of {} deleted", schema.name),
    );
}

/// All changes of one table undone, where another one changed too.
fn undone(maker: &mut Maker<'_>, site: &Site, contract: &Arc<Effective>, schema: &TableSchema, change: &TableChanges) {
    let mut session = DatabaseSession::open(site.exhibit.last.clone(), Arc::clone(contract), Usage::default());
    let (added, removed) = (Sheet::of(&change.added), Sheet::of(&change.removed));
    let table = quoted(&schema.name);
    let mut whole = true;
    for row in 0..added.rows.len() {
        let Some((condition, values)) = key_of(schema, &added, row) else { return };
        whole &= session.change(&format!("DELETE FROM {table} WHERE {}", shifted(&condition)), &values) == Ok(1);
    }
    let names: Vec<String> = removed.columns.iter().map(|(name, _)| quoted(name)).collect();
    let places: Vec<String> = (1..=names.len()).map(|number| format!("${number}")).collect();
    let insert = format!("INSERT INTO {table} ({}) VALUES ({})", names.join(", "), places.join(", "));
    for row in &removed.rows {
        whole &= session.change(&insert, row) == Ok(1);
    }
    let exhibit = Exhibit { last: session.into_state(), ..site.exhibit.clone() };
    if whole && wrong(site, &exhibit, maker.ground.prepared) {
        maker.exhibit(CaseKind::Half, site, exhibit, &format!("all changes of {} undone", schema.name));
    } else {
        maker.leave_out();
    }
}

/// The right change, and another one in the same table, in another, or by a new row.
fn collateral(maker: &mut Maker<'_>, site: &Site, contract: &Arc<Effective>, changes: &[TableChanges]) {
    let snapshot = &maker.ground.prepared.snapshots()[site.instance];
    let mut schemas: Vec<&TableSchema> =
        snapshot.schemas().iter().filter(|schema| !schema.primary_key.is_empty()).collect();
    let changed = |schema: &TableSchema| changes.iter().any(|change| change.name == schema.name);
    schemas.sort_by_key(|schema| !changed(schema));
    let schemas: Vec<TableSchema> = schemas.into_iter().take(4).cloned().collect();
    for schema in &schemas {
        let mut session = DatabaseSession::open(site.exhibit.last.clone(), Arc::clone(contract), Usage::default());
        let touched = changes.iter().find(|change| change.name == schema.name).map(|change| Sheet::of(&change.added));
        let Ok(table) = session.query(&format!("SELECT * FROM {}", quoted(&schema.name)), &[]) else { continue };
        let rows = Sheet::of(&table);
        let untouched = |row: &usize| touched.as_ref().is_none_or(|touched| !touched.rows.contains(&rows.rows[*row]));
        let free: Vec<usize> = (0..rows.rows.len()).filter(untouched).collect();
        let Some(row) = free.get(maker.dice.below(free.len())) else { continue };
        let Some((condition, values)) = key_of(schema, &rows, *row) else { continue };
        let plain = rows.columns.iter().position(|(name, _)| {
            !schema.primary_key.contains(name) && !schema.foreign_keys.iter().any(|key| key.columns.contains(name))
        });
        if let Some(place) = plain {
            let value = match &rows.rows[*row][place] {
                Value::Null => some_value(rows.columns[place].1),
                value => Some(strange(value)),
            };
            let Some(value) = value else { continue };
            let name = &rows.columns[place].0;
            let sql = format!("UPDATE {} SET {} = $1 WHERE {condition}", quoted(&schema.name), quoted(name));
            let parameters: Vec<Value> = std::iter::once(value).chain(values.iter().cloned()).collect();
            let how = format!("the right change, and {}.{name} of another row", schema.name);
            with_change(maker, site, contract, (&sql, &parameters), CaseKind::Collateral, &how);
        }
        let sql = format!("DELETE FROM {} WHERE {}", quoted(&schema.name), shifted(&condition));
        let how = format!("the right change, and a row of {} deleted", schema.name);
        with_change(maker, site, contract, (&sql, &values), CaseKind::Collateral, &how);
    }
}

/// The golden state with one more change, if the reference finds it wrong.
fn with_change(
    maker: &mut Maker<'_>,
    site: &Site,
    contract: &Arc<Effective>,
    (sql, parameters): (&str, &[Value]),
    kind: CaseKind,
    how: &str,
) {
    let mut session = DatabaseSession::open(site.exhibit.last.clone(), Arc::clone(contract), Usage::default());
    if session.change(sql, parameters) != Ok(1) {
        return maker.leave_out();
    }
    let exhibit = Exhibit { last: session.into_state(), ..site.exhibit.clone() };
    if wrong(site, &exhibit, maker.ground.prepared) {
        maker.exhibit(kind, site, exhibit, how);
    } else {
        maker.leave_out();
    }
}

/// The condition that a row's key satisfies, its parameters numbered from 2, and their values.
fn key_of(schema: &TableSchema, sheet: &Sheet, row: usize) -> Option<(String, Vec<Value>)> {
    let mut conditions = Vec::new();
    let mut values = Vec::new();
    for (number, name) in (2..).zip(&schema.primary_key) {
        conditions.push(format!("{} = ${number}", quoted(name)));
        values.push(sheet.rows[row][sheet.place(name)?].clone());
    }
    (!values.is_empty()).then(|| (conditions.join(" AND "), values))
}

/// The same condition with its parameters numbered from 1.
fn shifted(condition: &str) -> String {
    (2..10).fold(condition.to_owned(), |text, number| text.replace(&format!("${number}"), &format!("${}", number - 1)))
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn some_value(kind: tribunal_protocol::Kind) -> Option<Value> {
    use tribunal_protocol::Kind;
    Some(match kind {
        Kind::Boolean => Value::Boolean(true),
        Kind::Integer => Value::Integer(7),
        Kind::Float => Value::Float(7.5),
        Kind::Decimal => Value::Decimal(7.into()),
        Kind::Text => Value::Text("x".to_owned()),
        Kind::Date => Value::Date(20_089),
        Kind::Timestamp => Value::Timestamp(1_735_689_600_000_000),
        Kind::Unknown => return None,
    })
}

/// Whether a state is not the golden one: the reference for states. It compares what was changed with
/// what the expectation says, rows as bags of texts, ignored columns left out.
pub(crate) fn wrong(site: &Site, exhibit: &Exhibit, prepared: &Prepared) -> bool {
    if !matches!(exhibit.submission, Submission::Done) {
        return true;
    }
    let first = prepared.snapshots()[site.instance].fork();
    let Ok(changes) = exhibit.last.changes_since(&first) else { return false };
    let tables = site.expectation.get("tables").and_then(Json::as_array).cloned().unwrap_or_default();
    let ignored: BTreeMap<String, Vec<String>> = tables
        .iter()
        .filter_map(|table| {
            let ignore = serde_json::from_value(table.get("ignore")?.clone()).ok()?;
            Some((table.get("name")?.as_str()?.to_owned(), ignore))
        })
        .collect();
    let expected: Option<Vec<TableChanges>> = tables.iter().map(read_changes).collect();
    let Some(expected) = expected else { return false };
    net(&expected, &ignored) != net(&changes, &ignored)
}

fn read_changes(table: &Json) -> Option<TableChanges> {
    let part = |name: &str| serde_json::from_value(table.get(name)?.clone()).ok();
    Some(TableChanges {
        name: table.get("name")?.as_str()?.to_owned(),
        removed: part("removed")?,
        added: part("added")?,
    })
}

/// For every table and row how many more of it there are than before.
fn net(changes: &[TableChanges], ignored: &BTreeMap<String, Vec<String>>) -> BTreeMap<(String, Vec<String>), i64> {
    let mut net = BTreeMap::new();
    for change in changes {
        for (table, sign) in [(&change.added, 1), (&change.removed, -1)] {
            let sheet = Sheet::of(table);
            for row in &sheet.rows {
                let kept = sheet
                    .columns
                    .iter()
                    .zip(row)
                    .filter(|((name, _), _)| ignored.get(&change.name).is_none_or(|ignore| !ignore.contains(name)));
                let cells = kept.map(|((name, _), value)| format!("{name}={}", exact(value))).collect();
                *net.entry((change.name.clone(), cells)).or_insert(0) += sign;
            }
        }
    }
    net.retain(|_, count| *count != 0);
    net
}

/// A value as text that no other value has: NULL is not the text `NULL`, and 1.50 is 1.5.
fn exact(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::Decimal(d) => format!("n{}", d.normalize()),
        Value::Integer(i) => format!("n{i}"),
        other => format!("v{other}"),
    }
}
