//! FROM: tables, derived tables and joins become one chain of inner and left joins.

use sqlparser::ast::{
    BinaryOperator, Expr, Ident, Join, JoinConstraint, JoinOperator, ObjectName, Query, TableAlias, TableFactor,
    TableWithJoins,
};
use tribunal_protocol::Failure;

use crate::cond::Cond;
use crate::emit;
use crate::rewrite::{Place, Rewriter};
use crate::scope::{Column, Relation, Scope, same};
use crate::select::{alias_of, derived, item, query_of, select};

/// The sources of a query, rewritten.
pub struct Sources<'p> {
    /// What their names mean.
    pub scope: Scope<'p>,
    /// The first source; none where there is no FROM.
    pub first: Option<TableFactor>,
    /// The joins.
    pub joins: Vec<Joined>,
}

/// A join.
pub struct Joined {
    /// What is joined.
    pub factor: TableFactor,
    /// Its alias in the engine.
    pub alias: String,
    /// Whether it is a LEFT JOIN.
    pub left: bool,
    /// The condition: all of these.
    pub filters: Vec<Expr>,
}

/// One source, rewritten.
struct Source {
    factor: TableFactor,
    alias: String,
    relation: Vec<Relation>,
    merged: Vec<(String, crate::types::Typed)>,
}

