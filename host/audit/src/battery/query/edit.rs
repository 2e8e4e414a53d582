//! Edits of a query's syntax tree: those that are meant to change its result, and those that are not.

use tribunal_protocol::value::{date_text, parse_date};
use tribunal_sql::ast::{
    BinaryOperator, DuplicateTreatment, Expr, Function, FunctionArguments, GroupByExpr, Ident, JoinOperator, Query,
    Select, SelectItem, SetExpr, UnaryOperator, Value,
};

use crate::kind::CaseKind;

/// A query that is meant to be wrong.
pub(super) struct Mutant {
    pub(super) kind: CaseKind,
    pub(super) query: Query,
    pub(super) how: String,
    /// Which of its kind.
    pub(super) rank: usize,
}

/// A query of another shape that is meant to be right.
pub(super) struct Other {
    pub(super) query: Query,
    pub(super) how: &'static str,
}

/// Collects edits of one query.
struct Edits<'q> {
    query: &'q Query,
    select: &'q Select,
    mutants: Vec<Mutant>,
}

/// All mutants of a query that is one SELECT; none of another.
pub(super) fn mutants(query: &Query) -> Vec<Mutant> {
    let SetExpr::Select(select) = query.body.as_ref() else { return Vec::new() };
    let mut edits = Edits { query, select, mutants: Vec::new() };
    edits.conditions();
    edits.windows();
    edits.projections();
    edits.shape();
    edits.mutants
}

