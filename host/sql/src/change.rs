//! INSERT, UPDATE and DELETE.

use sqlparser::ast::{
    Assignment, AssignmentTarget, Delete, Expr, FromTable, Ident, Insert, ObjectName, Query, SetExpr, Statement,
    TableFactor, TableWithJoins, Values,
};
use tribunal_protocol::schema::{ColumnSchema, TableSchema};
use tribunal_protocol::{Failure, Value};

use crate::emit;
use crate::rewrite::{Place, Rewriter, coerce};
use crate::scope::{Column, Relation, Scope, same};
use crate::select::{derived, item, query_of, select};
use crate::types::Typed;

impl Rewriter<'_> {
    /// Rewrites a change.
    pub fn change(&mut self, statement: &Statement) -> Result<Statement, Failure> {
        match statement {
            Statement::Insert(insert) => self.insert(insert),
            Statement::Update { table, assignments, from, selection, returning } => {
                if from.is_some() {
                    return Err(Failure::unsupported("UPDATE .. FROM"));
                }
                if returning.is_some() {
                    return Err(Failure::unsupported("RETURNING"));
                }
                self.update(table, assignments, selection.as_ref())
            }
            Statement::Delete(delete) => self.delete(delete),
            _ => Err(Failure::invalid("a change expected: INSERT, UPDATE or DELETE")),
        }
    }

    /// The engine passes over the column list of INSERT .. SELECT: so every column is given, in
    /// the order of the table.
    fn insert(&mut self, insert: &Insert) -> Result<Statement, Failure> {
        lint(insert)?;
        let schema = self.target(&insert.table_name)?;
        let columns = listed(&schema, &insert.columns)?;
        let source = insert.source.as_ref().ok_or_else(|| Failure::unsupported("INSERT .. DEFAULT VALUES"))?;
        let source = match &*source.body {
            SetExpr::Values(values) if source.with.is_none() => self.values(&schema, &columns, values)?,
            _ => self.inserted(&schema, &columns, source)?,
        };
        let mut insert = insert.clone();
        insert.table_name = ObjectName(vec![emit::ident(&schema.name)]);
        insert.columns = schema.columns.iter().map(|column| emit::ident(&column.name)).collect();
        insert.source = Some(Box::new(source));
        Ok(Statement::Insert(insert))
    }

    fn values(&mut self, schema: &TableSchema, columns: &[usize], values: &Values) -> Result<Query, Failure> {
        let scope = Scope::default();
        let mut rows = Vec::with_capacity(values.rows.len());
        for row in &values.rows {
            if row.len() != columns.len() {
                return Err(width(columns.len(), row.len()));
            }
            let mut cells = Vec::with_capacity(row.len());
            for expr in row {
                cells.push(self.value(expr, Place::plain(&scope, "VALUES"))?);
            }
            rows.push(full_row(schema, columns, cells)?);
        }
        let mut query = query_of(select(Vec::new(), Vec::new(), None));
        query.body = Box::new(SetExpr::Values(Values { explicit_row: false, rows }));
        Ok(query)
    }

    fn inserted(&mut self, schema: &TableSchema, columns: &[usize], source: &Query) -> Result<Query, Failure> {
        let selected = self.query(source, None)?;
        if selected.columns.len() != columns.len() {
            return Err(width(columns.len(), selected.columns.len()));
        }
        let alias = self.alias()?;
        let cells = selected
            .columns
            .iter()
            .enumerate()
            .map(|(index, shape)| {
                let column = emit::column(&alias, &selected.label(index));
                Typed::new(column, shape.kind, shape.nullable)
            })
            .collect();
        let items =
            full_row(schema, columns, cells)?.into_iter().enumerate().map(|(index, expr)| item(expr, index)).collect();
        Ok(query_of(select(items, vec![derived(selected.query, &alias)], None)))
    }

    fn update(
        &mut self,
        table: &TableWithJoins,
        assignments: &[Assignment],
        selection: Option<&Expr>,
    ) -> Result<Statement, Failure> {
        let (schema, name) = self.target_of(table)?;
        let scope = Scope { relations: vec![relation(&schema, name)], ..Scope::default() };
        let mut rewritten: Vec<Assignment> = Vec::with_capacity(assignments.len());
        for assignment in assignments {
            let AssignmentTarget::ColumnName(target) = &assignment.target else {
                return Err(Failure::unsupported("SET (a, b) = .."));
            };
            let column = target
                .0
                .last()
                .and_then(|name| find(&schema, &name.value))
                .ok_or_else(|| scope.unknown(&target.to_string()))?;
            let target = AssignmentTarget::ColumnName(ObjectName(vec![emit::ident(&column.name)]));
            if rewritten.iter().any(|other| other.target == target) {
                return Err(Failure::invalid(format!("column {} is set twice", column.name)));
            }
            let value = match &assignment.value {
                Expr::Identifier(name) if name.value.eq_ignore_ascii_case("default") => {
                    return Err(Failure::unsupported("DEFAULT"));
                }
                value => self.value(value, Place::plain(&scope, "SET"))?,
            };
            let value = fitting(value, column)?;
            rewritten.push(Assignment { target, value });
        }
        let selection = self.selection(selection, &scope)?;
        Ok(Statement::Update { table: target(&schema), assignments: rewritten, from: None, selection, returning: None })
    }

    fn delete(&mut self, delete: &Delete) -> Result<Statement, Failure> {
        let Delete { tables, from, using, selection, returning, order_by, limit } = delete;
        let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = from;
        let [table] = from.as_slice() else {
            return Err(Failure::unsupported("DELETE from several tables"));
        };
        for (there, what) in [
            (!tables.is_empty(), "DELETE from several tables"),
            (using.is_some(), "DELETE .. USING"),
            (returning.is_some(), "RETURNING"),
            (!order_by.is_empty(), "DELETE .. ORDER BY"),
            (limit.is_some(), "DELETE .. LIMIT"),
        ] {
            if there {
                return Err(Failure::unsupported(what));
            }
        }
        let (schema, name) = self.target_of(table)?;
        let scope = Scope { relations: vec![relation(&schema, name)], ..Scope::default() };
        let selection = self.selection(selection.as_ref(), &scope)?;
        let mut delete = delete.clone();
        delete.from = FromTable::WithFromKeyword(vec![target(&schema)]);
        delete.selection = selection;
        Ok(Statement::Delete(delete))
    }

    fn selection(&mut self, selection: Option<&Expr>, scope: &Scope<'_>) -> Result<Option<Expr>, Failure> {
        let Some(selection) = selection else {
            return Ok(None);
        };
        let mut filters = Vec::new();
        self.condition(selection, Place::plain(scope, "WHERE"))?.filters(&mut filters);
        Ok((!filters.is_empty()).then(|| emit::all(filters)))
    }

    fn target(&mut self, name: &ObjectName) -> Result<TableSchema, Failure> {
        let table = name.0.last().map(|part| part.value.as_str()).unwrap_or_default();
        let schema = self.catalog.table(table).ok_or_else(|| Failure::unknown(format!("no table {table}")))?;
        self.tables.insert(schema.name.clone());
        Ok(schema.clone())
    }

    fn target_of(&mut self, table: &TableWithJoins) -> Result<(TableSchema, String), Failure> {
        if !table.joins.is_empty() {
            return Err(Failure::unsupported("a change of joined tables"));
        }
        let TableFactor::Table { name, alias, .. } = &table.relation else {
            return Err(Failure::unsupported("a change of anything but a table"));
        };
        let schema = self.target(name)?;
        let name = alias.as_ref().map_or_else(|| schema.name.clone(), |alias| alias.name.value.clone());
        Ok((schema, name))
    }
}

