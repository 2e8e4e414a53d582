//! Row filters: a small predicate language over one row, with SQL's three truth values.
//!
//! ```text
//! filter   = and { "OR" and }
//! and      = not { "AND" not }
//! not      = [ "NOT" ] primary
//! primary  = "(" filter ")"
//!          | operand ( "=" | "<>" | "!=" | "<" | "<=" | ">" | ">=" ) operand
//!          | column "IS" [ "NOT" ] "NULL"
//!          | column [ "NOT" ] "IN" "(" literal { "," literal } ")"
//!          | column [ "NOT" ] "BETWEEN" literal "AND" literal
//! operand  = column | literal
//! literal  = number | 'text' | [ "DATE" | "TIMESTAMP" ] 'text' | "TRUE" | "FALSE"
//! column   = name | "name"
//! ```
//! A literal takes the kind of the column that it is compared with. There is no arithmetic and no
//! function: what a filter hides must be plain to whoever reads the contract.

mod bind;
mod lex;
mod parse;
mod text;

use std::cmp::Ordering;
use std::fmt;

/// A row filter as written, in canonical form: a set of conditions that must all hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    /// Sorted by their text, without duplicates.
    conjuncts: Vec<Node>,
}

/// One condition of a filter, with columns by name.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Node {
    Compare { left: Operand, comparison: Comparison, right: Operand },
    IsNull { column: String },
    In { column: String, list: Vec<Literal> },
    And(Vec<Node>),
    Or(Vec<Node>),
    Not(Box<Node>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Operand {
    Column(String),
    Literal(Literal),
}

/// A literal before it has a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Literal {
    Number(String),
    Text(String),
    Boolean(bool),
}

/// The six comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    fn accepts(self, ordering: Ordering) -> bool {
        match self {
            Comparison::Equal => ordering.is_eq(),
            Comparison::NotEqual => ordering.is_ne(),
            Comparison::Less => ordering.is_lt(),
            Comparison::LessOrEqual => ordering.is_le(),
            Comparison::Greater => ordering.is_gt(),
            Comparison::GreaterOrEqual => ordering.is_ge(),
        }
    }

    fn flipped(self) -> Comparison {
        match self {
            Comparison::Equal => Comparison::Equal,
            Comparison::NotEqual => Comparison::NotEqual,
            Comparison::Less => Comparison::Greater,
            Comparison::LessOrEqual => Comparison::GreaterOrEqual,
            Comparison::Greater => Comparison::Less,
            Comparison::GreaterOrEqual => Comparison::LessOrEqual,
        }
    }

    fn symbol(self) -> &'static str {
        match self {
            Comparison::Equal => "=",
            Comparison::NotEqual => "<>",
            Comparison::Less => "<",
            Comparison::LessOrEqual => "<=",
            Comparison::Greater => ">",
            Comparison::GreaterOrEqual => ">=",
        }
    }
}

impl Filter {
    /// Reads a filter.
    ///
    /// # Errors
    /// What was found where, and what is allowed there.
    pub fn parse(text: &str) -> Result<Filter, String> {
        parse::parse(text).map(Filter::of)
    }

    /// Rows that satisfy both.
    #[must_use]
    pub fn and(&self, other: &Filter) -> Filter {
        let all = self.conjuncts.iter().chain(&other.conjuncts).cloned();
        Filter::of(Node::And(all.collect()))
    }

    fn of(node: Node) -> Filter {
        let mut conjuncts = Vec::new();
        flatten(node, &mut conjuncts);
        conjuncts.sort_by_cached_key(Node::to_string);
        conjuncts.dedup();
        Filter { conjuncts }
    }
}

fn flatten(node: Node, conjuncts: &mut Vec<Node>) {
    match node {
        Node::And(nodes) => nodes.into_iter().for_each(|node| flatten(node, conjuncts)),
        other => conjuncts.push(other),
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        text::write_joined(f, &self.conjuncts, " AND ")
    }
}

/// A filter bound to a table: columns by place, literals as cells of type `C`. The engine turns
/// the literals into its own cells once, so that no row has to be converted.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition<C>(Bound<C>);

