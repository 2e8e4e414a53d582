//! The smallest case that shows a wrong decision: rows, columns and cells are taken away while the
//! reference still says what must become of it, and the verifier still decides otherwise.

use serde_json::Value as Json;
use tribunal_episode::Exhibit;
use tribunal_protocol::evidence::Submission;
use tribunal_protocol::value::Value;

use crate::auditor::{Battery, Decided};
use crate::case::Case;
use crate::kind::Expected;
use crate::reference::{Relation, relation};
use crate::rules::Gold;
use crate::sheet::Sheet;

/// How often the verifier is asked for one case, at most.
const BUDGET: usize = 250;

/// Shrinks a case about a table; another comes back as it is.
pub(crate) fn shrink(battery: &Battery, case: &Case, decided: Decided) -> Case {
    let (Some(gold), Some(table)) = (&case.gold, case.answer()) else { return case.clone() };
    let found = Sheet::of(table);
    let mut work = Work { battery, case, decided, left: BUDGET, gold: gold.clone(), found };
    let mut size = usize::MAX;
    while work.size() < size && work.left > 0 {
        size = work.size();
        work.drop_rows();
        work.drop_columns();
        work.plain_cells();
    }
    work.result()
}

struct Work<'w> {
    battery: &'w Battery,
    case: &'w Case,
    decided: Decided,
    left: usize,
    gold: Gold,
    found: Sheet,
}

impl Work<'_> {
    fn size(&self) -> usize {
        let text = |sheet: &Sheet| sheet.rows.iter().flatten().map(|value| value.to_string().len()).sum::<usize>();
        (self.gold.sheet.cells() + self.found.cells()) * 1_000 + text(&self.gold.sheet) + text(&self.found)
    }

    fn result(&self) -> Case {
        built(self.case, &self.gold, &self.found)
    }

    /// Keeps a smaller case if it still shows the same.
    fn keep(&mut self, gold: Gold, found: Sheet) -> bool {
        let wanted = match self.case.kind.expected() {
            Expected::Accept => Relation::Same,
            Expected::Reject | Expected::Ungradable => Relation::Different,
        };
        if self.left == 0 || relation(&gold, &found) != wanted {
            return false;
        }
        self.left -= 1;
        let shown = self.battery.put(&built(self.case, &gold, &found)).is_some_and(|one| one.decided == self.decided);
        if shown {
            self.gold = gold;
            self.found = found;
        }
        shown
    }

    /// Drops rows: first those that both sides have, halves before single ones, then any.
    fn drop_rows(&mut self) {
        let mut step = self.gold.sheet.rows.len().max(self.found.rows.len()).next_power_of_two();
        while step >= 1 {
            let mut start = 0;
            while start < self.gold.sheet.rows.len() && self.left > 0 {
                let end = (start + step).min(self.gold.sheet.rows.len());
                let (gold, found) = self.without_shared(start, end);
                if !self.keep(gold, found) {
                    start += step;
                }
            }
            let mut start = 0;
            while start < self.found.rows.len() && self.left > 0 {
                let mut found = self.found.clone();
                found.rows.drain(start..(start + step).min(self.found.rows.len()));
                if !self.keep(self.gold.clone(), found) {
                    start += step;
                }
            }
            step /= 2;
        }
    }

    /// Without some of gold's rows, and without an equal row of the answer for each.
    fn without_shared(&self, start: usize, end: usize) -> (Gold, Sheet) {
        let mut sheet = self.gold.sheet.clone();
        let mut found = self.found.clone();
        for row in sheet.rows.drain(start..end) {
            if let Some(place) = found.rows.iter().position(|other| *other == row) {
                found.rows.remove(place);
            } else if found.rows.len() > start && found.rows.len() == self.found.rows.len() {
                found.rows.remove(start);
            }
        }
        (self.gold.with(sheet), found)
    }

    fn drop_columns(&mut self) {
        let mut place = 0;
        while place < self.gold.rules.columns.len() {
            let name = self.gold.rules.columns[place].name.clone();
            let smaller = self.gold.without_column(place);
            let other = self.found.place(&name).map(|at| self.found.without_column(at));
            let dropped = match (smaller, other) {
                (Some(gold), Some(found)) => self.keep(gold, found),
                _ => false,
            };
            place += usize::from(!dropped);
        }
        let mut place = 0;
        while place < self.found.columns.len() {
            let found = self.found.without_column(place);
            if !self.keep(self.gold.clone(), found) {
                place += 1;
            }
        }
    }

    /// Puts a plain value in the place of every distinct one, on both sides at once.
    fn plain_cells(&mut self) {
        let mut values: Vec<Value> = self.gold.sheet.rows.iter().chain(&self.found.rows).flatten().cloned().collect();
        values.sort_by(Value::total_cmp);
        values.dedup();
        let mut number = 0;
        for value in values {
            let plain = match &value {
                Value::Integer(_) => Value::Integer(number),
                Value::Decimal(_) => Value::Decimal(number.into()),
                Value::Text(_) => Value::Text(letter(number)),
                _ => continue,
            };
            number += 1;
            if plain.to_string().len() >= value.to_string().len() {
                continue;
            }
            let put = |sheet: &Sheet| {
                let mut sheet = sheet.clone();
                sheet.rows.iter_mut().flatten().filter(|cell| **cell == value).for_each(|cell| *cell = plain.clone());
                sheet
            };
            let (gold, found) = (self.gold.with(put(&self.gold.sheet)), put(&self.found));
            self.keep(gold, found);
        }
    }
}

fn letter(number: i64) -> String {
    let letters = "abcdefghijklmnopqrstuvwxyz";
    let place = usize::try_from(number).unwrap_or(0) % letters.len();
    letters.get(place..=place).unwrap_or("a").to_owned()
}

/// The case with another gold answer and another submission.
fn built(case: &Case, gold: &Gold, found: &Sheet) -> Case {
    let mut whole: Json = serde_json::from_str(&case.expectation).unwrap_or_default();
    match whole.get_mut("answer") {
        Some(answer) => *answer = gold.to_json(),
        None => whole = gold.to_json(),
    }
    Case {
        expectation: whole.to_string().into(),
        exhibit: Exhibit { submission: Submission::Answer(found.to_table()), ..case.exhibit.clone() },
        gold: Some(gold.clone()),
        ..case.clone()
    }
}
