//! What may stand beside aggregates: the engine takes any row's value of a column that is not
//! grouped by; SQL refuses it.

use sqlparser::ast::Expr;
use tribunal_protocol::Failure;

use crate::scope::Scope;
use crate::walk;

/// The groups of a query.
pub struct Groups<'a> {
    /// What it groups by.
    pub keys: &'a [Expr],
    /// Its sources.
    pub scope: &'a Scope<'a>,
}

impl Groups<'_> {
    /// Checks that an expression has one value in a group.
    ///
    /// # Errors
    /// `invalid`, naming a column that has more than one.
    pub fn check(&self, expr: &Expr) -> Result<(), Failure> {
        if self.keys.contains(expr) || is_aggregate(expr) {
            return Ok(());
        }
        let mut wrong = None;
        if let Expr::CompoundIdentifier(parts) = expr
            && let [alias, name] = parts.as_slice()
        {
            self.column(&alias.value, &name.value)?;
        }
        if let Some(query) = walk::subquery(expr) {
            walk::columns(query, &mut |alias, name| {
                if let Err(failure) = self.column(alias, name) {
                    wrong.get_or_insert(failure);
                }
            });
        }
        walk::children(expr, &mut |child| {
            if wrong.is_none()
                && let Err(failure) = self.check(child)
            {
                wrong = Some(failure);
            }
        });
        wrong.map_or(Ok(()), Err)
    }

    fn column(&self, alias: &str, name: &str) -> Result<(), Failure> {
        let Some(column) = self.scope.located(alias, name) else {
            return Ok(());
        };
        let key = |alias: &str, name: &str| self.keys.contains(&crate::emit::column(alias, name));
        if key(alias, name) || self.follows(alias, name, &key) {
            return Ok(());
        }
        Err(Failure::invalid(format!("column {} must be in GROUP BY or inside an aggregate", column.name)))
    }

    /// Whether the primary key of the column's table is grouped by: then all else follows.
    fn follows(&self, alias: &str, name: &str, key: &dyn Fn(&str, &str) -> bool) -> bool {
        let relation = self.scope.relations.iter().find(|relation| {
            let mut columns = relation.columns.iter();
            columns.any(|column| column.alias == alias && column.source == name)
        });
        let Some(relation) = relation.filter(|relation| !relation.key.is_empty()) else {
            return false;
        };
        relation
            .key
            .iter()
            .filter_map(|place| relation.columns.get(*place))
            .all(|column| key(&column.alias, &column.source))
    }
}

/// Whether an expression is a call of an aggregate of the engine.
pub fn is_aggregate(expr: &Expr) -> bool {
    match expr {
        Expr::Function(function) => {
            matches!(
                function.name.0.first().map(|name| name.value.as_str()),
                Some("COUNT" | "SUM" | "MIN" | "MAX" | "AVG")
            )
        }
        _ => false,
    }
}

/// Whether an aggregate of the engine is in an expression.
pub fn has_aggregate(expr: &Expr) -> bool {
    let mut found = is_aggregate(expr);
    walk::children(expr, &mut |child| found |= has_aggregate(child));
    found
}
