//! Answers that keep the result, and answers that spoil it in one way.

use tribunal_protocol::evidence::Submission;
use tribunal_protocol::value::{Kind, Value};

use super::value::{at_bound, changed, just_outside, largest, next_to, off_by, otherwise, plausible, scaled, strange};
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
