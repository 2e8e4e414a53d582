//! Queries in SQLite's dialect: the statement as it was parsed, not as it was rewritten for the
//! engine, so that SQLite is a second opinion on the rewrite, too.
//!
//! What SQLite lacks is left to functions whose names start with `tribunal_`, which the copy
//! registers: arithmetic on days and months, rounding by decimal digits, and the functions of
//! texts that it counts differently. Dates are texts there, `2024-01-31`, and moments are
//! `2024-01-31 08:00:00`.

mod calls;
mod expr;
mod kind;
mod said;
mod times;
mod window;

pub use said::{SqliteChange, SqliteQuery, row_number, sqlite_change, sqlite_query};

use sqlparser::ast::{
    Cte, Distinct, Expr, GroupByExpr, Ident, JoinConstraint, JoinOperator, ObjectName, OrderByExpr, Query, Select,
    SelectItem, SetExpr, SetOperator, SetQuantifier, Statement, TableAlias, TableFactor, TableWithJoins,
    Value as Literal,
};
use tribunal_protocol::{Failure, Kind};

use crate::select::{query_of, select};
use crate::{Catalog, emit, scope::same};

/// A column in sight: its name and its kind, [`Kind::Unknown`] where that is not known.
pub(super) type Named = (String, Kind);

/// The columns in sight of an expression.
#[derive(Default)]
pub(super) struct Names<'p> {
    sources: Vec<(String, Vec<Named>)>,
    parent: Option<&'p Names<'p>>,
}

impl Names<'_> {
    /// The kind of a column, by the table's name where it is given.
    pub(super) fn kind(&self, table: Option<&str>, name: &str) -> Kind {
        let mut sources = self.sources.iter();
        let found = sources.find_map(|(source, columns)| {
            if table.is_some_and(|table| !same(table, source)) {
                return None;
            }
            columns.iter().find(|(column, _)| same(column, name)).map(|(_, kind)| *kind)
        });
        match (found, self.parent) {
            (Some(kind), _) => kind,
            (None, Some(parent)) => parent.kind(table, name),
            (None, None) => Kind::Unknown,
        }
    }
}

/// Writes one statement in SQLite's dialect.
pub(super) struct Writer<'c> {
    pub(super) catalog: &'c dyn Catalog,
    ctes: Vec<(String, Vec<Named>)>,
    /// The names of all queries that stood after WITH so far, in sight or not.
    named: Vec<String>,
}

impl<'c> Writer<'c> {
    fn new(catalog: &'c dyn Catalog) -> Writer<'c> {
        Writer { catalog, ctes: Vec::new(), named: Vec::new() }
    }

    /// Brings a query after WITH into sight.
    fn name(&mut self, alias: &TableAlias, columns: Vec<Named>) {
        self.named.push(alias.name.value.clone());
        self.ctes.push((alias.name.value.clone(), columns));
    }
}

/// The statement in SQLite's dialect.
///
/// # Errors
/// `unsupported`, with the construct that has no form there.
pub fn to_sqlite(statement: &Statement, catalog: &dyn Catalog) -> Result<String, Failure> {
    let Statement::Query(query) = statement else {
        return Err(Failure::invalid("a query expected: SELECT .."));
    };
    let mut query = query.clone();
    let mut writer = Writer::new(catalog);
    writer.query(&mut query, None)?;
    Ok(query.to_string())
}

impl Writer<'_> {
    /// Writes a query; gives its columns.
    pub(super) fn query(&mut self, query: &mut Query, parent: Option<&Names<'_>>) -> Result<Vec<Named>, Failure> {
        let known = self.ctes.len();
        if let Some(with) = &mut query.with {
            for cte in &mut with.cte_tables {
                self.cte(cte, with.recursive)?;
            }
        }
        let order = query.order_by.as_mut().map(|order| order.exprs.as_mut_slice());
        let columns = self.body(&mut query.body, order.unwrap_or_default(), parent)?;
        self.ctes.truncate(known);
        if let Some(fetch) = query.fetch.take() {
            query.limit = fetch.quantity;
        }
        if let Some(offset) = &mut query.offset {
            offset.rows = sqlparser::ast::OffsetRows::None;
            if query.limit.is_none() {
                query.limit = Some(emit::number(-1));
            }
        }
        Ok(columns)
    }

    fn cte(&mut self, cte: &mut Cte, recursive: bool) -> Result<(), Failure> {
        if recursive {
            return self.recursive(cte);
        }
        let mut columns = self.query(&mut cte.query, None)?;
        rename(&mut columns, &cte.alias);
        quote_alias(&mut cte.alias);
        self.name(&cte.alias, columns);
        Ok(())
    }