impl Edits<'_> {
    fn push(&mut self, kind: CaseKind, how: impl Into<String>, edit: impl FnOnce(&mut Query, &mut Select)) {
        let (mut query, mut select) = (self.query.clone(), self.select.clone());
        edit(&mut query, &mut select);
        query.body = Box::new(SetExpr::Select(Box::new(select)));
        self.mutants.push(Mutant { kind, query, how: how.into(), rank: 0 });
    }

    /// Every condition forgotten, turned round, or moved by a day.
    fn conditions(&mut self) {
        let parts = conjuncts(self.select.selection.as_ref());
        for place in 0..parts.len() {
            let mut fewer = parts.clone();
            let gone = fewer.remove(place);
            let kind = if has_date(&gone) { CaseKind::OffByOne } else { CaseKind::MissingFilter };
            // A window without one of its ends is no window of a day more; it is a condition forgotten.
            let kind = if kind == CaseKind::OffByOne { CaseKind::MissingFilter } else { kind };
            self.push(kind, format!("without `{gone}`"), |_, select| select.selection = joined(fewer));
            if !has_date(&gone) {
                let mut turned = parts.clone();
                turned[place] =
                    Expr::UnaryOp { op: UnaryOperator::Not, expr: Box::new(Expr::Nested(Box::new(gone.clone()))) };
                self.push(CaseKind::WrongPopulation, format!("not `{gone}`"), |_, select| {
                    select.selection = joined(turned)
                });
            }
            if let Expr::InList { expr, list, negated: false } = &gone
                && list.len() > 1
            {
                let mut narrower = parts.clone();
                narrower[place] = Expr::InList { expr: expr.clone(), list: list[1..].to_vec(), negated: false };
                self.push(CaseKind::ExtraFilter, format!("one value less in `{gone}`"), |_, select| {
                    select.selection = joined(narrower)
                });
            }
        }
        if let Some(first) = parts.iter().find(|part| has_date(part))
            && let Expr::BinaryOp { left, .. } = first
        {
            let even = format!("EXTRACT(DAY FROM {left}) < 28");
            if let Some(extra) = expression(&even) {
                let mut more = parts.clone();
                more.push(extra);
                self.push(CaseKind::ExtraFilter, format!("and `{even}`"), |_, select| select.selection = joined(more));
            }
        }
    }

    /// Windows a day too long or short, and a whole window earlier.
    fn windows(&mut self) {
        let parts = conjuncts(self.select.selection.as_ref());
        for (place, part) in parts.iter().enumerate() {
            let Expr::BinaryOp { left, op, right } = part else { continue };
            let Some(days) = date_in(right) else { continue };
            let other = match op {
                BinaryOperator::GtEq => BinaryOperator::Gt,
                BinaryOperator::Gt => BinaryOperator::GtEq,
                BinaryOperator::Lt => BinaryOperator::LtEq,
                BinaryOperator::LtEq => BinaryOperator::Lt,
                _ => continue,
            };
            let mut moved = parts.clone();
            moved[place] = Expr::BinaryOp { left: left.clone(), op: other.clone(), right: right.clone() };
            self.push(CaseKind::OffByOne, format!("`{other}` in `{part}`"), |_, select| {
                select.selection = joined(moved)
            });
            for step in [-1, 1] {
                let mut moved = parts.clone();
                moved[place] = Expr::BinaryOp {
                    left: left.clone(),
                    op: op.clone(),
                    right: Box::new(text(date_text(days + step))),
                };
                self.push(CaseKind::OffByOne, format!("`{part}` moved by a day"), |_, select| {
                    select.selection = joined(moved)
                });
            }
        }
        let dates: Vec<i32> = parts.iter().filter_map(window_end).collect();
        if let (Some(low), Some(high)) = (dates.iter().min(), dates.iter().max())
            && low < high
        {
            let span = high - low;
            let back = |part: &Expr| match part {
                Expr::BinaryOp { left, op, right } if date_in(right).is_some() => Expr::BinaryOp {
                    left: left.clone(),
                    op: op.clone(),
                    right: Box::new(text(date_text(date_in(right).unwrap_or(0) - span))),
                },
                other => other.clone(),
            };
            let earlier: Vec<Expr> = parts.iter().map(back).collect();
            self.push(CaseKind::LastPeriod, format!("{span} days earlier"), |_, select| {
                select.selection = joined(earlier)
            });
        }
    }

    /// Another aggregate, another unit, two columns in each other's place.
    fn projections(&mut self) {
        let items = self.select.projection.clone();
        for (place, item) in items.iter().enumerate() {
            let Some((expr, alias)) = named(item) else { continue };
            let put = |edits: &mut Self, kind, how: String, expr: Expr| {
                edits.push(kind, how, |_, select| {
                    select.projection[place] = SelectItem::ExprWithAlias { expr, alias: alias.clone() };
                });
            };
            if let Expr::Function(function) = expr {
                for (kind, other) in aggregates(function) {
                    put(self, kind, format!("`{other}` for `{expr}`"), other);
                }
                let hundred = Expr::BinaryOp {
                    left: Box::new(expr.clone()),
                    op: BinaryOperator::Multiply,
                    right: Box::new(number(100)),
                };
                put(self, CaseKind::UnitError, format!("`{hundred}`"), hundred);
                if let Some(zero) = expression(&format!("COALESCE({expr}, 0)")) {
                    put(self, CaseKind::NullAsZero, format!("`{zero}`"), zero);
                }
            }
        }
        for a in 0..items.len() {
            for b in a + 1..items.len() {
                let (Some((left, to_left)), Some((right, to_right))) = (named(&items[a]), named(&items[b])) else {
                    continue;
                };
                self.push(CaseKind::SwappedColumns, format!("`{to_left}` and `{to_right}` swapped"), |_, select| {
                    select.projection[a] = SelectItem::ExprWithAlias { expr: right.clone(), alias: to_left.clone() };
                    select.projection[b] = SelectItem::ExprWithAlias { expr: left.clone(), alias: to_right.clone() };
                });
            }
        }
    }

    /// Other joins, another grain, another cut, another order.
    fn shape(&mut self) {
        for (from, source) in self.select.from.iter().enumerate() {
            for (place, join) in source.joins.iter().enumerate() {
                let other = match &join.join_operator {
                    JoinOperator::Inner(on) => JoinOperator::LeftOuter(on.clone()),
                    JoinOperator::LeftOuter(on) => JoinOperator::Inner(on.clone()),
                    _ => continue,
                };
                self.push(CaseKind::WrongJoin, format!("another join with `{}`", join.relation), |_, select| {
                    select.from[from].joins[place].join_operator = other;
                });
            }
        }
        self.push(CaseKind::DuplicateLost, "DISTINCT taken away or added", |_, select| {
            select.distinct = match select.distinct {
                None => Some(tribunal_sql::ast::Distinct::Distinct),
                Some(_) => None,
            };
        });
        if let GroupByExpr::Expressions(keys, _) = &self.select.group_by
            && keys.len() > 1
        {
            self.push(CaseKind::WrongGrain, "grouped by less", |_, select| {
                if let GroupByExpr::Expressions(keys, _) = &mut select.group_by {
                    keys.pop();
                }
            });
        }
        if self.select.having.is_some() {
            self.push(CaseKind::MissingFilter, "without HAVING", |_, select| select.having = None);
        }
        if let Some(order) = &self.query.order_by {
            let mut turned = order.clone();
            for key in &mut turned.exprs {
                key.asc = Some(key.asc == Some(false));
            }
            self.push(CaseKind::Reordered, "in the reverse order", |query, _| query.order_by = Some(turned));
        }
        if let Some(Expr::Value(Value::Number(limit, _))) = &self.query.limit
            && let Ok(limit) = limit.to_string().parse::<u64>()
        {
            for (kind, other) in [(CaseKind::ExtraRow, limit + 1), (CaseKind::RowMissing, limit.saturating_sub(1))] {
                self.push(kind, format!("LIMIT {other}"), |query, _| query.limit = Some(number(other)));
            }
        } else {
            self.push(CaseKind::RowMissing, "LIMIT 1", |query, _| query.limit = Some(number(1)));
        }
    }
}

