//! Cases that need a gold answer with something in it that the task's own may lack: a repeated row, a
//! NULL, a tie at the cut, an order, no rows at all. Gold is changed first, then the answer.

use tribunal_protocol::value::{Kind, Value};

use super::answer::{changed, strange};
use super::{Maker, Site, right};
use crate::kind::CaseKind;
use crate::rules::{Gold, Type};
use crate::sheet::Sheet;

/// Makes all cases with a gold answer of their own.
pub(crate) fn make(maker: &mut Maker<'_>) {
    for generate in [duplicates, nulls, zeros, ties, order, nothing, twins, across_ten] {
        let site = maker.site();
        let Some(gold) = &site.gold else { return };
        if !gold.sheet.rows.is_empty() {
            generate(maker, site, gold);
        }
    }
}

/// A row that counts twice.
fn duplicates(maker: &mut Maker<'_>, site: &Site, gold: &Gold) {
    if gold.rules.top.is_some() || !gold.rules.order.is_empty() {
        return;
    }
    let mut sheet = gold.sheet.clone();
    let first = sheet.rows[0].clone();
    sheet.rows.push(first.clone());
    let doubled = gold.with(sheet.clone());
    maker.answer(
        CaseKind::DuplicateLost,
        site,
        &doubled,
        &gold.sheet,
        "gold with its first row twice; once in the answer",
    );
    sheet.rows.push(first);
    maker.answer(
        CaseKind::DuplicateRow,
        site,
        &doubled,
        &sheet,
        "gold with its first row twice; three times in the answer",
    );
    sheet.rows.pop();
    let last = sheet.rows.len() - 1;
    if last > 1 {
        sheet.rows[last] = sheet.rows[1].clone();
        maker.answer(
            CaseKind::DuplicateRow,
            site,
            &doubled,
            &sheet,
            "gold with its first row twice; the second twice instead",
        );
    }
}

/// A NULL in gold, and 0 or the empty text for it; and the reverse.
fn nulls(maker: &mut Maker<'_>, site: &Site, gold: &Gold) {
    for (place, rule) in gold.rules.columns.iter().enumerate() {
        if gold.rules.is_key(place) || gold.rules.top.is_some() {
            continue;
        }
        let zero = match gold.sheet.columns[place].1 {
            Kind::Integer => Value::Integer(0),
            Kind::Decimal => Value::Decimal(0.into()),
            Kind::Float => Value::Float(0.0),
            Kind::Text => Value::Text(String::new()),
            _ => continue,
        };
        let set = |value: &Value| {
            let mut sheet = gold.sheet.clone();
            sheet.rows[0][place] = value.clone();
            sheet
        };
        let (null, zeroed) = (set(&Value::Null), set(&zero));
        if rule.nullable {
            let how = format!(
                "gold with NULL in {}; {} in the answer",
                rule.name,
                if zero.kind() == Kind::Text { "''" } else { "0" }
            );
            maker.answer(CaseKind::NullAsZero, site, &gold.with(null.clone()), &zeroed, &how);
        }
        let how = format!("gold with 0 in {}; NULL in the answer", rule.name);
        maker.answer(CaseKind::NullAsZero, site, &gold.with(zeroed), &null, &how);
    }
}

/// Nothing but 0 in gold, and words in the answer: whoever takes what it cannot read for 0 is content.
fn zeros(maker: &mut Maker<'_>, site: &Site, gold: &Gold) {
    let numbers = (0..gold.rules.columns.len()).filter(|place| gold.rules.columns[*place].kind.is_number());
    for place in numbers.filter(|place| !gold.rules.is_key(*place)) {
        let with = |value: Value| {
            let mut sheet = gold.sheet.clone();
            sheet.rows.iter_mut().for_each(|row| row[place] = value.clone());
            sheet
        };
        let mut found = right(&gold.with(with(Value::Text("none".to_owned()))));
        found.columns[place].1 = Kind::Text;
        let how = format!("gold with nothing but 0 in {}; words in the answer", gold.rules.columns[place].name);
        maker.answer(CaseKind::NumberAsText, site, &gold.with(with(Value::Integer(0))), &found, &how);
    }
}

/// A tie at the cut of a top-k.
fn ties(maker: &mut Maker<'_>, site: &Site, gold: &Gold) {
    let Some(top) = &gold.rules.top else { return };
    let k = top.k;
    if gold.sheet.rows.len() < k || k < 2 {
        return;
    }
    let Some(free) = (0..gold.rules.columns.len()).find(|place| !gold.rules.is_key(*place)) else { return };
    let mut sheet = gold.sheet.clone();
    sheet.rows.truncate(k);
    let mut tied = sheet.rows[k - 1].clone();
    tied[free] = strange(&tied[free]);
    sheet.rows.push(tied.clone());
    let with_tie = gold.with(sheet.clone());
    let mut other = right(&with_tie);
    other.rows[k - 1] = tied;
    maker.answer(CaseKind::TiesOtherwise, site, &with_tie, &other, "gold with a tie at the cut; the other of the two");
    let mut stranger = other.clone();
    stranger.rows[k - 1][free] = strange(&stranger.rows[k - 1][free]);
    maker.answer(
        CaseKind::CellChanged,
        site,
        &with_tie,
        &stranger,
        "gold with a tie at the cut; one that is neither of the two",
    );
    let without_best = Sheet { rows: sheet.rows[1..].to_vec(), ..sheet.clone() };
    maker.answer(
        CaseKind::TieTruncated,
        site,
        &with_tie,
        &without_best,
        "both that tie at the cut, and the best left out",
    );
    maker.answer(CaseKind::ExtraRow, site, &with_tie, &sheet, "all that tie at the cut: a row too many");
}