impl Rewriter<'_> {
    /// Rewrites FROM.
    pub fn sources<'p>(
        &mut self,
        from: &[TableWithJoins],
        parent: Option<&'p Scope<'p>>,
    ) -> Result<Sources<'p>, Failure> {
        let mut sources = Sources { scope: Scope::inside(parent), first: None, joins: Vec::new() };
        for (place, tree) in from.iter().enumerate() {
            let kept = |join: &Join| matches!(join.join_operator, JoinOperator::RightOuter(_));
            if place > 0 && tree.joins.iter().any(kept) {
                // A comma binds less than JOIN: what stands left of RIGHT JOIN begins behind it.
                let source = self.nested_join(tree, parent)?;
                add(&mut sources, source, false, Vec::new())?;
                continue;
            }
            let source = self.source(&tree.relation, parent)?;
            add(&mut sources, source, false, Vec::new())?;
            for join in &tree.joins {
                self.join(&mut sources, join, parent)?;
            }
        }
        Ok(sources)
    }

    fn join<'p>(
        &mut self,
        sources: &mut Sources<'p>,
        join: &Join,
        parent: Option<&'p Scope<'p>>,
    ) -> Result<(), Failure> {
        if join.global {
            return Err(Failure::unsupported("GLOBAL JOIN"));
        }
        let nothing = JoinConstraint::None;
        let (constraint, left, right) = match &join.join_operator {
            JoinOperator::Inner(constraint) => (constraint, false, false),
            JoinOperator::LeftOuter(constraint) => (constraint, true, false),
            JoinOperator::RightOuter(constraint) => (constraint, false, true),
            JoinOperator::CrossJoin => (&nothing, false, false),
            JoinOperator::FullOuter(_) => return Err(crate::lint::second_engine("FULL JOIN")),
            _ => return Err(Failure::unsupported("this kind of join")),
        };
        if (left || right) && matches!(constraint, JoinConstraint::None) {
            return Err(Failure::invalid("an outer join needs ON or USING"));
        }
        let source = self.source(&join.relation, parent)?;
        if !right {
            let names = shared(constraint, &sources.scope, &source)?;
            let alias = source.alias.clone();
            add(sources, source, left, Vec::new())?;
            let filters = self.on(sources, constraint, names, &alias, left)?;
            if let Some(last) = sources.joins.last_mut() {
                last.filters = filters;
            }
            return Ok(());
        }
        self.right_join(sources, constraint, source)
    }

    /// `a RIGHT JOIN b` is `b LEFT JOIN a`; what stands left of it becomes one source before.
    fn right_join(
        &mut self,
        sources: &mut Sources<'_>,
        constraint: &JoinConstraint,
        source: Source,
    ) -> Result<(), Failure> {
        if !sources.joins.is_empty() {
            self.wrap(sources)?;
        }
        let names = shared(constraint, &sources.scope, &source)?;
        let Some(factor) = sources.first.replace(source.factor) else {
            return Err(Failure::invalid("RIGHT JOIN needs something on its left"));
        };
        let alias = sources
            .scope
            .relations
            .iter()
            .find_map(|relation| relation.columns.first())
            .map(|column| column.alias.clone())
            .ok_or_else(|| Failure::unsupported("RIGHT JOIN of a source without columns"))?;
        sources.scope.make_nullable();
        sources.scope.relations.extend(source.relation);
        sources.scope.merged.extend(source.merged);
        sources.joins.push(Joined { factor, alias: alias.clone(), left: true, filters: Vec::new() });
        let filters = self.on(sources, constraint, names.clone(), &alias, false)?;
        // Of two merged columns, the one of the side that is kept counts.
        for name in &names {
            let kept = sources.scope.relations.iter().rev().find_map(|relation| {
                let mut columns = relation.columns.iter();
                columns.find(|column| same(&column.name, name))
            });
            let kept = kept.map(Column::typed);
            let merged = sources.scope.merged.iter_mut();
            for (_, typed) in merged.filter(|(merged, _)| same(merged, name)) {
                if let Some(kept) = &kept {
                    *typed = kept.clone();
                }
            }
        }
        if let Some(last) = sources.joins.last_mut() {
            last.filters = filters;
        }
        Ok(())
    }

    /// A derived table that refers to a query around it, and stands first in FROM: the engine shows
    /// what is around only to what is joined. So it is joined to one row.
    pub fn let_first_see(&mut self, sources: &mut Sources<'_>, parent: Option<&Scope<'_>>) -> Result<(), Failure> {
        let (Some(parent), Some(factor @ TableFactor::Derived { .. })) = (parent, &sources.first) else {
            return Ok(());
        };
        if !crate::walk::touches(factor, &|alias| parent.reaches(alias)) {
            return Ok(());
        }
        let one = one_row(&self.alias()?);
        if let Some(factor) = sources.first.replace(one) {
            sources.joins.insert(0, Joined { factor, alias: String::new(), left: false, filters: Vec::new() });
        }
        Ok(())
    }

    /// Makes one derived table of all sources so far.
    fn wrap(&mut self, sources: &mut Sources<'_>) -> Result<(), Failure> {
        let alias = self.alias()?;
        let columns: Vec<Expr> = sources
            .scope
            .relations
            .iter()
            .flat_map(|relation| &relation.columns)
            .map(|column| column.typed().expr())
            .collect();
        self.grow(columns.len())?;
        let labels: Vec<String> = (0..columns.len()).map(crate::select::label).collect();
        let items = columns.into_iter().enumerate().map(|(index, column)| item(column, index)).collect();
        let from = assemble(sources.first.take(), std::mem::take(&mut sources.joins));
        let query = query_of(select(items, from.into_iter().collect(), None));
        sources.scope.move_into(&alias, &labels);
        sources.first = Some(derived(query, &alias).relation);
        Ok(())
    }

    /// The condition of a join, and the columns that it merges.
    fn on(
        &mut self,
        sources: &mut Sources<'_>,
        constraint: &JoinConstraint,
        names: Vec<String>,
        alias: &str,
        left: bool,
    ) -> Result<Vec<Expr>, Failure> {
        let mut filters = Vec::new();
        if let JoinConstraint::On(condition) = constraint {
            let cond = self.condition(condition, Place::plain(&sources.scope, "ON"))?;
            cond.filters(&mut filters);
        }
        for name in names {
            let cond = self.merge(&mut sources.scope, &name)?;
            cond.filters(&mut filters);
        }
        if left {
            let columns = sources.scope.relations.iter_mut().flat_map(|relation| &mut relation.columns);
            for column in columns.filter(|column| column.alias == alias) {
                column.nullable = true;
            }
        }
        Ok(hashable(filters, alias))
    }

    /// Makes one column of the last source's and of those before it.
    fn merge(&mut self, scope: &mut Scope<'_>, name: &str) -> Result<Cond, Failure> {
        let Some(last) = scope.relations.pop() else {
            return Err(Failure::invalid("USING needs two sources"));
        };
        let before = scope.own(name);
        scope.relations.push(last);
        let left = before?.ok_or_else(|| Failure::unknown(format!("no column {name} before USING")))?;
        for relation in &mut scope.relations {
            for column in &mut relation.columns {
                column.merged |= same(&column.name, name);
            }
        }
        let right = scope
            .relations
            .last()
            .and_then(|relation| relation.columns.iter().find(|column| same(&column.name, name)))
            .map(Column::typed)
            .ok_or_else(|| Failure::unknown(format!("no column {name} behind USING")))?;
        if !scope.merged.iter().any(|(merged, _)| same(merged, name)) {
            scope.merged.push((name.to_owned(), left.clone()));
        }
        self.compare(left.into(), &BinaryOperator::Eq, right.into())
    }

    fn source(&mut self, factor: &TableFactor, parent: Option<&Scope<'_>>) -> Result<Source, Failure> {
        match factor {
            TableFactor::Table {
                name,
                alias,
                args: None,
                with_hints,
                version: None,
                with_ordinality: false,
                partitions,
            } if with_hints.is_empty() && partitions.is_empty() => self.table(name, alias.as_ref()),
            TableFactor::Table { name, args: Some(_), .. } => {
                Err(Failure::unsupported(format!("the table function {name}")))
            }
            TableFactor::Derived { lateral: false, subquery, alias } => {
                let selected = self.query(subquery, parent)?;
                self.derived_source(selected, alias.as_ref())
            }
            TableFactor::Derived { lateral: true, .. } => Err(Failure::unsupported("LATERAL")),
            TableFactor::NestedJoin { table_with_joins, alias: None } => self.nested_join(table_with_joins, parent),
            _ => Err(Failure::unsupported("a source of this form in FROM")),
        }
    }

    fn nested_join(&mut self, tree: &TableWithJoins, parent: Option<&Scope<'_>>) -> Result<Source, Failure> {
        let mut sources = self.sources(std::slice::from_ref(tree), parent)?;
        if !sources.joins.is_empty() {
            self.wrap(&mut sources)?;
        }
        let alias = sources
            .scope
            .relations
            .iter()
            .find_map(|relation| relation.columns.first())
            .map(|column| column.alias.clone());
        match (sources.first, alias) {
            (Some(factor), Some(alias)) => {
                Ok(Source { factor, alias, relation: sources.scope.relations, merged: sources.scope.merged })
            }
            _ => Err(Failure::unsupported("a source without columns")),
        }
    }

    fn table(&mut self, name: &ObjectName, alias: Option<&TableAlias>) -> Result<Source, Failure> {
        // A schema before the name says nothing here: there is one.
        let Some(last) = name.0.last() else {
            return Err(Failure::unknown("no table without a name"));
        };
        let table = last.value.as_str();
        if name.0.len() == 1
            && let Some(cte) = self.ctes.iter().rev().find(|cte| same(&cte.name, table))
        {
            let cte = std::rc::Rc::clone(cte);
            let selected = self.with_ctes(cte.visible.clone(), |rewriter| {
                rewriter.deeper(|rewriter| rewriter.query(&cte.query, None))
            })?;
            let columns = alias.map_or(cte.columns.clone(), |alias| {
                if alias.columns.is_empty() { cte.columns.clone() } else { alias.columns.clone() }
            });
            let name = alias.map_or_else(|| Ident::new(&cte.name), |alias| alias.name.clone());
            return self.derived_source(selected, Some(&TableAlias { name, columns }));
        }
        let schema = self.catalog.table(table).ok_or_else(|| Failure::unknown(format!("no table {table}")))?;
        self.tables.insert(schema.name.clone());
        let engine_alias = self.alias()?;
        let mut columns: Vec<Column> = schema
            .columns
            .iter()
            .map(|column| Column {
                name: column.name.clone(),
                kind: column.kind,
                nullable: column.nullable,
                alias: engine_alias.clone(),
                source: column.name.clone(),
                merged: false,
            })
            .collect();
        let key = schema
            .primary_key
            .iter()
            .map(|name| schema.column_index(name))
            .collect::<Option<Vec<_>>>()
            .unwrap_or_default();
        let names = alias.map_or(&[][..], |alias| alias.columns.as_slice());
        rename(&mut columns, names)?;
        let relation =
            Relation { name: alias.map_or_else(|| last.value.clone(), |alias| alias.name.value.clone()), columns, key };
        let factor = TableFactor::Table {
            name: ObjectName(vec![emit::ident(&schema.name)]),
            alias: alias_of(&engine_alias),
            args: None,
            with_hints: Vec::new(),
            version: None,
            with_ordinality: false,
            partitions: Vec::new(),
        };
        Ok(Source { factor, alias: engine_alias, relation: vec![relation], merged: Vec::new() })
    }

    fn derived_source(
        &mut self,
        selected: crate::select::Selected,
        alias: Option<&TableAlias>,
    ) -> Result<Source, Failure> {
        let engine_alias = self.alias()?;
        let mut columns: Vec<Column> = selected
            .columns
            .iter()
            .enumerate()
            .map(|(index, shape)| Column {
                name: shape.name.clone(),
                kind: shape.kind,
                nullable: shape.nullable,
                alias: engine_alias.clone(),
                source: selected.label(index),
                merged: false,
            })
            .collect();
        rename(&mut columns, alias.map_or(&[][..], |alias| &alias.columns))?;
        let relation = Relation {
            name: alias.map_or_else(|| engine_alias.clone(), |alias| alias.name.value.clone()),
            columns,
            key: Vec::new(),
        };
        Ok(Source {
            factor: derived(selected.query, &engine_alias).relation,
            alias: engine_alias,
            relation: vec![relation],
            merged: Vec::new(),
        })
    }

    /// Runs `work` with other queries of WITH in sight.
    pub fn with_ctes<T>(
        &mut self,
        ctes: Vec<std::rc::Rc<crate::rewrite::Cte>>,
        work: impl FnOnce(&mut Self) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let before = std::mem::replace(&mut self.ctes, ctes);
        let result = work(self);
        self.ctes = before;
        result
    }

    /// A subquery in an expression.
    pub fn subquery(&mut self, query: &Query, place: Place<'_>) -> Result<crate::select::Selected, Failure> {
        self.query(query, Some(place.scope))
    }
}