/// Queries of another shape that should give the same.
pub(super) fn same(query: &Query) -> Vec<Other> {
    let SetExpr::Select(select) = query.body.as_ref() else { return Vec::new() };
    let with = |how, edit: &dyn Fn(&mut Select)| {
        let (mut query, mut select) = (query.clone(), select.as_ref().clone());
        edit(&mut select);
        query.body = Box::new(SetExpr::Select(Box::new(select)));
        Other { query, how }
    };
    let mut others = Vec::new();
    let parts = conjuncts(select.selection.as_ref());
    let turned: Vec<Expr> = parts.iter().rev().map(rephrased).collect();
    if turned != parts && !turned.is_empty() {
        others.push(with("conditions said otherwise, in reverse", &|select| select.selection = joined(turned.clone())));
    }
    let columns: Vec<String> =
        select.projection.iter().filter_map(|item| named(item).map(|(_, alias)| format!("whole.{alias}"))).collect();
    if columns.len() == select.projection.len() && query.order_by.is_none() && query.limit.is_none() {
        let outer = format!("SELECT {} FROM ({query}) AS whole", columns.join(", "));
        if let Ok(tribunal_sql::ast::Statement::Query(outer)) = tribunal_sql::parse_query(&outer) {
            others.push(Other { query: *outer, how: "as a derived table" });
        }
    }
    others
}

/// The same condition in other words.
fn rephrased(part: &Expr) -> Expr {
    let not = |expr: Expr| Expr::UnaryOp { op: UnaryOperator::Not, expr: Box::new(Expr::Nested(Box::new(expr))) };
    match part {
        Expr::InList { expr, list, negated: false } => {
            let each = list.iter().map(|value| Expr::BinaryOp {
                left: expr.clone(),
                op: BinaryOperator::Eq,
                right: Box::new(value.clone()),
            });
            let either =
                each.reduce(|a, b| Expr::BinaryOp { left: Box::new(a), op: BinaryOperator::Or, right: Box::new(b) });
            either.map_or_else(|| part.clone(), |either| Expr::Nested(Box::new(either)))
        }
        Expr::BinaryOp { left, op, right } => {
            let opposite = match op {
                BinaryOperator::Lt => BinaryOperator::GtEq,
                BinaryOperator::LtEq => BinaryOperator::Gt,
                BinaryOperator::Gt => BinaryOperator::LtEq,
                BinaryOperator::GtEq => BinaryOperator::Lt,
                _ => return part.clone(),
            };
            not(Expr::BinaryOp { left: left.clone(), op: opposite, right: right.clone() })
        }
        other => other.clone(),
    }
}