    /// A query that may read itself: what its first branch gives says what it is.
    fn recursive(&mut self, cte: &mut Cte) -> Result<(), Failure> {
        let mut first = match &*cte.query.body {
            SetExpr::SetOperation { left, .. } => SetExpr::clone(left),
            other => other.clone(),
        };
        let mut columns = self.body(&mut first, &mut [], None)?;
        rename(&mut columns, &cte.alias);
        self.name(&cte.alias, columns);
        self.query(&mut cte.query, None)?;
        quote_alias(&mut cte.alias);
        Ok(())
    }

    fn body(
        &mut self,
        body: &mut SetExpr,
        order: &mut [OrderByExpr],
        parent: Option<&Names<'_>>,
    ) -> Result<Vec<Named>, Failure> {
        match body {
            SetExpr::Select(select) => self.select(select, order, parent),
            SetExpr::Query(query) => {
                let columns = self.query(query, parent)?;
                order.iter_mut().for_each(order_nulls);
                unparenthesized(body);
                Ok(columns)
            }
            SetExpr::SetOperation { op, set_quantifier, left, right } => {
                if *op != SetOperator::Union && *set_quantifier == SetQuantifier::All {
                    return Err(Failure::unsupported(format!("{op} ALL in SQLite")));
                }
                let columns = self.body(left, &mut [], parent)?;
                self.body(right, &mut [], parent)?;
                order.iter_mut().for_each(order_nulls);
                // SQLite combines strictly from left to right.
                if matches!(**right, SetExpr::SetOperation { .. }) {
                    unparenthesized(right);
                }
                Ok(columns)
            }
            _ => Err(Failure::unsupported("a query that is no SELECT")),
        }
    }

    fn select(
        &mut self,
        select: &mut Select,
        order: &mut [OrderByExpr],
        parent: Option<&Names<'_>>,
    ) -> Result<Vec<Named>, Failure> {
        // SQLite has the clause that the lint refuses.
        let mut windows = std::mem::take(&mut select.named_window);
        crate::lint::select(select)?;
        if matches!(select.distinct, Some(Distinct::On(_))) {
            return Err(Failure::unsupported("DISTINCT ON"));
        }
        let mut names = Names { sources: Vec::new(), parent };
        for (place, tree) in select.from.iter_mut().enumerate() {
            if place > 0 {
                parenthesized(tree);
            }
            self.tree(tree, &mut names)?;
        }
        let columns = self.projection(&mut select.projection, &names)?;
        self.named_windows(&mut windows, &names)?;
        select.named_window = windows;
        for expr in select.selection.iter_mut().chain(&mut select.having) {
            self.expr(expr, &names)?;
        }
        if let GroupByExpr::Expressions(keys, _) = &mut select.group_by {
            for key in keys {
                self.expr(key, &names)?;
            }
        }
        for key in order {
            self.expr(&mut key.expr, &names)?;
            order_nulls(key);
        }
        Ok(columns)
    }

    fn projection(&mut self, items: &mut [SelectItem], names: &Names<'_>) -> Result<Vec<Named>, Failure> {
        let mut columns = Vec::new();
        for item in items {
            match item {
                SelectItem::Wildcard(_) => {
                    let all = names.sources.iter().flat_map(|(_, columns)| columns);
                    columns.extend(all.cloned());
                }
                SelectItem::QualifiedWildcard(table, _) => {
                    unqualified(table);
                    let last = table.0.last().map(|name| name.value.clone()).unwrap_or_default();
                    let source = names.sources.iter().find(|(source, _)| same(source, &last));
                    columns.extend(source.into_iter().flat_map(|(_, columns)| columns).cloned());
                }
                SelectItem::UnnamedExpr(expr) => {
                    let name = match &*expr {
                        Expr::Identifier(name) => name.value.clone(),
                        Expr::CompoundIdentifier(parts) => {
                            parts.last().map(|name| name.value.clone()).unwrap_or_default()
                        }
                        other => other.to_string(),
                    };
                    columns.push((name, self.kind(expr, names)));
                    self.expr(expr, names)?;
                }
                SelectItem::ExprWithAlias { expr, alias } => {
                    columns.push((alias.value.clone(), self.kind(expr, names)));
                    self.expr(expr, names)?;
                    quote(alias);
                }
            }
        }
        Ok(columns)
    }

    fn tree(&mut self, tree: &mut TableWithJoins, names: &mut Names<'_>) -> Result<(), Failure> {
        self.factor(&mut tree.relation, names)?;
        for join in &mut tree.joins {
            self.factor(&mut join.relation, names)?;
            let constraint = match &mut join.join_operator {
                JoinOperator::Inner(constraint)
                | JoinOperator::LeftOuter(constraint)
                | JoinOperator::RightOuter(constraint)
                | JoinOperator::FullOuter(constraint) => constraint,
                JoinOperator::CrossJoin => continue,
                _ => return Err(Failure::unsupported("this kind of join")),
            };
            match constraint {
                JoinConstraint::On(condition) => self.expr(condition, names)?,
                JoinConstraint::Using(columns) => columns.iter_mut().for_each(quote),
                JoinConstraint::Natural | JoinConstraint::None => {}
            }
        }
        Ok(())
    }

