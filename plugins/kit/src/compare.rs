//! Tables of the interface as tables of the comparator, and its verdicts as verdicts.

use tribunal_compare as compare;

use crate::{Cells, Difference, Scored, Table, Texts, Verdict};

impl From<Table> for compare::Table {
    /// Moves the cells; nothing is copied.
    fn from(table: Table) -> compare::Table {
        let columns = table.columns.into_iter().map(|column| compare::Column {
            name: column.name,
            nulls: column.nulls,
            cells: column.cells.into(),
        });
        compare::Table { rows: table.rows as usize, columns: columns.collect() }
    }
}

impl From<Cells> for compare::Cells {
    fn from(cells: Cells) -> compare::Cells {
        let texts = |texts: Texts| compare::Texts { data: texts.data, ends: texts.ends };
        match cells {
            Cells::Unknown => compare::Cells::Unknown,
            Cells::Booleans(cells) => compare::Cells::Booleans(cells),
            Cells::Integers(cells) => compare::Cells::Integers(cells),
            Cells::Floats(cells) => compare::Cells::Floats(cells),
            Cells::Decimals(cells) => compare::Cells::Decimals(texts(cells)),
            Cells::Texts(cells) => compare::Cells::Texts(texts(cells)),
            Cells::Dates(cells) => compare::Cells::Dates(cells),
            Cells::Timestamps(cells) => compare::Cells::Timestamps(cells),
        }
    }
}

impl Verdict {
    /// The verdict on an answer, with the comparator's reason.
    #[must_use]
    pub fn on_answer(expectation: &compare::Expectation, answer: Table) -> Verdict {
        let answer = answer.into();
        let verdict = expectation.check(&answer);
        let difference = verdict.difference.as_ref().map(|difference| Difference {
            path: path(verdict.tried),
            row: difference.row,
            column: difference.column.clone(),
            expected: difference.expected.clone(),
            found: difference.found.clone(),
        });
        Verdict::Scored(Scored {
            reward: expectation.reward(&answer, &verdict),
            reason: verdict.reason.code().to_owned(),
            difference,
        })
    }
}

/// What a difference is in: the answer, beside one of several gold answers where there are.
fn path(tried: compare::Tried) -> String {
    match tried.of {
        1 => "answer".to_owned(),
        of => format!("answer (none of {of} accepted ones fits; beside number {})", tried.number),
    }
}
