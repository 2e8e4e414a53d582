//! One alternative of a gold query, run on both engines.

use tribunal_compare::Contract;
use tribunal_protocol::table::Table;
use tribunal_protocol::task::AnswerColumn;
use tribunal_protocol::{Code, Failure, Kind, Value};

use crate::columns::{Purpose, answer_columns, contract, row_keys};
use crate::dialect::{for_ours, ignoring_case};
use crate::engines::{Engines, compare};
use crate::order::{Arrangement, Key, Place};

/// An alternative that both engines agree on.
#[derive(Clone, Debug)]
pub(crate) struct Accepted {
    /// The query, in our dialect.
    pub sql: String,
    /// What an answer must hold: the result, or with a cut through a tie the whole tie, too.
    pub gold: Table,
    /// What the query gives on our engine.
    pub result: Table,
    /// The columns of the answer.
    pub columns: Vec<AnswerColumn>,
    /// How an answer is compared.
    pub contract: Contract,
    /// Whether the query has an order that cannot be seen in its result.
    pub hidden_order: bool,
    /// Whether LIKE had to become ILIKE to mean the same on our engine.
    pub ignores_case: bool,
}

/// What became of an alternative.
#[derive(Clone, Debug)]
pub(crate) enum Fate {
    /// Both engines agree.
    Accepted(Box<Accepted>),
    /// Our engine does not run it: why.
    Unsupported(String),
    /// The gold is at fault: why.
    Wrong(String),
    /// The engines give different results: the first difference.
    Disagree(String),
}

/// Runs an alternative on both engines. `ordered` says whether the question asks for an order.
pub(crate) fn run(engines: &Engines, gold: &str, ordered: bool) -> Fate {
    let ours = for_ours(gold);
    let fate = run_as(engines, gold, &ours, ordered);
    // In SQLite LIKE ignores case. Most gold lowers both sides and means the same in ours.
    match (fate, ignoring_case(&ours)) {
        (Fate::Disagree(difference), Some(ours)) => match run_as(engines, gold, &ours, ordered) {
            Fate::Accepted(accepted) => Fate::Accepted(Box::new(Accepted { ignores_case: true, ..*accepted })),
            _ => Fate::Disagree(difference),
        },
        (fate, _) => fate,
    }
}

/// Runs `gold` in SQLite and what it is in our dialect on our engine.
fn run_as(engines: &Engines, gold: &str, sql: &str, ordered: bool) -> Fate {
    let ours = engines.ours(sql);
    let kinds: Vec<Kind> = match &ours {
        Ok(table) => table.columns.iter().map(|column| column.kind()).collect(),
        Err(_) => Vec::new(),
    };
    let second = match engines.second(gold, &kinds) {
        Ok(second) => second,
        Err(why) => return Fate::Wrong(format!("fails in SQLite, too: {why}")),
    };
    let ours = match ours {
        Ok(table) => table,
        Err(failure) => return Fate::Unsupported(shown(&failure)),
    };
    let arrangement = match Arrangement::of(gold) {
        Ok(arrangement) => arrangement,
        Err(failure) => return Fate::Unsupported(shown(&failure)),
    };
    if ours.columns.len() != second.columns.len() {
        let (ours, second) = (ours.columns.len(), second.columns.len());
        return Fate::Disagree(format!("{ours} columns on our engine, {second} in SQLite"));
    }
    let cut = match cut(engines, &arrangement, &second, &kinds) {
        Ok(cut) => cut,
        Err(fate) => return *fate,
    };
    let (gold, k) = match cut {
        Some((whole, k)) => (whole, Some(k)),
        None => (second, None),
    };
    let judged = contract(&gold, &arrangement, k, Purpose::Engines);
    if let Err(difference) = compare(&judged, &gold, &ours) {
        return Fate::Disagree(difference);
    }
    if says_nothing(&ours) {
        let what = if ours.rows == 0 { "no row" } else { "nothing but NULL" };
        return Fate::Wrong(format!("its result is {what} on this data, so any query that finds nothing would pass"));
    }
    accepted(sql, ours, gold, &arrangement, k, ordered)
}

