//! Edits of a query's syntax tree that are meant to change its result.

use tribunal_protocol::value::date_text;
use tribunal_sql::ast::{
    BinaryOperator, Expr, GroupByExpr, JoinOperator, Query, Select, SelectItem, SetExpr, UnaryOperator, Value,
};

use super::tree::{aggregates, conjuncts, date_in, expression, has_date, joined, named, number, text, window_end};
use crate::kind::CaseKind;

/// A query that is meant to be wrong.
pub(super) struct Mutant {
    pub(super) kind: CaseKind,
    pub(super) query: Query,
    pub(super) how: String,
    /// Which of its kind.
    pub(super) rank: usize,
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
