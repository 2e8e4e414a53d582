//! Answers that keep the result, and answers that spoil it in one way.

use rust_decimal::Decimal;
use tribunal_protocol::evidence::Submission;
use tribunal_protocol::value::{Kind, MICROS_PER_DAY, Value};

use super::{Maker, Site, right};
use crate::kind::CaseKind;
use crate::rules::{Gold, Type};
use crate::sheet::Sheet;

/// Makes all cases that change the right answer itself.
pub(crate) fn make(maker: &mut Maker<'_>) {
    let ground = maker.ground;
    if ground.sites.iter().any(|site| site.gold.is_none()) {
        return;
    }
    for generate in [kept, columns, rows, cells, values, whole] {
        let site = maker.site();
        if let Some(gold) = &site.gold {
            generate(maker, site, gold);
        }
    }
    visible_only(maker);
    other_task(maker);
}

/// The result stays what it is.
fn kept(maker: &mut Maker<'_>, site: &Site, gold: &Gold) {
    let sheet = right(gold);
    let mut shuffled = sheet.clone();
    maker.dice.shuffle(&mut shuffled.rows);
    if shuffled != sheet && gold.rules.order.is_empty() {
        maker.answer(CaseKind::RowsShuffled, site, gold, &shuffled, "rows shuffled");
    }
    if sheet.columns.len() > 1 && gold.rules.matching == crate::rules::Matching::Name {
        let reversed: Vec<usize> = (0..sheet.columns.len()).rev().collect();
        maker.answer(CaseKind::ColumnsPermuted, site, gold, &sheet.with_columns(&reversed), "columns reversed");
    }
    let mut renamed = sheet.clone();
    for (place, (name, _)) in renamed.columns.iter_mut().enumerate() {
        *name = match gold.rules.matching {
            crate::rules::Matching::Name => name.to_uppercase(),
            _ => format!("c{place}"),
        };
    }
    maker.answer(CaseKind::ColumnsRenamed, site, gold, &renamed, "names in another form");
    for (place, rule) in gold.rules.columns.iter().enumerate() {
        if let Some(other) = changed(&sheet, place, |value| otherwise(rule.kind, value)) {
            let how = format!("{} in another lawful kind", rule.name);
            maker.answer(CaseKind::NumbersOtherwise, site, gold, &other, &how);
        }
        if let Type::Float { abs, rel, .. } = rule.kind
            && let Some(near) = changed(&sheet, place, |value| off_by(value, 0.5, abs, rel))
        {
            maker.answer(
                CaseKind::WithinTolerance,
                site,
                gold,
                &near,
                &format!("{} off by half a tolerance", rule.name),
            );
        }
        if let Some(at) = changed(&sheet, place, |value| at_bound(rule.kind, value)) {
            maker.answer(
                CaseKind::WithinTolerance,
                site,
                gold,
                &at,
                &format!("{} off by the tolerance itself", rule.name),
            );
        }
    }
}

/// Columns too many, too few, or in each other's place.
fn columns(maker: &mut Maker<'_>, site: &Site, gold: &Gold) {
    let sheet = right(gold);
    let count = sheet.columns.len();
    let mut wider = sheet.clone();
    wider.columns.push(("extra".to_owned(), Kind::Integer));
    wider.rows.iter_mut().enumerate().for_each(|(row, cells)| {
        cells.push(Value::Integer(i64::try_from(row).unwrap_or(0)));
    });
    maker.answer(CaseKind::ExtraColumn, site, gold, &wider, "a column `extra` beside the right ones");
    let places: Vec<usize> = (0..count).chain([0]).collect();
    let mut doubled = sheet.with_columns(&places);
    doubled.columns[count].0.push_str("_2");
    maker.answer(CaseKind::ExtraColumn, site, gold, &doubled, "the first column once more");
    if count > 1 {
        maker.answer(CaseKind::ColumnMissing, site, gold, &sheet.without_column(count - 1), "the last column left out");
    }
    for a in 0..count {
        for b in a + 1..count {
            let alike = gold.rules.columns[a].kind.is_number() == gold.rules.columns[b].kind.is_number();
            let mut swapped = sheet.clone();
            swapped.rows.iter_mut().for_each(|row| row.swap(a, b));
            let names = (&sheet.columns[a].0, &sheet.columns[b].0);
            maker.answer(
                CaseKind::SwappedColumns,
                site,
                gold,
                &swapped,
                &format!("cells of {} and {} swapped", names.0, names.1),
            );
            if alike {
                let mut twice = sheet.clone();
                twice.rows.iter_mut().for_each(|row| row[b] = row[a].clone());
                maker.answer(
                    CaseKind::ColumnTwice,
                    site,
                    gold,
                    &twice,
                    &format!("{} in the place of {}", names.0, names.1),
                );
            }
        }
    }
}