fn accepted(sql: &str, ours: Table, second: Table, arrangement: &Arrangement, k: Option<u32>, ordered: bool) -> Fate {
    // What an answer is compared with is what our engine gives; only the rest of a tie at the
    // cut must come from the other.
    let gold = if k.is_some() { second } else { ours.clone() };
    let contract = contract(&gold, arrangement, k, Purpose::Answer { ordered });
    if let Err(difference) = compare(&contract, &gold, &ours) {
        return Fate::Disagree(format!("as an answer: {difference}"));
    }
    let nothing = Table { rows: 0, columns: ours.columns.iter().map(empty).collect() };
    if compare(&contract, &gold, &nothing).is_ok() {
        return Fate::Wrong("an answer without rows would pass".to_owned());
    }
    let is_hidden = |key: &Key| matches!(key.place, Place::Hidden(_));
    Fate::Accepted(Box::new(Accepted {
        sql: sql.to_owned(),
        columns: answer_columns(&gold),
        hidden_order: arrangement.keys.first().is_some_and(is_hidden),
        gold,
        result: ours,
        ignores_case: false,
        contract,
    }))
}

fn empty(column: &tribunal_protocol::Column) -> tribunal_protocol::Column {
    let builder = tribunal_protocol::table::ColumnBuilder::new(&column.name, column.kind(), 0);
    builder.finish()
}

/// A failure in a line.
fn shown(failure: &Failure) -> String {
    match failure.code {
        Code::Unsupported => failure.message.clone(),
        _ => failure.to_string(),
    }
}

fn says_nothing(table: &Table) -> bool {
    let null = |row| table.columns.iter().all(|column| column.is_null(row));
    (0..table.rows).all(null)
}

/// Where a query cuts its rows: none where it does not, or between rows that differ in their
/// keys. Otherwise all rows above the cut with the whole tie at it, and how many are kept.
fn cut(
    engines: &Engines,
    arrangement: &Arrangement,
    result: &Table,
    kinds: &[Kind],
) -> Result<Option<(Table, u32)>, Box<Fate>> {
    let Some(limit) = arrangement.limit else {
        return match arrangement.offset {
            0 => Ok(None),
            offset => wrong(format!("OFFSET {offset} without LIMIT")),
        };
    };
    let chance = |what: &str| wrong(format!("LIMIT {limit} {what}, so chance decides which rows come"));
    let Some(sql) = &arrangement.whole else {
        return Err(Box::new(Fate::Unsupported(
            "LIMIT after DISTINCT or UNION by a key that is not in the result".to_owned(),
        )));
    };
    let whole = match engines.second(sql, kinds) {
        Ok(whole) => whole,
        Err(why) => return wrong(format!("without its LIMIT it fails in SQLite: {why}")),
    };
    let total = whole.rows as u64;
    let (first, end) = (arrangement.offset, arrangement.offset.saturating_add(limit));
    let tied = |at: u64| is_tied(&whole, result.columns.len(), &arrangement.keys, at);
    if arrangement.keys.is_empty() {
        return match end < total || first > 0 {
            true => chance("without ORDER BY"),
            false => Ok(None),
        };
    }
    if first > 0 && tied(first) {
        return chance("begins inside a tie");
    }
    if !tied(end) {
        return Ok(None);
    }
    if first > 0 || arrangement.keys.iter().any(|key| matches!(key.place, Place::Hidden(_))) {
        return chance("cuts through a tie");
    }
    let mut stop = end;
    while tied(stop) {
        stop += 1;
    }
    let rows: Vec<Vec<Value>> = (0..usize::try_from(stop).unwrap_or(0)).map(|row| whole.row(row)).collect();
    let columns: Vec<(String, Kind)> =
        result.columns.iter().zip(&whole.columns).map(|(named, column)| (named.name.clone(), column.kind())).collect();
    let table = Table::from_rows(&columns, &rows).map_err(|why| Box::new(Fate::Disagree(why)))?;
    match u32::try_from(limit) {
        Ok(k) if k > 0 => Ok(Some((table, k))),
        _ => wrong("LIMIT 0".to_owned()),
    }
}

fn wrong<T>(why: String) -> Result<T, Box<Fate>> {
    Err(Box::new(Fate::Wrong(why)))
}

/// Whether the rows before and after place `at` have the same keys.
fn is_tied(whole: &Table, width: usize, keys: &[Key], at: u64) -> bool {
    let Some(at) = usize::try_from(at).ok().filter(|at| *at > 0 && *at < whole.rows) else {
        return false;
    };
    let key = |row| row_keys(whole, width, keys, row);
    key(at - 1).is_some() && key(at - 1) == key(at)
}
