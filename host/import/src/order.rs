//! How gold orders and cuts its rows: which columns are the keys, and the same query without its
//! cut and with every key in sight, so that ties at the cut can be seen.

use tribunal_protocol::Failure;
use tribunal_sql::ast::{Distinct, Expr, Ident, OrderByExpr, Query, SelectItem, SetExpr, Statement, Value as Literal};
use tribunal_sql::parse_query;

/// Where an order key stands in the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The output column at this place.
    Output(usize),
    /// The output column of this name: only the result says where it is (`SELECT *`).
    Named(String),
    /// Not in the result; in [`Arrangement::whole`] it is this far behind the result's columns.
    Hidden(usize),
}

/// One order key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    /// Where it stands.
    pub place: Place,
    /// Whether larger values come first.
    pub descending: bool,
    /// Whether NULL comes first.
    pub nulls_first: bool,
}

/// How a query orders and cuts its rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Arrangement {
    /// The keys, in order.
    pub keys: Vec<Key>,
    /// How many rows it keeps.
    pub limit: Option<u64>,
    /// How many it passes over before.
    pub offset: u64,
    /// The query without its cut, hidden keys appended to its columns; none where a key that is
    /// hidden cannot be shown.
    pub whole: Option<String>,
}

impl Arrangement {
    /// Reads the arrangement of a query.
    ///
    /// # Errors
    /// Where it cannot be parsed, or its cut is no constant.
    pub fn of(sql: &str) -> Result<Arrangement, Failure> {
        let Statement::Query(query) = parse_query(sql)? else {
            return Err(Failure::invalid("a query expected: SELECT .."));
        };
        arrangement(&query)
    }
}

fn arrangement(query: &Query) -> Result<Arrangement, Failure> {
    let constant = |expr: &Expr| match expr {
        Expr::Value(Literal::Number(number, _)) => number.to_string().parse::<u64>().ok(),
        _ => None,
    };
    let cut = || Failure::unsupported("LIMIT or OFFSET that is no whole number");
    let limit = query.limit.as_ref().map(|expr| constant(expr).ok_or_else(cut)).transpose()?;
    let offset = query.offset.as_ref().map(|offset| constant(&offset.value).ok_or_else(cut));
    let offset = offset.transpose()?.unwrap_or(0);
    let order: &[OrderByExpr] = query.order_by.as_ref().map_or(&[], |order| &order.exprs);
    let outputs = outputs(&query.body);
    let mut hidden = Vec::new();
    let mut keys = Vec::with_capacity(order.len());
    for by in order {
        let place = place(&by.expr, outputs).unwrap_or_else(|| {
            hidden.push(by.expr.clone());
            Place::Hidden(hidden.len() - 1)
        });
        let descending = by.asc == Some(false);
        // SQLite's rule: NULL is smaller than everything.
        let nulls_first = by.nulls_first.unwrap_or(!descending);
        keys.push(Key { place, descending, nulls_first });
    }
    Ok(Arrangement { keys, limit, offset, whole: whole(query, hidden) })
}

fn outputs(body: &SetExpr) -> &[SelectItem] {
    match body {
        SetExpr::Select(select) => &select.projection,
        // The names of a compound are those of its first part.
        SetExpr::SetOperation { left, .. } => outputs(left),
        SetExpr::Query(query) => outputs(&query.body),
        _ => &[],
    }
}