    fn factor(&mut self, factor: &mut TableFactor, names: &mut Names<'_>) -> Result<(), Failure> {
        match factor {
            TableFactor::Table { name, alias, args: None, .. } => {
                unqualified(name);
                let table = name.0.last().map(|name| name.value.clone()).unwrap_or_default();
                let cte = self.ctes.iter().rev().find(|(cte, _)| same(cte, &table));
                let mut columns = match (cte, self.catalog.table(&table)) {
                    (Some((_, columns)), _) => columns.clone(),
                    (None, Some(schema)) => {
                        let columns = schema.columns.iter();
                        columns.map(|column| (column.name.clone(), column.kind)).collect()
                    }
                    (None, None) => return Err(Failure::unknown(format!("no table {table}"))),
                };
                let mut called = table;
                if let Some(alias) = alias {
                    if !alias.columns.is_empty() {
                        return Err(Failure::unsupported("a list of column aliases"));
                    }
                    rename(&mut columns, alias);
                    quote_alias(alias);
                    called.clone_from(&alias.name.value);
                }
                names.sources.push((called, columns));
                Ok(())
            }
            TableFactor::Derived { lateral: false, subquery, alias } => {
                let columns = self.query(subquery, names.parent)?;
                let mut called = String::new();
                if let Some(alias) = alias {
                    if !alias.columns.is_empty() {
                        return Err(Failure::unsupported("a list of column aliases"));
                    }
                    quote_alias(alias);
                    called.clone_from(&alias.name.value);
                }
                names.sources.push((called, columns));
                Ok(())
            }
            TableFactor::NestedJoin { table_with_joins, alias: None } => self.tree(table_with_joins, names),
            _ => Err(Failure::unsupported("a source of this form in FROM")),
        }
    }
}

/// A body in parentheses, as `SELECT * FROM (body)`: SQLite takes none where a SELECT stands.
fn unparenthesized(body: &mut SetExpr) {
    let inside = match std::mem::replace(
        body,
        SetExpr::Values(sqlparser::ast::Values { explicit_row: false, rows: Vec::new() }),
    ) {
        SetExpr::Query(query) => *query,
        other => {
            let mut query = query_of(select(Vec::new(), Vec::new(), None));
            query.body = Box::new(other);
            query
        }
    };
    let source = TableFactor::Derived { lateral: false, subquery: Box::new(inside), alias: None };
    let from = vec![TableWithJoins { relation: source, joins: Vec::new() }];
    let star = SelectItem::Wildcard(sqlparser::ast::WildcardAdditionalOptions::default());
    *body = SetExpr::Select(Box::new(select(vec![star], from, None)));
}

/// A tree of joins behind a comma in parentheses, where it matters: SQLite takes a comma for a
/// JOIN, and what stands before it for the left side of a RIGHT JOIN.
fn parenthesized(tree: &mut TableWithJoins) {
    if tree.joins.iter().any(|join| matches!(join.join_operator, JoinOperator::RightOuter(_))) {
        let inside = TableWithJoins { relation: tree.relation.clone(), joins: std::mem::take(&mut tree.joins) };
        tree.relation = TableFactor::NestedJoin { table_with_joins: Box::new(inside), alias: None };
    }
}

/// NULL comes last in ascending order and first in descending, as in PostgreSQL.
fn order_nulls(key: &mut OrderByExpr) {
    let ascending = key.asc.unwrap_or(true);
    key.nulls_first.get_or_insert(!ascending);
}

fn rename(columns: &mut [Named], alias: &TableAlias) {
    for ((name, _), alias) in columns.iter_mut().zip(&alias.columns) {
        name.clone_from(&alias.value);
    }
}

/// A name in quotes: SQLite reserves words that others do not.
pub(super) fn quote(name: &mut Ident) {
    name.quote_style = Some('"');
}

fn quote_alias(alias: &mut TableAlias) {
    quote(&mut alias.name);
    alias.columns.iter_mut().for_each(quote);
}

/// The name without its schema, in quotes.
fn unqualified(name: &mut ObjectName) {
    let last = name.0.len().saturating_sub(1);
    name.0.drain(..last);
    name.0.iter_mut().for_each(quote);
}

/// A literal of SQLite.
pub(super) fn text(text: &str) -> Expr {
    Expr::Value(Literal::SingleQuotedString(text.to_owned()))
}