fn lint(insert: &Insert) -> Result<(), Failure> {
    let Insert {
        or,
        ignore,
        into: _,
        table_name: _,
        table_alias,
        columns: _,
        overwrite,
        source: _,
        partitioned,
        after_columns,
        table,
        on,
        returning,
        replace_into,
        priority,
        insert_alias,
    } = insert;
    for (there, what) in [
        (or.is_some() || *ignore, "INSERT OR .."),
        (*replace_into, "REPLACE INTO"),
        (table_alias.is_some() || insert_alias.is_some(), "INSERT with an alias"),
        (*overwrite, "INSERT OVERWRITE"),
        (*table, "INSERT TABLE"),
        (partitioned.is_some() || !after_columns.is_empty(), "PARTITION"),
        (on.is_some(), "ON CONFLICT"),
        (returning.is_some(), "RETURNING"),
        (priority.is_some(), "LOW_PRIORITY or HIGH_PRIORITY"),
    ] {
        if there {
            return Err(Failure::unsupported(what));
        }
    }
    Ok(())
}

fn find<'s>(schema: &'s TableSchema, name: &str) -> Option<&'s ColumnSchema> {
    schema.columns.iter().find(|column| same(&column.name, name))
}

/// The places of the columns that an INSERT gives; all of them where it lists none.
fn listed(schema: &TableSchema, names: &[Ident]) -> Result<Vec<usize>, Failure> {
    if names.is_empty() {
        return Ok((0..schema.columns.len()).collect());
    }
    let mut places = Vec::with_capacity(names.len());
    for name in names {
        let place = schema
            .columns
            .iter()
            .position(|column| same(&column.name, &name.value))
            .ok_or_else(|| Failure::unknown(format!("no column {} in {}", name.value, schema.name)))?;
        if places.contains(&place) {
            return Err(Failure::invalid(format!("column {} is given twice", name.value)));
        }
        places.push(place);
    }
    Ok(places)
}

