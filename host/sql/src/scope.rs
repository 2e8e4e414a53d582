//! Which names mean what: the sources of one FROM, inside those of the queries around it.

use sqlparser::ast::Expr;
use tribunal_protocol::{Failure, Kind};

use crate::emit;
use crate::types::Typed;

/// A column of a source, and where the engine has it.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its name in the statement.
    pub name: String,
    /// Its kind.
    pub kind: Kind,
    /// Whether it may be NULL here.
    pub nullable: bool,
    /// The engine's alias of its source.
    pub alias: String,
    /// The engine's name of the column in that source.
    pub source: String,
    /// Whether USING or NATURAL made one column of it and another.
    pub merged: bool,
}

impl Column {
    /// The column as an expression.
    pub fn typed(&self) -> Typed {
        Typed::new(emit::column(&self.alias, &self.source), self.kind, self.nullable)
    }
}

/// A source: a table, or a derived table.
#[derive(Clone, Debug)]
pub struct Relation {
    /// The name by which the statement calls it.
    pub name: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// The places of the columns of its primary key; empty where there is none.
    pub key: Vec<usize>,
}

/// The sources of one query, and those of the queries around it.
#[derive(Debug, Default)]
pub struct Scope<'p> {
    /// The sources, in order.
    pub relations: Vec<Relation>,
    /// The columns that USING or NATURAL made, by name.
    pub merged: Vec<(String, Typed)>,
    /// The query around.
    pub parent: Option<&'p Scope<'p>>,
}

impl<'p> Scope<'p> {
    /// An empty scope inside another.
    pub fn inside(parent: Option<&'p Scope<'p>>) -> Scope<'p> {
        Scope { parent, ..Scope::default() }
    }

    /// The column of that name in this query alone; none where there is none.
    ///
    /// # Errors
    /// `invalid` where two sources have it.
    pub fn own(&self, name: &str) -> Result<Option<Typed>, Failure> {
        if let Some((_, typed)) = self.merged.iter().find(|(merged, _)| same(merged, name)) {
            return Ok(Some(typed.clone()));
        }
        let mut found =
            self.relations.iter().flat_map(|relation| &relation.columns).filter(|column| same(&column.name, name));
        match (found.next(), found.next()) {
            (Some(_), Some(_)) => Err(Failure::invalid(format!("column {name} is ambiguous; put its table before it"))),
            (column, _) => Ok(column.map(Column::typed)),
        }
    }

    /// The column that a name without a table means, here or in the queries around.
    ///
    /// # Errors
    /// `invalid` where it is ambiguous.
    pub fn column(&self, name: &str) -> Result<Option<Typed>, Failure> {
        match (self.own(name)?, self.parent) {
            (Some(typed), _) => Ok(Some(typed)),
            (None, Some(parent)) => parent.column(name),
            (None, None) => Ok(None),
        }
    }

    /// The column of a table, here or in the queries around.
    ///
    /// # Errors
    /// `unknown` where the table or the column is not there.
    pub fn column_of(&self, table: &str, name: &str) -> Result<Typed, Failure> {
        let Some(relation) = self.relation(table) else {
            return match self.parent {
                Some(parent) => parent.column_of(table, name),
                None => Err(Failure::unknown(format!("no table {table} in this FROM"))),
            };
        };
        let mut found = relation.columns.iter().filter(|column| same(&column.name, name));
        match (found.next(), found.next()) {
            (Some(column), None) => Ok(column.typed()),
            (Some(_), Some(_)) => Err(Failure::invalid(format!("column {table}.{name} is ambiguous"))),
            (None, _) => {
                let names = relation.columns.iter().map(|column| column.name.as_str());
                Err(no_column(&format!("{table}.{name}"), &near(name, names)))
            }
        }
    }

    /// A source of this query, by name.
    pub fn relation(&self, name: &str) -> Option<&Relation> {
        self.relations.iter().find(|relation| same(&relation.name, name))
    }

    /// That nothing has this name, with the names that are near.
    pub fn unknown(&self, name: &str) -> Failure {
        let mut names = Vec::new();
        let mut scope = Some(self);
        while let Some(current) = scope {
            let columns = current.relations.iter().flat_map(|relation| &relation.columns);
            names.extend(columns.map(|column| column.name.as_str()));
            scope = current.parent;
        }
        no_column(name, &near(name, names.into_iter()))
    }

    /// The column that the engine has there.
    pub fn located(&self, alias: &str, source: &str) -> Option<&Column> {
        self.relations
            .iter()
            .flat_map(|relation| &relation.columns)
            .find(|column| column.alias == alias && column.source == source)
    }

    /// Whether the engine's alias is one of this query's sources.
    pub fn has(&self, alias: &str) -> bool {
        self.relations.iter().any(|relation| relation.columns.iter().any(|column| column.alias == alias))
    }

    /// Whether the engine's alias is one of this query's sources, or of a query's around it.
    pub fn reaches(&self, alias: &str) -> bool {
        self.has(alias) || self.parent.is_some_and(|parent| parent.reaches(alias))
    }

    /// Every column of this query, as `*` gives them: merged columns first.
    pub fn star(&self) -> Vec<(String, Typed)> {
        let columns = self
            .relations
            .iter()
            .flat_map(|relation| &relation.columns)
            .filter(|column| !column.merged)
            .map(|column| (column.name.clone(), column.typed()));
        self.merged.iter().cloned().chain(columns).collect()
    }

    /// Moves every column into one source, which has them in this order under these names.
    pub fn move_into(&mut self, alias: &str, names: &[String]) {
        let mut moved: Vec<(Expr, Expr)> = Vec::new();
        let columns = self.relations.iter_mut().flat_map(|relation| &mut relation.columns);
        for (column, name) in columns.zip(names) {
            let before = emit::column(&column.alias, &column.source);
            alias.clone_into(&mut column.alias);
            column.source.clone_from(name);
            moved.push((before, emit::column(alias, name)));
        }
        for (_, typed) in &mut self.merged {
            let before = typed.clone().expr();
            if let Some((_, after)) = moved.iter().find(|(old, _)| *old == before) {
                *typed = Typed::new(after.clone(), typed.kind, typed.nullable);
            }
        }
    }

    /// Says that every column here may be NULL from now on.
    pub fn make_nullable(&mut self) {
        for relation in &mut self.relations {
            for column in &mut relation.columns {
                column.nullable = true;
            }
        }
        for (_, typed) in &mut self.merged {
            typed.nullable = true;
        }
    }
}