fn conjuncts(selection: Option<&Expr>) -> Vec<Expr> {
    match selection {
        None => Vec::new(),
        Some(Expr::BinaryOp { left, op: BinaryOperator::And, right }) => {
            [conjuncts(Some(left)), conjuncts(Some(right))].concat()
        }
        Some(other) => vec![other.clone()],
    }
}

fn joined(parts: Vec<Expr>) -> Option<Expr> {
    let and = |a, b| Expr::BinaryOp { left: Box::new(a), op: BinaryOperator::And, right: Box::new(b) };
    parts.into_iter().reduce(and)
}

/// The day that an expression is: a literal, or a DATE of one.
fn date_in(expr: &Expr) -> Option<i32> {
    match expr {
        Expr::Value(Value::SingleQuotedString(text)) | Expr::TypedString { value: text, .. } => parse_date(text),
        _ => None,
    }
}

fn has_date(expr: &Expr) -> bool {
    matches!(expr, Expr::BinaryOp { right, .. } if date_in(right).is_some())
}

/// The day that a condition compares with, where it is one end of a window.
fn window_end(part: &Expr) -> Option<i32> {
    let Expr::BinaryOp { op, right, .. } = part else { return None };
    let end = matches!(op, BinaryOperator::Lt | BinaryOperator::LtEq | BinaryOperator::Gt | BinaryOperator::GtEq);
    date_in(right).filter(|_| end)
}

fn text(text: String) -> Expr {
    Expr::Value(Value::SingleQuotedString(text))
}

fn number(number: u64) -> Expr {
    Expr::Value(Value::Number(number.into(), false))
}

/// What a projected item is, and its name.
fn named(item: &SelectItem) -> Option<(&Expr, Ident)> {
    match item {
        SelectItem::ExprWithAlias { expr, alias } => Some((expr, alias.clone())),
        SelectItem::UnnamedExpr(expr @ Expr::Identifier(name)) => Some((expr, name.clone())),
        SelectItem::UnnamedExpr(expr @ Expr::CompoundIdentifier(parts)) => Some((expr, parts.last()?.clone())),
        _ => None,
    }
}

/// Other aggregates for this one.
fn aggregates(function: &Function) -> Vec<(CaseKind, Expr)> {
    let name = function.name.to_string().to_uppercase();
    let to = match name.as_str() {
        "SUM" => "AVG",
        "AVG" => "SUM",
        "MIN" => "MAX",
        "MAX" => "MIN",
        "COUNT" => "COUNT",
        _ => return Vec::new(),
    };
    let mut others = Vec::new();
    if to != name {
        let mut other = function.clone();
        other.name = tribunal_sql::ast::ObjectName(vec![Ident::new(to)]);
        others.push((CaseKind::WrongAggregate, Expr::Function(other)));
    }
    let mut other = function.clone();
    if let FunctionArguments::List(list) = &mut other.args {
        let distinct = list.duplicate_treatment == Some(DuplicateTreatment::Distinct);
        list.duplicate_treatment = (!distinct).then_some(DuplicateTreatment::Distinct);
        let kind = if distinct { CaseKind::JoinInflation } else { CaseKind::HiddenInflation };
        others.push((kind, Expr::Function(other)));
    }
    others
}

/// Parses an expression, as the only item of a query.
fn expression(text: &str) -> Option<Expr> {
    let Ok(tribunal_sql::ast::Statement::Query(query)) = tribunal_sql::parse_query(&format!("SELECT {text}")) else {
        return None;
    };
    match *query.body {
        SetExpr::Select(select) => match select.projection.into_iter().next()? {
            SelectItem::UnnamedExpr(expr) => Some(expr),
            _ => None,
        },
        _ => None,
    }
}