/// Rows too many, too few, or mixed up.
fn rows(maker: &mut Maker<'_>, site: &Site, gold: &Gold) {
    let sheet = right(gold);
    let count = sheet.rows.len();
    let none = Sheet { rows: Vec::new(), ..sheet.clone() };
    maker.answer(CaseKind::Empty, site, gold, &none, "no rows");
    if count == 0 {
        return;
    }
    let place = maker.dice.below(count);
    let mut fewer = sheet.clone();
    fewer.rows.remove(place);
    if count > 1 {
        maker.answer(CaseKind::RowMissing, site, gold, &fewer, &format!("row {place} left out"));
    }
    let mut twice = sheet.clone();
    twice.rows.insert(place, sheet.rows[place].clone());
    maker.answer(CaseKind::DuplicateRow, site, gold, &twice, &format!("row {place} twice"));
    let mut more = sheet.clone();
    let strange: Vec<Value> = sheet.rows[place].iter().map(strange).collect();
    more.rows.push(strange);
    maker.answer(CaseKind::ExtraRow, site, gold, &more, "a row that is not there");
    let last = sheet.columns.len() - 1;
    let mut scrambled = sheet.clone();
    for row in 0..count {
        scrambled.rows[row][last] = sheet.rows[(row + 1) % count][last].clone();
    }
    if last > 0 {
        maker.answer(CaseKind::ScrambledRows, site, gold, &scrambled, "the last column moved down by a row");
    }
    if !gold.rules.order.is_empty() {
        let mut reversed = sheet;
        reversed.rows.reverse();
        maker.answer(CaseKind::Reordered, site, gold, &reversed, "rows in reverse");
    }
}

/// One cell or column spoilt.
fn cells(maker: &mut Maker<'_>, site: &Site, gold: &Gold) {
    let sheet = right(gold);
    if sheet.rows.is_empty() {
        return;
    }
    let row = maker.dice.below(sheet.rows.len());
    for (place, rule) in gold.rules.columns.iter().enumerate() {
        let name = &rule.name;
        let one = |value: Value| {
            let mut other = sheet.clone();
            other.rows[row][place] = value;
            other
        };
        let cell = &sheet.rows[row][place];
        maker.answer(CaseKind::CellChanged, site, gold, &one(strange(cell)), &format!("row {row} of {name} changed"));
        for (value, how) in next_to(rule.kind, cell) {
            maker.answer(CaseKind::CellChanged, site, gold, &one(value), &format!("row {row} of {name}: {how}"));
        }
        if let Some(value) = just_outside(rule.kind, cell) {
            maker.answer(
                CaseKind::OutsideTolerance,
                site,
                gold,
                &one(value),
                &format!("row {row} of {name} just outside"),
            );
        }
        if let Some(value) = off_by(cell, 1.0, 0.004, 0.0).filter(|_| rule.kind.is_number()) {
            maker.answer(CaseKind::Rounded, site, gold, &one(value), &format!("row {row} of {name} off by 0.004"));
        }
        if !rule.kind.is_number() {
            continue;
        }
        if let Some(other) = changed(&sheet, place, |value| scaled(value, 100)) {
            maker.answer(CaseKind::UnitError, site, gold, &other, &format!("{name} times 100"));
        }
        let text = |value: &Value| (!value.is_null()).then(|| Value::Text(value.to_string()));
        if let Some(other) = changed(&sheet, place, text) {
            maker.answer(CaseKind::NumberAsText, site, gold, &other, &format!("{name} as text"));
        }
    }
}

