//! What a case is about: one name for everything that a verifier must accept, reject, or do.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What must become of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Expected {
    /// The full reward.
    Accept,
    /// Scored, and less than the full reward.
    Reject,
    /// Void: nobody can judge this, so nobody may be scored by it.
    Ungradable,
}

impl Expected {
    /// The name, as in tables and files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Expected::Accept => "accept",
            Expected::Reject => "reject",
            Expected::Ungradable => "ungradable",
        }
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

macro_rules! kinds {
    ($($variant:ident $expected:ident $name:literal $says:literal,)*) => {
        /// The kind of a case: one for every way to be right that must be accepted, every fault that
        /// must be rejected, and every expectation that nobody can judge by.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum CaseKind {
            $(#[doc = $says] $variant,)*
        }

        impl CaseKind {
            /// All kinds, in the order of tables.
            pub const ALL: &'static [CaseKind] = &[$(CaseKind::$variant,)*];

            /// The name, as in tables and files.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(CaseKind::$variant => $name,)* }
            }

            /// What such a case is, in a few words.
            #[must_use]
            pub fn says(self) -> &'static str {
                match self { $(CaseKind::$variant => $says,)* }
            }

            /// What must become of such a case.
            #[must_use]
            pub fn expected(self) -> Expected {
                match self { $(CaseKind::$variant => Expected::$expected,)* }
            }
        }
    };
}

kinds! {
    Gold Accept "gold" "what the task's own solution hands in",
    RowsShuffled Accept "rows-shuffled" "rows in another order, where the task leaves it open",
    ColumnsPermuted Accept "columns-permuted" "columns in another order, where names tell them apart",
    ColumnsRenamed Accept "columns-renamed" "names in another case, or other names where place tells columns apart",
    TiesOtherwise Accept "ties-otherwise" "a tie at the cut or in the order resolved the other way",
    NumbersOtherwise Accept "numbers-otherwise" "equal values written in another lawful kind",
    WithinTolerance Accept "within-tolerance" "a float off by less than the task allows",
    SecondQuery Accept "second-query" "a query of another shape that both engines agree with on all hidden data",
    OtherPath Accept "other-path" "the same state or answer by other calls",
    OtherWords Accept "other-words" "the right question or the right missing thing in other words",

    Empty Reject "empty" "no rows",
    EmptyUnrelated Reject "empty-unrelated" "no rows of other columns, where no rows is right",
    NoOp Reject "no-op" "nothing done",
    Null Reject "null" "NULL in every cell",
    Constant Reject "constant" "a plausible constant",
    LastPeriod Reject "last-period" "the same of the period before",
    OffByOne Reject "off-by-one" "a window that is one day too long or too short",
    WrongPopulation Reject "wrong-population" "rows that do not count, or the others",
    MissingFilter Reject "missing-filter" "a condition forgotten",
    ExtraFilter Reject "extra-filter" "a condition too many",
    JoinInflation Reject "join-inflation" "rows multiplied by a join",
    HiddenInflation Reject "hidden-inflation" "rows multiplied by a join, hidden by DISTINCT",
    WrongGrain Reject "wrong-grain" "grouped by something else",
    WrongAggregate Reject "wrong-aggregate" "another aggregate or metric",
    WrongJoin Reject "wrong-join" "an outer join for an inner one, or the reverse",
    OtherFault Reject "other-fault" "another wrong way that the suite names",
    SwappedColumns Reject "swapped-columns" "the cells of two columns swapped",
    ScrambledRows Reject "scrambled-rows" "every column right by itself, the rows scrambled",
    ColumnTwice Reject "column-twice" "one column in the place of two",
    UnitError Reject "unit-error" "a hundred times too much",
    Rounded Reject "rounded" "right to two decimals and no further",
    OutsideTolerance Reject "outside-tolerance" "a value just outside what the task allows",
    CellChanged Reject "cell-changed" "one cell wrong",
    NullAsZero Reject "null-as-zero" "0 for NULL, or NULL for 0",
    RowMissing Reject "row-missing" "one row left out",
    ExtraRow Reject "extra-row" "one row too many",
    DuplicateRow Reject "duplicate-row" "a row twice",
    DuplicateLost Reject "duplicate-lost" "a repeated row once",
    Reordered Reject "reordered" "the right rows in the wrong order, where order is asked for",
    TieTruncated Reject "tie-truncated" "one of the best left out for one that ties at the cut",
    ExtraColumn Reject "extra-column" "a superset of the columns",
    ColumnMissing Reject "column-missing" "a column left out",
    NumberAsText Reject "number-as-text" "numbers as free text",
    EveryAnswer Reject "every-answer" "all values listed in one cell",
    LastNumber Reject "last-number" "words that end in the right number",
    Flattery Reject "flattery" "a wrong answer that praises itself or gives orders to its judge",
    OtherTask Reject "other-task" "another task's right answer",
    VisibleOnly Reject "visible-only" "the answer of the visible data, on hidden data",
    WrongSubmission Reject "wrong-submission" "done or an abstention where an answer is due, or the reverse",
    Half Reject "half" "some of the work left out",
    StateField Reject "state-field" "one field of the right rows wrong",
    Collateral Reject "collateral" "the right change, and another beside it",
    NotAsked Reject "not-asked" "the right answer without the question",
    WrongQuestion Reject "wrong-question" "the right answer after a question about something else",
    TooMuchAsked Reject "too-much-asked" "a question about everything, or too many questions",
    WrongMissing Reject "wrong-missing" "an abstention that names another thing, or all things",
    Largest Reject "largest" "the largest wrong answer that is judged",

    BrokenExpectation Ungradable "broken-expectation" "an expectation that cannot be judged by",
}

impl fmt::Display for CaseKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_kind_has_a_name_of_its_own_that_files_use_too() {
        let names: BTreeSet<&str> = CaseKind::ALL.iter().map(|kind| kind.name()).collect();
        assert_eq!(names.len(), CaseKind::ALL.len());
        for kind in CaseKind::ALL {
            assert_eq!(serde_json::to_string(kind).unwrap(), format!("\"{}\"", kind.name()));
        }
    }
}