fn width(expected: usize, given: usize) -> Failure {
    Failure::invalid(format!("{expected} values expected in a row, {given} given"))
}

/// A row of the whole table; columns that are not given are NULL.
fn full_row(schema: &TableSchema, columns: &[usize], cells: Vec<Typed>) -> Result<Vec<Expr>, Failure> {
    let mut given: Vec<Option<Typed>> = vec![None; schema.columns.len()];
    for (place, cell) in columns.iter().zip(cells) {
        if let Some(slot) = given.get_mut(*place) {
            *slot = Some(cell);
        }
    }
    schema
        .columns
        .iter()
        .zip(given)
        .map(|(column, cell)| match cell {
            Some(cell) => fitting(cell, column),
            None if column.nullable => Ok(emit::null()),
            None => Err(Failure::invalid(format!("column {} cannot be NULL and is not given", column.name))),
        })
        .collect()
}

/// A value for a column: one of its kind, or one that becomes it without loss.
fn fitting(value: Typed, column: &ColumnSchema) -> Result<Expr, Failure> {
    if value.is_null() && !column.nullable {
        return Err(Failure::invalid(format!("column {} cannot be NULL", column.name)));
    }
    let value = coerce(value, column.kind)
        .map_err(|failure| Failure::new(failure.code, format!("column {}: {}", column.name, failure.message)))?;
    Ok(match value.value() {
        // In VALUES the engine reads a literal as the column's type by itself.
        Some(Value::Null) => emit::null(),
        _ => value.expr(),
    })
}

fn relation(schema: &TableSchema, name: String) -> Relation {
    let columns = schema.columns.iter().map(|column| Column {
        name: column.name.clone(),
        kind: column.kind,
        nullable: column.nullable,
        alias: schema.name.clone(),
        source: column.name.clone(),
        merged: false,
    });
    Relation { name, columns: columns.collect(), key: Vec::new() }
}

fn target(schema: &TableSchema) -> TableWithJoins {
    TableWithJoins {
        relation: TableFactor::Table {
            name: ObjectName(vec![emit::ident(&schema.name)]),
            alias: None,
            args: None,
            with_hints: Vec::new(),
            version: None,
            with_ordinality: false,
            partitions: Vec::new(),
        },
        joins: Vec::new(),
    }
}