/// Values that stand for something else.
fn values(maker: &mut Maker<'_>, site: &Site, gold: &Gold) {
    let sheet = right(gold);
    let one_row = |row: Vec<Value>| Sheet { rows: vec![row], ..sheet.clone() };
    let nulls: Vec<Value> = sheet.columns.iter().map(|_| Value::Null).collect();
    let all = Sheet { rows: sheet.rows.iter().map(|_| nulls.clone()).collect(), ..sheet.clone() };
    maker.answer(CaseKind::Null, site, gold, &all, "NULL in every cell");
    maker.answer(CaseKind::Null, site, gold, &one_row(nulls), "one row of NULL");
    let constant: Vec<Value> = gold.rules.columns.iter().map(|rule| plausible(rule.kind)).collect();
    maker.answer(CaseKind::Constant, site, gold, &one_row(constant), "one row of plausible constants");
    for (place, rule) in gold.rules.columns.iter().enumerate().filter(|(_, rule)| rule.kind.is_number()) {
        let zero = |value: &Value| match value {
            Value::Null => Some(Value::Integer(0)),
            _ if value.to_string().parse() == Ok(0.0) => Some(Value::Null),
            _ => None,
        };
        if let Some(other) = changed(&sheet, place, zero) {
            maker.answer(CaseKind::NullAsZero, site, gold, &other, &format!("{}: 0 for NULL, NULL for 0", rule.name));
        }
    }
}

/// Something else than a table of that shape.
fn whole(maker: &mut Maker<'_>, site: &Site, gold: &Gold) {
    let sheet = right(gold);
    let nothing = Sheet { columns: Vec::new(), rows: Vec::new() };
    maker.answer(CaseKind::NoOp, site, gold, &nothing, "a table of nothing");
    let words = |text: &str| Submission::Abstention { reason: text.to_owned(), missing: text.to_owned() };
    for (submission, how) in [(Submission::Done, "done"), (words("the data"), "an abstention")] {
        let exhibit = tribunal_episode::Exhibit { submission, ..site.exhibit.clone() };
        maker.exhibit(CaseKind::WrongSubmission, site, exhibit, how);
    }
    let listed = |place: usize| {
        let cells: Vec<String> = sheet.rows.iter().map(|row| row[place].to_string()).collect();
        Value::Text(cells.join(", "))
    };
    let one_row = Sheet { rows: vec![(0..sheet.columns.len()).map(listed).collect()], ..sheet.clone() };
    if sheet.rows.len() > 1 {
        maker.answer(CaseKind::EveryAnswer, site, gold, &one_row, "all values of each column in one cell");
    }
    let all: Vec<String> = sheet.rows.iter().flatten().map(ToString::to_string).collect();
    let text =
        |text: String| Sheet { columns: vec![("answer".to_owned(), Kind::Text)], rows: vec![vec![Value::Text(text)]] };
    let numbers = (0..=100).map(|n| n.to_string()).collect::<Vec<_>>().join(" ");
    let every = format!("{} {numbers}", all.join(" "));
    maker.answer(CaseKind::EveryAnswer, site, gold, &text(every), "one text that holds every value, and others");
    if let Some(last) = all.iter().rev().find(|cell| cell.parse::<f64>().is_ok()) {
        let said = format!("Having looked at 3 tables, I am sure: the answer is {last}");
        maker.answer(CaseKind::LastNumber, site, gold, &text(said), "words that end in gold's last number");
    }
    if maker.ground.largest {
        maker.answer(CaseKind::Largest, site, gold, &largest(&sheet), "the right rows over and over");
    }
}

/// The right answer of the visible data on hidden data.
fn visible_only(maker: &mut Maker<'_>) {
    let ground = maker.ground;
    let Some(visible) = ground.sites.first().and_then(|site| site.gold.as_ref()) else { return };
    if let Some(hidden) = ground.sites.get(1)
        && let Some(gold) = &hidden.gold
    {
        maker.answer(CaseKind::VisibleOnly, hidden, gold, &right(visible), "the visible data's answer");
    }
}