/// A source of one row.
pub fn one_row(alias: &str) -> TableFactor {
    derived(query_of(select(vec![item(emit::number(1), 0)], Vec::new(), None)), alias).relation
}

fn add(sources: &mut Sources<'_>, mut source: Source, left: bool, filters: Vec<Expr>) -> Result<(), Failure> {
    for (_, typed) in &mut source.merged {
        typed.nullable |= left;
    }
    for relation in &source.relation {
        if sources.scope.relation(&relation.name).is_some() {
            return Err(Failure::invalid(format!("{} stands twice in FROM; give each an alias", relation.name)));
        }
    }
    sources.scope.relations.extend(source.relation);
    sources.scope.merged.extend(source.merged);
    if sources.first.is_none() {
        sources.first = Some(source.factor);
    } else {
        sources.joins.push(Joined { factor: source.factor, alias: source.alias, left, filters });
    }
    Ok(())
}

fn rename(columns: &mut [Column], names: &[Ident]) -> Result<(), Failure> {
    if names.len() > columns.len() {
        return Err(Failure::invalid(format!("{} column names given, {} columns there", names.len(), columns.len())));
    }
    for (column, name) in columns.iter_mut().zip(names) {
        column.name.clone_from(&name.value);
    }
    Ok(())
}

/// The names that USING lists or NATURAL finds.
fn shared(constraint: &JoinConstraint, scope: &Scope<'_>, source: &Source) -> Result<Vec<String>, Failure> {
    let right = || source.relation.iter().flat_map(|relation| &relation.columns);
    Ok(match constraint {
        JoinConstraint::On(_) | JoinConstraint::None => Vec::new(),
        JoinConstraint::Using(_) | JoinConstraint::Natural if source.relation.len() > 1 => {
            return Err(Failure::unsupported("USING with a join in parentheses"));
        }
        JoinConstraint::Using(names) => names.iter().map(|name| name.value.clone()).collect(),
        JoinConstraint::Natural => {
            let mut names = Vec::new();
            for (name, _) in scope.star() {
                if right().any(|column| same(&column.name, &name)) {
                    names.push(name);
                }
            }
            names
        }
    })
}

