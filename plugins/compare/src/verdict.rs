//! What a comparison found.

use std::fmt;

/// Whether a submission counts as the gold answer, and why not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Whether it does.
    pub ok: bool,
    /// The first reason that applies, in the order of [`Reason`].
    pub reason: Reason,
    /// The first place that differs; none where it counts.
    pub difference: Option<Difference>,
    /// Which of the accepted answers this is about.
    pub tried: Tried,
}

/// One of the answers that an expectation accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tried {
    /// Its number, from 1.
    pub number: u32,
    /// How many there are.
    pub of: u32,
}

impl Tried {
    const ONLY: Tried = Tried { number: 1, of: 1 };
}

/// A stable reason. The order is that in which reasons are looked for.
///
/// An extra column shows as [`Reason::Arity`] or, beside a missing one, as
/// [`Reason::ColumnMissing`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// It counts.
    Match,
    /// No rows, where gold has some.
    Empty,
    /// Too many or too few columns.
    Arity,
    /// A column of gold is not there by name.
    ColumnMissing,
    /// No way to give every gold column a column of its own and of its type.
    ColumnMismatch,
    /// A cell of the wrong type.
    Type,
    /// The same distinct rows, in other counts.
    Duplicate,
    /// Too many or too few rows.
    RowCount,
    /// Only NULLs differ: a value stands for NULL, or NULL for a value.
    Null,
    /// Only floats differ.
    Tolerance,
    /// Some row is not gold's.
    RowMismatch,
    /// The right rows in the wrong order.
    Order,
    /// Rows from the tie at the cut, but one from above it is missing.
    TopK,
}

impl Reason {
    /// The code: lower-case words joined by `-`.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Reason::Match => "match",
            Reason::Empty => "empty",
            Reason::Arity => "arity",
            Reason::ColumnMissing => "column-missing",
            Reason::ColumnMismatch => "column-mismatch",
            Reason::Type => "type",
            Reason::Duplicate => "duplicate",
            Reason::RowCount => "row-count",
            Reason::Null => "null",
            Reason::Tolerance => "tolerance",
            Reason::RowMismatch => "row-mismatch",
            Reason::Order => "order",
            Reason::TopK => "top-k",
        }
    }

    /// How close an answer with this reason is to gold: the more of it is right, the higher.
    #[must_use]
    pub fn closeness(self) -> u8 {
        match self {
            Reason::Match => 6,
            // The right rows but for one property of them.
            Reason::Duplicate | Reason::Null | Reason::Tolerance | Reason::Order | Reason::TopK => 5,
            Reason::RowMismatch => 4,
            Reason::RowCount => 3,
            Reason::Type => 2,
            Reason::Arity | Reason::ColumnMissing | Reason::ColumnMismatch => 1,
            Reason::Empty => 0,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// A place where a submission differs from gold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// The row from 0: gold's, or the submission's where gold has no such row.
    pub row: Option<u32>,
    /// Gold's column.
    pub column: Option<String>,
    /// What gold says.
    pub expected: String,
    /// What the submission says.
    pub found: String,
}

impl Verdict {
    pub(crate) const MATCH: Verdict = Verdict { ok: true, reason: Reason::Match, difference: None, tried: Tried::ONLY };

    pub(crate) fn fail(reason: Reason, difference: Difference) -> Verdict {
        Verdict { ok: false, reason, difference: Some(difference), tried: Tried::ONLY }
    }
}

impl Difference {
    pub(crate) fn whole(expected: impl Into<String>, found: impl Into<String>) -> Difference {
        Difference { expected: expected.into(), found: found.into(), ..Difference::default() }
    }

    pub(crate) fn at_row(mut self, row: usize) -> Difference {
        self.row = u32::try_from(row).ok();
        self
    }

    pub(crate) fn at_column(mut self, column: &str) -> Difference {
        self.column = Some(column.to_owned());
        self
    }
}