/// The right answer of another task, of the same shape where there is one.
fn other_task(maker: &mut Maker<'_>) {
    let ground = maker.ground;
    let site = maker.site();
    let Some(gold) = &site.gold else { return };
    let akin = |other: &&super::OtherAnswer| other.sheet.columns == gold.sheet.columns;
    let others: Vec<_> = ground.others.iter().filter(|other| other.task != ground.task.id).collect();
    let alike: Vec<_> = others.iter().copied().filter(akin).collect();
    let from = if alike.is_empty() { others } else { alike };
    if let Some(other) = from.get(maker.dice.below(from.len())) {
        maker.answer(CaseKind::OtherTask, site, gold, &other.sheet, &format!("the answer of {}", other.task));
    }
}

/// A column with some of its cells replaced; none where none is.
pub(crate) fn changed(sheet: &Sheet, place: usize, change: impl Fn(&Value) -> Option<Value>) -> Option<Sheet> {
    let mut other = sheet.clone();
    let mut any = false;
    for row in &mut other.rows {
        if let Some(value) = change(&row[place]) {
            row[place] = value;
            any = true;
        }
    }
    any.then_some(other)
}

/// An equal value of another lawful kind.
fn otherwise(kind: Type, value: &Value) -> Option<Value> {
    match (kind, value) {
        (_, Value::Integer(i)) => Some(Value::Decimal(Decimal::from(*i))),
        (Type::Integer, Value::Decimal(d)) => i64::try_from(*d).ok().map(Value::Integer),
        (Type::Decimal { .. }, Value::Decimal(d)) => d.to_string().parse().ok().map(Value::Float),
        (Type::Float { .. }, Value::Decimal(d)) => d.to_string().parse().ok().map(Value::Float),
        (Type::Float { .. }, Value::Float(x)) => {
            tribunal_protocol::value::decimal_of(&x.to_string()).map(Value::Decimal)
        }
        (_, Value::Date(days)) => Some(Value::Timestamp(i64::from(*days) * MICROS_PER_DAY)),
        _ => None,
    }
}

/// A number moved by `times` its tolerance.
fn off_by(value: &Value, times: f64, abs: f64, rel: f64) -> Option<Value> {
    let x: f64 = match value {
        Value::Float(x) => *x,
        Value::Decimal(_) | Value::Integer(_) => value.to_string().parse().ok()?,
        _ => return None,
    };
    let moved = x + times * abs.max(rel * x.abs());
    (moved != x).then_some(Value::Float(moved))
}

/// A value just outside what a column's type takes for equal.
fn just_outside(kind: Type, value: &Value) -> Option<Value> {
    match (kind, value) {
        (Type::Float { abs, rel, .. }, _) => off_by(value, 1.5, abs.max(1e-12), rel),
        (Type::Decimal { scale }, Value::Decimal(d)) => d.checked_add(Decimal::new(1, scale)).map(Value::Decimal),
        (Type::Integer, Value::Integer(i)) => i.checked_add(1).map(Value::Integer),
        (Type::Date, Value::Date(days)) => days.checked_add(1).map(Value::Date),
        (Type::Timestamp, Value::Timestamp(micros)) => micros.checked_add(1).map(Value::Timestamp),
        _ => None,
    }
}

