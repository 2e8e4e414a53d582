//! A rewritten query, and how it is put into another.

use sqlparser::ast::{
    Expr, GroupByExpr, Ident, Join, JoinConstraint, JoinOperator, Query, Select, SelectItem, SetExpr, TableAlias,
    TableFactor, TableWithJoins,
};
use tribunal_protocol::{Failure, Kind};

use crate::emit;

/// A rewritten query: its output columns are called `c1`, `c2`, ..
#[derive(Clone)]
pub struct Selected {
    /// The query.
    pub query: Query,
    /// Its output columns.
    pub columns: Vec<Shape>,
    /// Whether its rows are those of its sources: no groups, no DISTINCT, no LIMIT.
    pub plain: bool,
}

/// An output column.
#[derive(Clone)]
pub struct Shape {
    /// Its name in the statement.
    pub name: String,
    /// Its kind.
    pub kind: Kind,
    /// Whether it may be NULL.
    pub nullable: bool,
}

impl Selected {
    /// The engine's name of an output column.
    pub fn label(&self, index: usize) -> String {
        label(index)
    }

    /// The kind of the only column, and whether it may be NULL.
    ///
    /// # Errors
    /// `invalid` where there are several.
    pub fn single(&self) -> Result<(Kind, bool), Failure> {
        match self.columns.as_slice() {
            [column] => Ok((column.kind, column.nullable)),
            columns => Err(Failure::invalid(format!("a subquery of one column expected, {} given", columns.len()))),
        }
    }

    /// The only column as an expression inside the query, where a condition on it can be put there.
    pub fn inside(&self) -> Option<Expr> {
        match (&*self.query.body, self.plain) {
            (SetExpr::Select(select), true) => match select.projection.as_slice() {
                [SelectItem::ExprWithAlias { expr, .. }] => Some(expr.clone()),
                _ => None,
            },
            _ => None,
        }
    }

    /// `SELECT expr FROM (query) AS alias [WHERE filter]`, or the query itself with another column
    /// and one more condition where it is plain. The query is joined to one row, named `one`, for
    /// then the engine shows it the rows of the queries around.
    pub fn over(self, one: &str, alias: &str, expr: Expr, filter: Option<Expr>) -> Query {
        let plain = self.inside().is_some();
        let mut query = self.query;
        if plain && let SetExpr::Select(select) = &mut *query.body {
            query.order_by = None;
            select.projection = vec![item(expr, 0)];
            let both = select.selection.take().into_iter().chain(filter).collect::<Vec<_>>();
            select.selection = (!both.is_empty()).then(|| emit::all(both));
            return query;
        }
        let join = Join {
            relation: derived(query, alias).relation,
            global: false,
            join_operator: JoinOperator::Inner(JoinConstraint::None),
        };
        let from = TableWithJoins { relation: crate::from::one_row(one), joins: vec![join] };
        query_of(select(vec![item(expr, 0)], vec![from], filter))
    }

    /// A measure of how long it is.
    pub fn size(&self) -> usize {
        let mut size = 10;
        crate::walk::columns(&self.query, &mut |_, _| size += 2);
        size
    }
}

/// The engine's name of output column `index`.
pub fn label(index: usize) -> String {
    format!("c{}", index + 1)
}

/// An output column of the engine.
pub fn item(expr: Expr, index: usize) -> SelectItem {
    SelectItem::ExprWithAlias { expr, alias: emit::ident(&label(index)) }
}

/// A name for a source.
pub fn alias_of(alias: &str) -> Option<TableAlias> {
    Some(TableAlias { name: emit::ident(alias), columns: Vec::<Ident>::new() })
}

/// A source that is a query.
pub fn derived(query: Query, alias: &str) -> TableWithJoins {
    TableWithJoins {
        relation: TableFactor::Derived { lateral: false, subquery: Box::new(query), alias: alias_of(alias) },
        joins: Vec::new(),
    }
}

/// A SELECT without anything else.
pub fn select(projection: Vec<SelectItem>, from: Vec<TableWithJoins>, selection: Option<Expr>) -> Select {
    Select {
        distinct: None,
        top: None,
        top_before_distinct: false,
        projection,
        into: None,
        from,
        lateral_views: Vec::new(),
        prewhere: None,
        selection,
        group_by: GroupByExpr::Expressions(Vec::new(), Vec::new()),
        cluster_by: Vec::new(),
        distribute_by: Vec::new(),
        sort_by: Vec::new(),
        having: None,
        named_window: Vec::new(),
        qualify: None,
        window_before_qualify: false,
        value_table_mode: None,
        connect_by: None,
    }
}

/// A query that is a SELECT.
pub fn query_of(select: Select) -> Query {
    Query {
        with: None,
        body: Box::new(SetExpr::Select(Box::new(select))),
        order_by: None,
        limit: None,
        limit_by: Vec::new(),
        offset: None,
        fetch: None,
        locks: Vec::new(),
        for_clause: None,
        settings: None,
        format_clause: None,
    }
}