/// Where an order expression stands in the result, as SQLite resolves it: a whole number is a
/// place, a name is first an alias, and any expression may be one of the result's.
fn place(by: &Expr, outputs: &[SelectItem]) -> Option<Place> {
    if let Expr::Value(Literal::Number(number, _)) = by {
        let number: usize = number.to_string().parse().ok()?;
        return number.checked_sub(1).map(Place::Output);
    }
    let name = match by {
        Expr::Identifier(name) => Some(name),
        Expr::CompoundIdentifier(parts) => parts.last(),
        _ => None,
    };
    let is_bare = matches!(by, Expr::Identifier(_));
    let wildcard =
        outputs.iter().any(|item| matches!(item, SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..)));
    if wildcard {
        return name.map(|name| Place::Named(name.value.clone()));
    }
    let same_name = |a: &Ident| name.is_some_and(|b| a.value.eq_ignore_ascii_case(&b.value));
    let alias = outputs.iter().position(|item| match item {
        SelectItem::ExprWithAlias { alias, .. } => is_bare && same_name(alias),
        _ => false,
    });
    let same = |expr: &Expr| match expr {
        // `ORDER BY name` beside `SELECT t.name`, and the other way round.
        Expr::Identifier(column) => same_name(column),
        Expr::CompoundIdentifier(parts) if is_bare => parts.last().is_some_and(same_name),
        _ => expr.to_string().eq_ignore_ascii_case(&by.to_string()),
    };
    let found = alias.or_else(|| {
        outputs.iter().position(|item| match item {
            SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => same(expr),
            _ => false,
        })
    });
    found.map(Place::Output)
}

/// The query without its cut and with hidden keys in sight.
fn whole(query: &Query, hidden: Vec<Expr>) -> Option<String> {
    let mut query = query.clone();
    query.limit = None;
    query.offset = None;
    if !hidden.is_empty() {
        let SetExpr::Select(select) = query.body.as_mut() else {
            return None;
        };
        if matches!(select.distinct, Some(Distinct::Distinct | Distinct::On(_))) {
            return None;
        }
        let items = hidden
            .into_iter()
            .enumerate()
            .map(|(index, expr)| SelectItem::ExprWithAlias { expr, alias: Ident::new(format!("order_key_{index}")) });
        select.projection.extend(items);
    }
    Some(query.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(sql: &str) -> Vec<Place> {
        let keys = Arrangement::of(sql).unwrap().keys;
        keys.into_iter().map(|key| key.place).collect()
    }

    #[test]
    fn keys_are_found_where_sqlite_finds_them() {
        use Place::{Hidden, Named, Output};
        for (sql, expected) in [
            ("SELECT t.a, COUNT(*) AS n FROM t GROUP BY t.a ORDER BY n DESC, a", vec![Output(1), Output(0)]),
            ("SELECT a, b FROM t ORDER BY 2, 1", vec![Output(1), Output(0)]),
            ("SELECT a FROM t ORDER BY t.b, t.a", vec![Hidden(0), Output(0)]),
            ("SELECT a, COUNT(b) FROM t GROUP BY a ORDER BY count(b)", vec![Output(1)]),
            ("SELECT -a AS a, b FROM t ORDER BY a", vec![Output(0)]),
            ("SELECT * FROM t ORDER BY t.b", vec![Named("b".to_owned())]),
            ("SELECT a FROM t UNION SELECT b FROM u ORDER BY a", vec![Output(0)]),
        ] {
            assert_eq!(places(sql), expected, "{sql}");
        }
    }

    #[test]
    fn nulls_stand_where_sqlite_puts_them() {
        let sql = "SELECT a, b, c, d FROM t ORDER BY a, b DESC, c NULLS LAST, d DESC NULLS FIRST";
        let keys = Arrangement::of(sql).unwrap().keys;
        let first: Vec<bool> = keys.iter().map(|key| key.nulls_first).collect();
        assert_eq!(first, [true, false, false, true]);
    }

    #[test]
    fn the_whole_query_has_no_cut_and_shows_its_keys() {
        let found = Arrangement::of("SELECT a FROM t ORDER BY b DESC LIMIT 3 OFFSET 1").unwrap();
        assert_eq!((found.limit, found.offset), (Some(3), 1));
        let whole = found.whole.unwrap();
        assert_eq!(whole, "SELECT a, b AS order_key_0 FROM t ORDER BY b DESC");
        let distinct = Arrangement::of("SELECT DISTINCT a FROM t ORDER BY b LIMIT 3").unwrap();
        assert_eq!(distinct.whole, None);
        assert!(Arrangement::of("SELECT a FROM t LIMIT 1 + 1").is_err());
    }
}
