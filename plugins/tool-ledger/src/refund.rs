//! Refunds: never more than was charged, never of what cannot be refunded.

use serde::Deserialize;
use tribunal_compare::decimal::Decimal;
use tribunal_kit::{Database, Failure, Kind, Output, Value, quoted};

use crate::rows::{Scalar, Tables, amount, change_one, one_row, shown, value};
use crate::settings::{Refund, Refunds, Source};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    source_id: Scalar,
    amount: Scalar,
    reason: String,
}

/// Records one refund.
pub(crate) fn issue(session: &impl Database, rule: &Refund, wanted: &Wanted) -> Result<Output, Failure> {
    let tables = Tables::of(session);
    let Refund { source, refunds, clock } = rule;
    let money = read_amount(&wanted.amount)?;
    let reason = wanted.reason.trim();
    if reason.is_empty() {
        return Err(Failure::invalid("argument reason: it must say something"));
    }
    let id_kind = tables.kind(&source.table, &source.id, Kind::Integer);
    let id = value(id_kind, &wanted.source_id.text())
        .map_err(|failure| Failure::invalid(format!("argument source_id: {}", failure.message)))?;
    let charge = Charge::find(session, source, &id)?;
    charge.check(session, rule, &id, &money)?;

    let number = next_id(session, refunds)?;
    let kind = |column: &str, usual| tables.kind(&refunds.table, column, usual);
    let amount_kind = kind(&refunds.amount, Kind::Decimal);
    let paid = value(amount_kind, &money.to_string())
        .map_err(|failure| Failure::invalid(format!("argument amount: {}", failure.message)))?;
    let mut row = vec![
        (refunds.id.as_str(), Value::Integer(number)),
        (&refunds.source, id.clone()),
        (&refunds.amount, paid),
        (&refunds.reason, Value::Text(reason.to_owned())),
    ];
    if let Some(column) = &refunds.issued_on {
        row.push((column, value(kind(column, Kind::Date), clock)?));
    }
    if let (Some(column), Some(account)) = (&refunds.account, charge.account) {
        row.push((column, account));
    }
    for (column, constant) in &refunds.constants {
        row.push((column, value(kind(column, Kind::Text), constant)?));
    }
    insert(session, &refunds.table, row)?;
    Ok(Output::text(format!("refund {number}: {money} of {} {}", source.table, shown(&id))))
}

fn read_amount(amount: &Scalar) -> Result<Decimal, Failure> {
    let text = amount.text();
    let money = Decimal::read(&text)
        .ok_or_else(|| Failure::invalid(format!("argument amount: a number expected, {text} given")))?;
    if money.is_positive() { Ok(money) } else { Err(Failure::invalid("argument amount: it must be above 0")) }
}

/// What was charged.
struct Charge {
    amount: Value,
    status: Option<Value>,
    account: Option<Value>,
}

impl Charge {
    fn find(session: &impl Database, source: &Source, id: &Value) -> Result<Charge, Failure> {
        let mut columns = vec![source.amount.as_str()];
        columns.extend(source.status.as_deref());
        columns.extend(source.account.as_deref());
        let mut row = one_row(session, &source.table, &source.id, id, &columns)?.into_iter();
        let amount = row.next().unwrap_or(Value::Null);
        let status = source.status.as_ref().and_then(|_| row.next());
        Ok(Charge { amount, status, account: row.next() })
    }

    /// Whether an amount may be given back.
    fn check(&self, session: &impl Database, rule: &Refund, id: &Value, money: &Decimal) -> Result<(), Failure> {
        let name = format!("{} {}", rule.source.table, shown(id));
        if let Some(status) = &self.status {
            let allowed = &rule.source.refundable;
            if !matches!(status, Value::Text(status) if allowed.contains(status)) {
                return Err(Failure::invalid(format!(
                    "{name} is {}; it can be refunded when {}",
                    shown(status),
                    allowed.join(" or ")
                )));
            }
        }
        let charged =
            amount(&self.amount).ok_or_else(|| Failure::invalid(format!("{name} has no amount to give back")))?;
        let refunded = refunded(session, &rule.refunds, id)?;
        let left = charged.minus(&refunded);
        if money.compare(&left).is_gt() {
            return Err(Failure::invalid(format!(
                "argument amount: {money} is above the {left} that can be given back \
                 ({charged} charged, {refunded} refunded)"
            )));
        }
        Ok(())
    }
}

/// What was given back so far: added up here, exactly, whatever the engine does with sums.
fn refunded(session: &impl Database, refunds: &Refunds, id: &Value) -> Result<Decimal, Failure> {
    let marks: Vec<String> = refunds.void.keys().map(|column| format!(", {}", quoted(column))).collect();
    let sql = format!(
        "SELECT {}{} FROM {} WHERE {} = $1",
        quoted(&refunds.amount),
        marks.concat(),
        quoted(&refunds.table),
        quoted(&refunds.source)
    );
    let found = session.query(&sql, std::slice::from_ref(id))?;
    let counts =
        |row: &usize| refunds.void.values().zip(1..).all(|(mark, place)| shown(&found.value(*row, place)) != *mark);
    let zero = Decimal::read("0").ok_or_else(|| Failure::failed("no zero"))?;
    let amounts = (0..found.len()).filter(counts).filter_map(|row| amount(&found.value(row, 0)));
    Ok(amounts.fold(zero, |sum, amount| sum.plus(&amount)))
}

fn next_id(session: &impl Database, refunds: &Refunds) -> Result<i64, Failure> {
    let sql = format!("SELECT MAX({}) AS last FROM {}", quoted(&refunds.id), quoted(&refunds.table));
    let last = match session.query(&sql, &[])?.value(0, 0) {
        Value::Null => Some(0),
        Value::Integer(last) => Some(last),
        _ => None,
    };
    let next = last.and_then(|last| last.checked_add(1));
    next.ok_or_else(|| Failure::unsupported("refunds are not numbered here"))
}

fn insert(session: &impl Database, table: &str, row: Vec<(&str, Value)>) -> Result<(), Failure> {
    let (columns, values): (Vec<String>, Vec<Value>) =
        row.into_iter().map(|(column, value)| (quoted(column), value)).unzip();
    let places: Vec<String> = (1..=values.len()).map(|place| format!("${place}")).collect();
    let sql = format!("INSERT INTO {} ({}) VALUES ({})", quoted(table), columns.join(", "), places.join(", "));
    change_one(session, &sql, &values)
}
