//! UNION, INTERSECT and EXCEPT. The engine has none of them: the branches run by themselves, their
//! rows are combined, and the rest of the statement reads the result like a table.

use sqlparser::ast::{ObjectName, Query, SetExpr, SetOperator, SetQuantifier, TableFactor, TableWithJoins};
use tribunal_protocol::{Code, Failure};

use crate::emit;
use crate::query::Around;
use crate::rewrite::{Output, Rewriter, coerce};
use crate::scope::Scope;
use crate::select::{Selected, Shape, alias_of, derived, item, query_of, select};
use crate::types::{Typed, wider};
use crate::{Combine, SetOperation};

/// What a name of a result begins with; no table of a schema has such a name.
const PREFIX: &str = "\0s";

/// A set operation as it was written.
pub struct Branches<'q> {
    /// Which.
    pub op: SetOperator,
    /// ALL, DISTINCT or nothing.
    pub quantifier: SetQuantifier,
    /// The query on its left.
    pub left: &'q SetExpr,
    /// The query on its right.
    pub right: &'q SetExpr,
}

impl Rewriter<'_> {
    /// Rewrites a set operation.
    pub fn set_operation(
        &mut self,
        branches: &Branches<'_>,
        around: Around<'_>,
        parent: Option<&Scope<'_>>,
    ) -> Result<Selected, Failure> {
        let Branches { op, quantifier, .. } = branches;
        let all = match quantifier {
            SetQuantifier::All => true,
            SetQuantifier::Distinct | SetQuantifier::None => false,
            SetQuantifier::ByName | SetQuantifier::AllByName | SetQuantifier::DistinctByName => {
                return Err(Failure::unsupported(format!("{op} BY NAME")));
            }
        };
        let combine = match op {
            SetOperator::Union => Combine::Union,
            SetOperator::Intersect => Combine::Intersect,
            SetOperator::Except => Combine::Except,
        };
        let before = self.sets.len();
        let (left, right, columns) = match self.branches(branches, None) {
            Err(failure) if failure.code == Code::Unknown && parent.is_some() => {
                let inside = self.branches(branches, parent).is_ok();
                self.sets.truncate(before);
                let what = format!("{op} in a subquery that refers to the query around it");
                return Err(if inside { Failure::unsupported(what) } else { failure });
            }
            result => result?,
        };
        let name = format!("{PREFIX}{}", self.sets.len());
        self.sets.push(SetOperation { name: name.clone(), combine, all, left, right, columns: columns.len() });
        self.read_set(&name, columns, around)
    }

    /// Both branches with columns of the same kinds.
    fn branches(
        &mut self,
        branches: &Branches<'_>,
        parent: Option<&Scope<'_>>,
    ) -> Result<(Query, Query, Vec<Shape>), Failure> {
        let left = self.branch(branches.left, parent)?;
        let right = self.branch(branches.right, parent)?;
        let (here, there) = (left.columns.len(), right.columns.len());
        if here != there {
            return Err(Failure::invalid(format!("{} of {here} and of {there} columns", branches.op)));
        }
        let columns = left.columns.iter().zip(&right.columns).map(|(a, b)| {
            let kind = wider(a.kind, b.kind).ok_or_else(|| {
                let (column, op) = (&a.name, branches.op);
                Failure::invalid(format!("{op}: column {column} is {} and {}; CAST one of them", a.kind, b.kind))
            })?;
            Ok(Shape { name: a.name.clone(), kind, nullable: a.nullable || b.nullable })
        });
        let columns: Vec<Shape> = columns.collect::<Result<_, Failure>>()?;
        Ok((self.fitted(left, &columns)?, self.fitted(right, &columns)?, columns))
    }

    /// A query, its values as the kinds of `columns`.
    fn fitted(&mut self, selected: Selected, columns: &[Shape]) -> Result<Query, Failure> {
        if selected.columns.iter().zip(columns).all(|(own, wanted)| own.kind == wanted.kind) {
            return Ok(selected.query);
        }
        let alias = self.alias()?;
        let mut items = Vec::with_capacity(columns.len());
        for (index, (own, wanted)) in selected.columns.iter().zip(columns).enumerate() {
            let column = Typed::new(emit::column(&alias, &selected.label(index)), own.kind, own.nullable);
            items.push(item(coerce(column, wanted.kind)?.expr(), index));
        }
        Ok(query_of(select(items, vec![derived(selected.query, &alias)], None)))
    }

    /// `SELECT * FROM name ORDER BY .. LIMIT ..`.
    fn read_set(&mut self, name: &str, columns: Vec<Shape>, around: Around<'_>) -> Result<Selected, Failure> {
        let alias = self.alias()?;
        let outputs: Vec<Output> = columns
            .iter()
            .enumerate()
            .map(|(index, shape)| {
                let column = emit::column(&alias, &crate::select::label(index));
                let typed = Typed::new(column, shape.kind, shape.nullable);
                Output { name: shape.name.clone(), named: true, typed, source: None }
            })
            .collect();
        let order = self.order(around.order_by, &outputs, &Scope::default())?;
        let relation = TableFactor::Table {
            name: ObjectName(vec![emit::ident(name)]),
            alias: alias_of(&alias),
            args: None,
            with_hints: Vec::new(),
            version: None,
            with_ordinality: false,
            partitions: Vec::new(),
        };
        let items = outputs.into_iter().enumerate().map(|(index, output)| item(output.typed.expr(), index)).collect();
        let from = vec![TableWithJoins { relation, joins: Vec::new() }];
        let mut query = query_of(select(items, from, None));
        self.surround(&mut query, order, around)?;
        let plain = query.limit.is_none() && query.offset.is_none();
        Ok(Selected { query, columns, plain })
    }
}