/// Whether two names are the same: case is ignored.
pub fn same(left: &str, right: &str) -> bool {
    left.eq_ignore_ascii_case(right) || left.to_lowercase() == right.to_lowercase()
}

fn no_column(name: &str, near: &[&str]) -> Failure {
    Failure::unknown(match near {
        [] => format!("no column {name}"),
        near => format!("no column {name}; there is {}", near.join(", ")),
    })
}

/// Up to three of the names that are like `wanted`: one inside the other, or at most two edits
/// apart.
fn near<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted = wanted.to_lowercase();
    let mut found: Vec<(usize, &str)> = Vec::new();
    for name in names {
        let lower = name.to_lowercase();
        let inside = wanted.len() > 2 && (lower.contains(&wanted) || wanted.contains(&lower));
        let distance = edits(&wanted, &lower);
        if (distance <= 2 || inside) && !found.iter().any(|(_, other)| *other == name) {
            found.push((distance, name));
        }
    }
    found.sort();
    found.into_iter().take(3).map(|(_, name)| name).collect()
}

/// How many characters must be inserted, dropped or replaced to make one text of the other
/// (Levenshtein's distance).
fn edits(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.chars().enumerate() {
        let mut corner = i;
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
        let mut before = i + 1;
        for (cell, b) in row.iter_mut().skip(1).zip(&right) {
            let replaced = corner + usize::from(a != *b);
            corner = *cell;
            *cell = replaced.min(before + 1).min(*cell + 1);
            before = *cell;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_counted_as_by_hand() {
        for (left, right, distance) in [("", "", 0), ("abc", "", 3), ("kitten", "sitting", 3), ("flaw", "lawn", 2)] {
            assert_eq!(edits(left, right), distance, "{left} {right}");
        }
    }

    #[test]
    fn near_names_are_near() {
        let names = ["customer_id", "total", "custom", "city"];
        assert_eq!(near("custmer_id", names.into_iter()), ["customer_id"]);
        assert!(near("zzz", names.into_iter()).is_empty());
    }
}
