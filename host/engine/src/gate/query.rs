//! The gate for queries.

use bigdecimal::BigDecimal;
use gluesql_core::ast::{
    Expr, Join, JoinConstraint, JoinOperator, Literal, Projection, Query, Select, SelectItem, SetExpr, TableAlias,
    TableFactor,
};
use gluesql_core::prelude::Value as Cell;
use tribunal_protocol::Failure;

use super::{Footprint, Shape, Source};

impl Footprint {
    pub(super) fn query(&mut self, query: &mut Query) -> Result<Shape, Failure> {
        let Query { body, order_by, limit, offset } = query;
        let mut shape = match body {
            SetExpr::Select(select) => self.select(select)?,
            SetExpr::Values(values) => {
                let mut shape = Shape { values: vec![values.0.len() as u64], ..Shape::default() };
                self.expressions(values.0.iter_mut().flatten(), &mut shape.inner)?;
                shape
            }
        };
        for key in order_by {
            self.expression(&mut key.expr, &mut shape.inner)?;
        }
        count("LIMIT", limit.as_ref())?;
        count("OFFSET", offset.as_ref())?;
        Ok(shape)
    }

    fn select(&mut self, select: &mut Select) -> Result<Shape, Failure> {
        let Select { distinct: _, projection, from, selection, group_by, having } = select;
        let mut shape = Shape::default();
        self.source(&mut from.relation, &mut shape)?;
        for join in &mut from.joins {
            self.source(&mut join.relation, &mut shape)?;
            let (JoinOperator::Inner(constraint) | JoinOperator::LeftOuter(constraint)) = &mut join.join_operator;
            match constraint {
                JoinConstraint::On(expression) => {
                    self.expression(expression, &mut shape.inner)?;
                }
                JoinConstraint::None => {}
            }
        }
        let Projection::SelectItems(items) = projection;
        for item in items {
            match item {
                SelectItem::Expr { expr, label: _ } => {
                    self.expression(expr, &mut shape.inner)?;
                }
                SelectItem::QualifiedWildcard(alias) => {
                    self.whole.insert(alias.clone());
                }
                SelectItem::Wildcard => self.everything = true,
            }
        }
        self.expressions(selection.as_mut(), &mut shape.inner)?;
        self.expressions(group_by, &mut shape.inner)?;
        self.expressions(having.as_mut(), &mut shape.inner)?;
        self.tests(&from.relation, &from.joins, selection.as_ref());
        Ok(shape)
    }

    /// Conditions that a row of a source must meet to matter: those of WHERE and of inner joins,
    /// on sources that no outer join can fill with NULLs, and those of an outer join on the source
    /// that it joins.
    fn tests(&mut self, relation: &TableFactor, joins: &[Join], selection: Option<&Expr>) {
        let mut inner: Vec<&str> = alias_of(relation).into_iter().collect();
        for join in joins {
            match &join.join_operator {
                JoinOperator::Inner(_) => inner.extend(alias_of(&join.relation)),
                JoinOperator::LeftOuter(JoinConstraint::On(on)) => {
                    let joined: Vec<&str> = alias_of(&join.relation).into_iter().collect();
                    self.test(Some(on), &joined);
                }
                JoinOperator::LeftOuter(JoinConstraint::None) => {}
            }
        }
        for join in joins {
            if let JoinOperator::Inner(JoinConstraint::On(on)) = &join.join_operator {
                self.test(Some(on), &inner);
            }
        }
        self.test(selection, &inner);
    }

    fn source(&mut self, factor: &mut TableFactor, shape: &mut Shape) -> Result<(), Failure> {
        match factor {
            TableFactor::Table { name, alias } => {
                self.by_position(alias.as_ref());
                let alias = alias.get_or_insert_with(|| TableAlias { name: name.clone(), columns: Vec::new() });
                if self.results.contains(name) {
                    shape.views.push(name.clone());
                    return Ok(());
                }
                let view = format!("\0{}", self.sources.len());
                shape.views.push(view.clone());
                self.sources.push(Source {
                    table: std::mem::replace(name, view.clone()),
                    view,
                    alias: alias.name.clone(),
                });
                Ok(())
            }
            TableFactor::Derived { subquery, alias: _ } => {
                let inner = self.query(subquery)?;
                shape.derived.push(inner);
                Ok(())
            }
            TableFactor::Series { alias, size } => {
                // The engine's translation of SELECT without FROM is a series of one.
                let single = BigDecimal::from(1);
                let one = matches!(size, Expr::Literal(Literal::Number(n)) if *n == single);
                if one && alias.columns.is_empty() {
                    return Ok(());
                }
                Err(Failure::unsupported("SERIES is not supported"))
            }
            TableFactor::Dictionary { dict, alias: _ } => Err(Failure::unknown(format!("no table {dict}"))),
        }
    }

    /// A list of column aliases renames by position.
    fn by_position(&mut self, alias: Option<&TableAlias>) {
        if let Some(alias) = alias.filter(|alias| !alias.columns.is_empty()) {
            self.whole.insert(alias.name.clone());
        }
    }
}

/// The alias of a table in FROM whose columns keep their names.
fn alias_of(factor: &TableFactor) -> Option<&str> {
    if let TableFactor::Table { name: _, alias: Some(alias) } = factor
        && alias.columns.is_empty()
    {
        return Some(&alias.name);
    }
    None
}

/// LIMIT and OFFSET are whole numbers, so that what a statement returns is known beforehand.
fn count(clause: &str, expression: Option<&Expr>) -> Result<(), Failure> {
    let whole = match expression {
        None => true,
        Some(Expr::Literal(Literal::Number(number))) => {
            let (least, most) = (BigDecimal::from(0), BigDecimal::from(u32::MAX));
            number.is_integer() && *number >= least && *number <= most
        }
        Some(Expr::Value(Cell::I64(number))) => *number >= 0,
        Some(_) => false,
    };
    if whole {
        return Ok(());
    }
    Err(Failure::unsupported(format!("{clause} takes a whole number")))
}