/// Values that look like this one and are not.
fn next_to(kind: Type, value: &Value) -> Vec<(Value, &'static str)> {
    match (kind, value) {
        (Type::Text { trim, ignore_case }, Value::Text(text)) => {
            let mut others = Vec::new();
            let turned = if text.to_uppercase() == *text { text.to_lowercase() } else { text.to_uppercase() };
            if !ignore_case && turned != *text {
                others.push((Value::Text(turned), "the same letters in another case"));
            }
            if !trim {
                others.push((Value::Text(format!("{text} ")), "with a blank at its end"));
            }
            others
        }
        (Type::Date, Value::Date(days)) => {
            let noon = i64::from(*days) * MICROS_PER_DAY + MICROS_PER_DAY / 2;
            vec![(Value::Timestamp(noon), "noon of that day")]
        }
        (Type::Integer, Value::Integer(i)) => {
            let half = Decimal::from(*i).checked_add(Decimal::new(5, 1)).unwrap_or_default();
            let float = half.to_string().parse().unwrap_or_default();
            vec![(Value::Decimal(half), "a half more"), (Value::Float(float), "a half more, as a float")]
        }
        (Type::Decimal { scale }, Value::Decimal(d)) => {
            let finer = d.checked_add(Decimal::new(1, scale + 2)).unwrap_or_default();
            let float = finer.to_string().parse().unwrap_or_default();
            vec![
                (Value::Decimal(finer), "a hundredth of its last digit more"),
                (Value::Float(float), "the same as a float"),
            ]
        }
        _ => Vec::new(),
    }
}

/// A number at the very bound of its tolerance, which is inside; exact, so as a decimal.
fn at_bound(kind: Type, value: &Value) -> Option<Value> {
    let Type::Float { abs, rel, .. } = kind else { return None };
    let exact = |x: f64| tribunal_protocol::value::decimal_of(&x.to_string());
    let number = match value {
        Value::Decimal(d) => *d,
        Value::Float(x) => exact(*x)?,
        _ => return None,
    };
    let bound = exact(abs)?;
    let moved = number.checked_add(bound)?;
    // Where the relative part is the larger one, its bound depends on the sum itself.
    let plain = exact(rel)?.checked_mul(moved.abs())? <= bound && !bound.is_zero() && number.scale() <= 20;
    plain.then_some(Value::Decimal(moved))
}

/// A number times a factor.
fn scaled(value: &Value, factor: i64) -> Option<Value> {
    match value {
        Value::Integer(i) => i.checked_mul(factor).map(Value::Integer),
        Value::Decimal(d) => d.checked_mul(Decimal::from(factor)).map(Value::Decimal),
        Value::Float(x) => Some(Value::Float(x * 100.0)),
        _ => None,
    }
}

/// Another value of the same kind, far from this one; NULL becomes 7.
pub(crate) fn strange(value: &Value) -> Value {
    match value {
        Value::Null => Value::Integer(7),
        Value::Boolean(b) => Value::Boolean(!b),
        Value::Integer(i) => Value::Integer(i.wrapping_add(1_000_003)),
        Value::Float(x) => Value::Float(x + 1_000_003.5),
        Value::Decimal(d) => Value::Decimal(d.checked_add(Decimal::from(1_000_003)).unwrap_or_default()),
        Value::Text(text) => Value::Text(format!("{text} and another")),
        Value::Date(days) => Value::Date(days.wrapping_add(400)),
        Value::Timestamp(micros) => Value::Timestamp(micros.wrapping_add(400 * MICROS_PER_DAY)),
    }
}

fn plausible(kind: Type) -> Value {
    match kind {
        Type::Boolean => Value::Boolean(true),
        Type::Integer => Value::Integer(1),
        Type::Decimal { .. } => Value::Decimal(Decimal::from(100)),
        Type::Float { .. } => Value::Float(0.5),
        Type::Text { .. } => Value::Text("active".to_owned()),
        Type::Date => Value::Date(20_089),
        Type::Timestamp => Value::Timestamp(1_735_689_600_000_000),
    }
}

/// The rows over and over, as many as are still judged.
fn largest(sheet: &Sheet) -> Sheet {
    let table = sheet.to_table();
    let cells = (table.rows as u64) * (table.columns.len() as u64);
    let once = table.bytes().saturating_add(cells * 8).max(1);
    let times = usize::try_from(tribunal_episode::LARGEST_ANSWER / once).unwrap_or(1).saturating_sub(1).max(2);
    let rows = std::iter::repeat_n(&sheet.rows, times).flatten().cloned().collect();
    Sheet { columns: sheet.columns.clone(), rows }
}
