//! Clauses that the engine would drop without a word, and those that it lacks: refused by name.

use sqlparser::ast::{GroupByExpr, Query, Select, SelectItem, WildcardAdditionalOptions};
use tribunal_protocol::Failure;

fn refuse(clauses: &[(bool, &str)]) -> Result<(), Failure> {
    match clauses.iter().find(|(there, _)| *there) {
        Some((_, name)) => Err(Failure::unsupported(*name)),
        None => Ok(()),
    }
}

/// That a construct runs on the other engine alone.
pub fn second_engine(what: &str) -> Failure {
    Failure::unsupported(format!("{what}; it runs on schemas with engine = \"sqlite\""))
}

/// Refuses clauses around a SELECT.
///
/// # Errors
/// `unsupported`.
pub fn query(query: &Query) -> Result<(), Failure> {
    let Query {
        with: _,
        body: _,
        order_by,
        limit: _,
        limit_by,
        offset: _,
        fetch,
        locks,
        for_clause,
        settings,
        format_clause,
    } = query;
    refuse(&[
        (!limit_by.is_empty(), "LIMIT BY"),
        (fetch.as_ref().is_some_and(|fetch| fetch.with_ties), "FETCH .. WITH TIES"),
        (fetch.as_ref().is_some_and(|fetch| fetch.percent), "FETCH .. PERCENT"),
        (!locks.is_empty(), "FOR UPDATE"),
        (for_clause.is_some(), "FOR XML, JSON or BROWSE"),
        (settings.is_some(), "SETTINGS"),
        (format_clause.is_some(), "FORMAT"),
        (order_by.as_ref().is_some_and(|order| order.interpolate.is_some()), "INTERPOLATE"),
        (order_by.as_ref().is_some_and(|order| order.exprs.iter().any(|key| key.with_fill.is_some())), "WITH FILL"),
    ])
}

/// Refuses clauses of a SELECT.
///
/// # Errors
/// `unsupported`.
pub fn select(select: &Select) -> Result<(), Failure> {
    let Select {
        distinct: _,
        top,
        top_before_distinct: _,
        projection,
        into,
        from: _,
        lateral_views,
        prewhere,
        selection: _,
        group_by,
        cluster_by,
        distribute_by,
        sort_by,
        having: _,
        named_window,
        qualify,
        window_before_qualify: _,
        value_table_mode,
        connect_by,
    } = select;
    let modifiers = match group_by {
        GroupByExpr::All(_) => return Err(Failure::unsupported("GROUP BY ALL")),
        GroupByExpr::Expressions(_, modifiers) => modifiers,
    };
    if !named_window.is_empty() {
        return Err(second_engine("WINDOW"));
    }
    refuse(&[
        (top.is_some(), "TOP"),
        (into.is_some(), "SELECT INTO"),
        (!lateral_views.is_empty(), "LATERAL VIEW"),
        (prewhere.is_some(), "PREWHERE"),
        (!modifiers.is_empty(), "GROUP BY WITH ROLLUP, CUBE or TOTALS"),
        (!cluster_by.is_empty(), "CLUSTER BY"),
        (!distribute_by.is_empty(), "DISTRIBUTE BY"),
        (!sort_by.is_empty(), "SORT BY"),
        (qualify.is_some(), "QUALIFY"),
        (value_table_mode.is_some(), "SELECT AS STRUCT or VALUE"),
        (connect_by.is_some(), "CONNECT BY"),
        (projection.iter().any(changed_star), "* EXCLUDE, REPLACE or RENAME"),
    ])
}

fn changed_star(item: &SelectItem) -> bool {
    match item {
        SelectItem::Wildcard(options) | SelectItem::QualifiedWildcard(_, options) => {
            *options != WildcardAdditionalOptions::default()
        }
        SelectItem::UnnamedExpr(_) | SelectItem::ExprWithAlias { .. } => false,
    }
}
