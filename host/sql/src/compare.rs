//! Comparisons: operands of one kind, NULL as SQL has it.

use sqlparser::ast::{BinaryOperator, Expr, Query};
use tribunal_protocol::{Failure, Kind, Value};

use crate::cond::Cond;
use crate::emit;
use crate::logic::is_comparison;
use crate::rewrite::{Place, Rewriter};
use crate::select::Selected;
use crate::types::{Span, Term, Typed};

impl Rewriter<'_> {
    /// `left op right`.
    pub fn compare(&mut self, left: Term, op: &BinaryOperator, right: Term) -> Result<Cond, Failure> {
        let (left, right) = match (left, right) {
            (Term::Value(left), Term::Value(right)) => (left, right),
            (left, right) => (micros(left)?, micros(right)?),
        };
        let (left, right, kind) = self.pair_compared(left, right)?;
        match (left.value(), right.value()) {
            (Some(Value::Null), _) | (_, Some(Value::Null)) => return Ok(Cond::Const(None)),
            (Some(left), Some(right)) => {
                return Ok(Cond::Const(Some(holds(op, left.total_cmp(right)))));
            }
            _ => {}
        }
        let nullable = left.nullable || right.nullable;
        match op {
            // The engine takes floats that differ by less than 2.2e-16 for equal.
            BinaryOperator::Eq if kind == Kind::Float => self.same_float(&left, &right),
            BinaryOperator::NotEq if kind == Kind::Float => Ok(self.same_float(&left, &right)?.not()),
            op => Ok(Cond::Atom { expr: emit::binary(left.bare(), op.clone(), right.bare()), nullable }),
        }
    }

    fn same_float(&mut self, left: &Typed, right: &Typed) -> Result<Cond, Failure> {
        let mut bound = |op: BinaryOperator| -> Result<Cond, Failure> {
            let (left, right) = (self.copy_of(left)?, self.copy_of(right)?);
            Ok(Cond::Atom {
                nullable: left.nullable || right.nullable,
                expr: emit::binary(left.expr(), op, right.expr()),
            })
        };
        Ok(Cond::All(vec![bound(BinaryOperator::GtEq)?, bound(BinaryOperator::LtEq)?]))
    }

    /// `(a, b) = (c, d)`, and its opposite.
    pub fn compare_rows(
        &mut self,
        left: &[Expr],
        op: &BinaryOperator,
        right: &[Expr],
        place: Place<'_>,
    ) -> Result<Cond, Failure> {
        if left.len() != right.len() {
            return Err(Failure::invalid("row values of different length"));
        }
        if !matches!(op, BinaryOperator::Eq | BinaryOperator::NotEq) {
            return Err(Failure::unsupported("an order of row values (a, b)"));
        }
        let mut parts = Vec::with_capacity(left.len());
        for (left, right) in left.iter().zip(right) {
            let left = self.term(left, place)?;
            let right = self.term(right, place)?;
            parts.push(self.compare(left, &BinaryOperator::Eq, right)?);
        }
        Ok(Cond::All(parts).not_if(*op == BinaryOperator::NotEq))
    }

    /// `expr IN (list)`.
    pub fn in_list(&mut self, expr: &Expr, list: &[Expr], place: Place<'_>) -> Result<Cond, Failure> {
        if let Expr::Tuple(left) = expr {
            let mut parts = Vec::with_capacity(list.len());
            for item in list {
                let Expr::Tuple(right) = item else {
                    return Err(Failure::invalid("a row value compared with a single one"));
                };
                parts.push(self.compare_rows(left, &BinaryOperator::Eq, right, place)?);
            }
            return Ok(Cond::Any(parts));
        }
        let mut values = vec![self.value(expr, place)?];
        for item in list {
            values.push(self.value(item, place)?);
        }
        let (mut values, kind) = self.unify_compared(values)?;
        let items = values.split_off(1);
        let Some(value) = values.pop() else {
            return Err(Failure::invalid("IN needs something on its left"));
        };
        let (nulls, items): (Vec<_>, Vec<_>) = items.into_iter().partition(Typed::is_null);
        if value.is_null() {
            return Ok(Cond::Const(None));
        }
        let plain = kind != Kind::Float && !value.is_literal() && !items.iter().any(|item| item.nullable);
        let found = if plain {
            let nullable = value.nullable;
            let list = items.into_iter().map(Typed::bare).collect();
            let expr = Expr::InList { expr: Box::new(value.expr()), list, negated: false };
            Cond::Atom { expr, nullable }
        } else {
            let mut parts = Vec::with_capacity(items.len());
            for item in items {
                let value = self.copy_of(&value)?;
                parts.push(self.compare(value.into(), &BinaryOperator::Eq, item.into())?);
            }
            Cond::Any(parts)
        };
        Ok(if nulls.is_empty() { found } else { Cond::Any(vec![found, Cond::Const(None)]) })
    }

    /// `expr IN (query)`.
    pub fn in_subquery(&mut self, expr: &Expr, query: &Query, place: Place<'_>) -> Result<Cond, Failure> {
        if matches!(expr, Expr::Tuple(_)) {
            return Err(Failure::unsupported("a row value (a, b) IN a subquery"));
        }
        let value = self.value(expr, place)?;
        let selected = self.subquery(query, place)?;
        let (kind, item) = selected.single()?;
        let column = Typed::new(emit::null(), kind, item);
        let (value, column, kind) = self.pair_compared(value, column)?;
        if kind == Kind::Float {
            return self.quantified(value, &BinaryOperator::Eq, selected);
        }
        let find = |rewriter: &mut Self, value: &Typed| -> Result<Expr, Failure> {
            rewriter.grow(selected.size())?;
            let expr = Box::new(rewriter.copy_of(value)?.expr());
            let subquery = Box::new(rewriter.converted(selected.clone(), kind)?);
            Ok(Expr::InSubquery { expr, subquery, negated: false })
        };
        let found = find(self, &value)?;
        if !value.nullable && !column.nullable {
            return Ok(Cond::sure(found));
        }
        // FALSE where nothing is there to be equal to, or nothing is, and no NULL is in the way.
        let mut falsity = vec![emit::not(find(self, &value)?)];
        if column.nullable {
            let null = self.rows_where(&selected, |_, column| Ok(emit::is_null(column.expr())))?;
            falsity.push(Expr::Exists { subquery: Box::new(null), negated: true });
        }
        let mut falsity = emit::all(falsity);
        if value.nullable {
            let known = emit::is_not_null(self.copy_of(&value)?.expr());
            let any = self.rows_where(&selected, |_, _| Ok(emit::boolean(true)))?;
            let none = Expr::Exists { subquery: Box::new(any), negated: true };
            falsity = emit::any(vec![none, emit::all(vec![known, falsity])]);
        }
        Ok(Cond::Split { truth: found, falsity })
    }

    /// `expr op ANY (query)`.
    pub fn any_of(
        &mut self,
        expr: &Expr,
        op: &BinaryOperator,
        query: &Expr,
        place: Place<'_>,
    ) -> Result<Cond, Failure> {
        let query = match query {
            Expr::Subquery(query) => query,
            Expr::Nested(inner) => return self.any_of(expr, op, inner, place),
            _ => return Err(Failure::unsupported("ANY or ALL of an array")),
        };
        if !is_comparison(op) {
            return Err(Failure::unsupported(format!("the operator {op} with ANY or ALL")));
        }
        if *op == BinaryOperator::Eq {
            return self.in_subquery(expr, query, place);
        }
        let value = self.value(expr, place)?;
        let selected = self.subquery(query, place)?;
        self.quantified(value, op, selected)
    }

    /// Whether any row of a query compares so: TRUE where one does; FALSE where none does and
    /// none compares NULL.
    fn quantified(&mut self, value: Typed, op: &BinaryOperator, selected: Selected) -> Result<Cond, Failure> {
        if crate::grouping::has_aggregate(&value.clone().expr()) {
            return Err(Failure::unsupported("an aggregate compared with a subquery's rows"));
        }
        let probe = |rewriter: &mut Self, unknown: bool| {
            rewriter.rows_where(&selected, |rewriter, column| {
                let value = rewriter.copy_of(&value)?;
                let cond = rewriter.compare(value.into(), op, column.into())?;
                Ok(if unknown { emit::not(cond.is(false)) } else { cond.is(true) })
            })
        };
        let exists = |query: Query, negated: bool| Expr::Exists { subquery: Box::new(query), negated };
        let truth = exists(probe(self, false)?, false);
        let falsity = exists(probe(self, true)?, true);
        Ok(Cond::Split { truth, falsity })
    }

    /// The rows of a query of one column that meet a condition on it.
    fn rows_where(
        &mut self,
        selected: &Selected,
        condition: impl FnOnce(&mut Self, Typed) -> Result<Expr, Failure>,
    ) -> Result<Query, Failure> {
        self.grow(selected.size())?;
        let (kind, nullable) = selected.single()?;
        let (one, alias) = (self.alias()?, self.alias()?);
        let column = selected.inside().unwrap_or_else(|| emit::column(&alias, &selected.label(0)));
        let filter = condition(self, Typed::new(column, kind, nullable))?;
        Ok(selected.clone().over(&one, &alias, emit::number(1), Some(filter)))
    }

    /// A query of one column, its values as `kind`.
    fn converted(&mut self, selected: Selected, kind: Kind) -> Result<Query, Failure> {
        let (from, nullable) = selected.single()?;
        if from == kind || from == Kind::Unknown {
            return Ok(selected.query);
        }
        let (one, alias) = (self.alias()?, self.alias()?);
        let column = selected.inside().unwrap_or_else(|| emit::column(&alias, &selected.label(0)));
        let column = crate::rewrite::coerce(Typed::new(column, from, nullable), kind)?;
        Ok(selected.over(&one, &alias, column.expr(), None))
    }
}

/// A stretch of time as microseconds, to compare it.
fn micros(term: Term) -> Result<Typed, Failure> {
    match term {
        Term::Span(Span::Micros(typed)) => Ok(typed),
        Term::Span(Span::Fixed { months: 0, micros }) => Ok(Typed::integer(micros)),
        Term::Span(_) => Err(Failure::unsupported("a comparison with an interval of months or of a computed length")),
        Term::Value(typed) => match typed.text() {
            Some(text) => micros(Term::Span(crate::dates::parse_span(text)?)),
            None => Err(Failure::invalid(format!("an interval compared with {}", typed.kind))),
        },
    }
}

fn holds(op: &BinaryOperator, order: std::cmp::Ordering) -> bool {
    match op {
        BinaryOperator::Eq => order.is_eq(),
        BinaryOperator::NotEq => order.is_ne(),
        BinaryOperator::Lt => order.is_lt(),
        BinaryOperator::LtEq => order.is_le(),
        BinaryOperator::Gt => order.is_gt(),
        _ => order.is_ge(),
    }
}