/// The conditions of a join in the form and order in which the engine makes a hash join of them,
/// and never a wrong one: the key of the joined source on the left of `=`, one such first, and
/// every other equation disguised.
pub fn hashable(filters: Vec<Expr>, alias: &str) -> Vec<Expr> {
    let joined = |expr: &Expr| crate::walk::touches(expr, &|found| found == alias);
    let other = |expr: &Expr| crate::walk::touches(expr, &|found| found != alias);
    let mut keys = Vec::new();
    let mut rest = Vec::new();
    for filter in filters {
        let Expr::BinaryOp { left, op: BinaryOperator::Eq, right } = filter else {
            rest.push(filter);
            continue;
        };
        let sides = |expr: &Expr| (joined(expr), other(expr));
        match (sides(&left), sides(&right)) {
            ((true, false), (false, true)) => keys.push(equation(*left, *right)),
            ((false, true), (true, false)) => keys.push(equation(*right, *left)),
            _ => {
                let equal = equation(*left, *right);
                rest.push(emit::call("COALESCE", vec![equal, emit::boolean(false)]));
            }
        }
    }
    keys.extend(rest);
    keys
}

fn equation(left: Expr, right: Expr) -> Expr {
    Expr::BinaryOp { left: Box::new(left), op: BinaryOperator::Eq, right: Box::new(right) }
}

/// The FROM of the engine; none where there is none.
pub fn assemble(first: Option<TableFactor>, joins: Vec<Joined>) -> Option<TableWithJoins> {
    let joins = joins
        .into_iter()
        .map(|join| {
            let constraint = if join.filters.is_empty() && !join.left {
                JoinConstraint::None
            } else {
                JoinConstraint::On(emit::all(join.filters))
            };
            Join {
                relation: join.factor,
                global: false,
                join_operator: if join.left {
                    JoinOperator::LeftOuter(constraint)
                } else {
                    JoinOperator::Inner(constraint)
                },
            }
        })
        .collect();
    first.map(|relation| TableWithJoins { relation, joins })
}