/// An order that the rows must stand in.
fn order(maker: &mut Maker<'_>, site: &Site, gold: &Gold) {
    let rules = &gold.rules;
    if rules.top.is_some() || !rules.order.is_empty() || rules.is_set() || gold.sheet.rows.len() < 3 {
        return;
    }
    let whole = |place: &usize| {
        rules.columns[*place].kind.is_number() && gold.sheet.rows.iter().all(|row| !row[*place].is_null())
    };
    let Some(by) = (0..rules.columns.len()).rev().find(whole) else { return };
    let mut sheet = gold.sheet.clone();
    sheet.rows.sort_by(|a, b| a[by].total_cmp(&b[by]));
    let ordered = gold.ordered(sheet.clone(), &[by]);
    maker.answer(CaseKind::Gold, site, &ordered, &sheet, &format!("gold in order of {}", rules.columns[by].name));
    let mut reversed = sheet.clone();
    reversed.rows.reverse();
    maker.answer(
        CaseKind::Reordered,
        site,
        &ordered,
        &reversed,
        &format!("gold in order of {}; reversed", rules.columns[by].name),
    );
    let mut swapped = sheet.clone();
    let last = swapped.rows.len() - 1;
    swapped.rows.swap(0, last);
    maker.answer(CaseKind::Reordered, site, &ordered, &swapped, "first and last row in each other's place");
    let mut late = sheet.clone();
    late.rows.swap(last - 1, last);
    maker.answer(CaseKind::Reordered, site, &ordered, &late, "the last two rows in each other's place");
    // Two rows that tie in the key, in either order.
    sheet.rows[1][by] = sheet.rows[0][by].clone();
    let tied = gold.ordered(sheet.clone(), &[by]);
    sheet.rows.swap(0, 1);
    maker.answer(CaseKind::TiesOtherwise, site, &tied, &sheet, "gold in an order that two rows tie in; the other way");
}

/// No rows as the right answer.
fn nothing(maker: &mut Maker<'_>, site: &Site, gold: &Gold) {
    if gold.rules.top.is_some() {
        return;
    }
    let emptied = gold.emptied();
    maker.answer(CaseKind::Gold, site, &emptied, &emptied.sheet, "gold without rows, where that may be right");
    let mut unrelated = emptied.sheet.clone();
    unrelated.columns.push(("unrelated".to_owned(), Kind::Text));
    maker.answer(CaseKind::EmptyUnrelated, site, &emptied, &unrelated, "gold without rows; no rows of another query");
    maker.answer(CaseKind::ExtraRow, site, &emptied, &right(gold), "gold without rows; rows in the answer");
}

/// Two columns that are equal in gold on this data: one of them may not stand for both, and a column
/// that differs elsewhere may not take the place of either.
fn twins(maker: &mut Maker<'_>, site: &Site, gold: &Gold) {
    let rules = &gold.rules;
    let count = rules.columns.len();
    let alike = |a: usize, b: usize| rules.columns[a].kind == rules.columns[b].kind;
    let pair = (0..count).flat_map(|a| (a + 1..count).map(move |b| (a, b))).find(|(a, b)| alike(*a, *b));
    let Some((a, b)) = pair.filter(|(a, b)| !rules.is_key(*a) && !rules.is_key(*b)) else { return };
    let mut sheet = gold.sheet.clone();
    sheet.rows.iter_mut().for_each(|row| row[b] = row[a].clone());
    let equal = gold.with(sheet.clone());
    let how = format!("gold with {} equal to {}", sheet.columns[b].0, sheet.columns[a].0);
    maker.answer(CaseKind::ColumnTwice, site, &equal, &sheet.without_column(b), &format!("{how}; one column for both"));
    if let Some(spoilt) = changed(&sheet, b, |value| Some(strange(value))) {
        maker.answer(CaseKind::CellChanged, site, &equal, &spoilt, &format!("{how}; the second spoilt"));
    }
}

/// A float on one side of ten in gold and on the other side in the answer, nearer than the tolerance:
/// as texts the two sort differently.
fn across_ten(maker: &mut Maker<'_>, site: &Site, gold: &Gold) {
    let rules = &gold.rules;
    if rules.top.is_some() || !rules.order.is_empty() || gold.sheet.rows.len() < 2 {
        return;
    }
    for (place, rule) in rules.columns.iter().enumerate() {
        let Type::Float { abs, rel, .. } = rule.kind else { continue };
        let step = 0.25 * abs.max(rel * 10.0);
        if step == 0.0 {
            continue;
        }
        let with = |first: f64| {
            let mut sheet = gold.sheet.clone();
            sheet.rows.iter_mut().for_each(|row| row[place] = Value::Float(50.0));
            sheet.rows[0][place] = Value::Float(first);
            sheet
        };
        let how = format!("{} just below ten in gold, just above it in the answer", rule.name);
        maker.answer(CaseKind::WithinTolerance, site, &gold.with(with(10.0 - step)), &with(10.0 + step), &how);
    }
}
