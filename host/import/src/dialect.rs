//! From SQLite's dialect to ours, where the same words mean something else in each.
//!
//! - Where NULL stands in an order that does not say: SQLite holds NULL for the smallest value;
//!   our dialect is PostgreSQL's, which holds it for the greatest. The gold's meaning is written
//!   out.
//! - LIKE ignores the case of ASCII letters in SQLite. That is written out as ILIKE only where it
//!   matters on the data at hand (see [`crate::trial`]), for most gold lowers both sides itself.

use std::convert::Infallible;
use std::ops::ControlFlow;

use tribunal_sql::ast::{Expr, Query, Statement, VisitMut, VisitorMut};
use tribunal_sql::parse_query;

/// The query for our engine; as it stands where nothing needs to be written out, or where it
/// cannot be parsed (the engine will say why).
pub(crate) fn for_ours(sql: &str) -> String {
    rewritten(sql, &mut NullOrder { changed: false }).unwrap_or_else(|| sql.to_owned())
}

/// The query with ILIKE for LIKE; none where it has no LIKE.
pub(crate) fn ignoring_case(sql: &str) -> Option<String> {
    rewritten(sql, &mut IgnoreCase { changed: false })
}

/// A rewriting that knows whether it changed anything. It goes through the whole statement: a
/// rewriting that broke off would leave half of the query in another dialect.
trait Rewriting: VisitorMut<Break = Infallible> {
    fn changed(&self) -> bool;
}

fn rewritten(sql: &str, rewriting: &mut impl Rewriting) -> Option<String> {
    let mut statement: Statement = parse_query(sql).ok()?;
    let ControlFlow::Continue(()) = statement.visit(rewriting);
    rewriting.changed().then(|| statement.to_string())
}

struct NullOrder {
    changed: bool,
}

impl VisitorMut for NullOrder {
    type Break = Infallible;

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<Infallible> {
        for key in query.order_by.iter_mut().flat_map(|order| &mut order.exprs) {
            if key.nulls_first.is_none() {
                key.nulls_first = Some(key.asc != Some(false));
                self.changed = true;
            }
        }
        ControlFlow::Continue(())
    }
}

impl Rewriting for NullOrder {
    fn changed(&self) -> bool {
        self.changed
    }
}

struct IgnoreCase {
    changed: bool,
}

impl VisitorMut for IgnoreCase {
    type Break = Infallible;

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Infallible> {
        if let Expr::Like { negated, any, expr: value, pattern, escape_char } = expr {
            *expr = Expr::ILike {
                negated: *negated,
                any: *any,
                expr: value.clone(),
                pattern: pattern.clone(),
                escape_char: escape_char.clone(),
            };
            self.changed = true;
        }
        ControlFlow::Continue(())
    }
}

impl Rewriting for IgnoreCase {
    fn changed(&self) -> bool {
        self.changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_of_null_is_written_out_where_it_is_not() {
        for (sql, expected) in [
            ("SELECT a FROM t ORDER BY a", "SELECT a FROM t ORDER BY a NULLS FIRST"),
            (
                "SELECT a FROM t ORDER BY a DESC, b NULLS LAST",
                "SELECT a FROM t ORDER BY a DESC NULLS LAST, b NULLS LAST",
            ),
            (
                "SELECT (SELECT b FROM u ORDER BY b LIMIT 1) FROM t",
                "SELECT (SELECT b FROM u ORDER BY b NULLS FIRST LIMIT 1) FROM t",
            ),
            ("SELECT  a  FROM t", "SELECT  a  FROM t"),
            ("SELECT FROM WHERE", "SELECT FROM WHERE"),
        ] {
            assert_eq!(for_ours(sql), expected);
        }
    }

    #[test]
    fn like_becomes_ilike_everywhere() {
        let sql = "SELECT a FROM t WHERE a LIKE 'x%' AND NOT b IN (SELECT c FROM u WHERE c NOT LIKE '_')";
        let expected = "SELECT a FROM t WHERE a ILIKE 'x%' AND NOT b IN (SELECT c FROM u WHERE c NOT ILIKE '_')";
        assert_eq!(ignoring_case(sql).as_deref(), Some(expected));
        assert_eq!(ignoring_case("SELECT 'LIKE'"), None);
    }
}