#[derive(Clone, Debug, PartialEq)]
enum Bound<C> {
    Compare { left: Side<C>, comparison: Comparison, right: Side<C> },
    IsNull { column: usize },
    In { column: usize, list: Vec<C> },
    And(Vec<Bound<C>>),
    Or(Vec<Bound<C>>),
    Not(Box<Bound<C>>),
}

#[derive(Clone, Debug, PartialEq)]
enum Side<C> {
    Column(usize),
    Literal(C),
}

/// How cells compare: none where either is NULL or the two have no order.
type Compare<'a, C> = &'a dyn Fn(&C, &C) -> Option<Ordering>;

impl<C> Condition<C> {
    /// The same condition over cells of another type.
    pub fn map<D>(&self, cell: &impl Fn(&C) -> D) -> Condition<D> {
        Condition(self.0.map(cell))
    }

    /// Whether `row` (all cells of the table's row, in order) satisfies the filter. Unknown, as
    /// from a comparison with NULL, is no. `compare` gives none where either cell is NULL.
    #[must_use]
    pub fn holds(&self, row: &[C], compare: &dyn Fn(&C, &C) -> Option<Ordering>, is_null: &dyn Fn(&C) -> bool) -> bool {
        self.0.truth(row, compare, is_null) == Some(true)
    }
}

impl<C> Bound<C> {
    fn map<D>(&self, cell: &impl Fn(&C) -> D) -> Bound<D> {
        let side = |side: &Side<C>| match side {
            Side::Column(column) => Side::Column(*column),
            Side::Literal(literal) => Side::Literal(cell(literal)),
        };
        let all = |bounds: &[Bound<C>]| bounds.iter().map(|bound| bound.map(cell)).collect();
        match self {
            Bound::Compare { left, comparison, right } => {
                Bound::Compare { left: side(left), comparison: *comparison, right: side(right) }
            }
            Bound::IsNull { column } => Bound::IsNull { column: *column },
            Bound::In { column, list } => Bound::In { column: *column, list: list.iter().map(cell).collect() },
            Bound::And(bounds) => Bound::And(all(bounds)),
            Bound::Or(bounds) => Bound::Or(all(bounds)),
            Bound::Not(bound) => Bound::Not(Box::new(bound.map(cell))),
        }
    }

    /// The truth of this condition; none is unknown.
    fn truth(&self, row: &[C], compare: Compare<'_, C>, is_null: &dyn Fn(&C) -> bool) -> Option<bool> {
        match self {
            Bound::Compare { left, comparison, right } => {
                let ordering = compare(left.cell(row)?, right.cell(row)?)?;
                Some(comparison.accepts(ordering))
            }
            Bound::IsNull { column } => row.get(*column).map(is_null),
            Bound::In { column, list } => {
                let cell = row.get(*column)?;
                if is_null(cell) {
                    return None;
                }
                Some(list.iter().any(|item| compare(cell, item).is_some_and(Ordering::is_eq)))
            }
            Bound::And(bounds) => fold(bounds, false, |bound| bound.truth(row, compare, is_null)),
            Bound::Or(bounds) => fold(bounds, true, |bound| bound.truth(row, compare, is_null)),
            Bound::Not(bound) => bound.truth(row, compare, is_null).map(|truth| !truth),
        }
    }
}

/// Kleene's AND (`decisive` = false) and OR (`decisive` = true).
fn fold<C>(bounds: &[Bound<C>], decisive: bool, truth: impl Fn(&Bound<C>) -> Option<bool>) -> Option<bool> {
    let mut result = Some(!decisive);
    for bound in bounds {
        match truth(bound) {
            Some(value) if value == decisive => return Some(decisive),
            Some(_) => {}
            None => result = None,
        }
    }
    result
}

impl<C> Side<C> {
    fn cell<'a>(&'a self, row: &'a [C]) -> Option<&'a C> {
        match self {
            Side::Column(column) => row.get(*column),
            Side::Literal(literal) => Some(literal),
        }
    }
}
