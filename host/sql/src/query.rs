//! Queries: WITH, SELECT, and what stands around them.

use std::rc::Rc;

use sqlparser::ast::{
    BinaryOperator, Distinct, Expr, GroupByExpr, Offset, OffsetRows, OrderBy, OrderByExpr, Query, Select, SelectItem,
    SetExpr,
};
use tribunal_protocol::{Failure, Kind};

use crate::emit;
use crate::from::{Joined, Sources, assemble, hashable};
use crate::grouping::{Groups, has_aggregate};
use crate::lint;
use crate::rewrite::{Clause, Cte, Output, Place, Rewriter};
use crate::scope::{Scope, same};
use crate::select::{Selected, Shape, item, query_of, select as empty_select};
use crate::sets::Branches;
use crate::types::{Node, Typed};

/// Columns of a result, at most.
const MAX_COLUMNS: usize = 256;

/// What stands around a SELECT.
#[derive(Clone, Copy)]
pub struct Around<'q> {
    /// ORDER BY.
    pub order_by: &'q [OrderByExpr],
    /// LIMIT.
    pub limit: Option<&'q Expr>,
    /// OFFSET.
    pub offset: Option<&'q Expr>,
}

impl Rewriter<'_> {
    /// Rewrites a query.
    pub fn query(&mut self, query: &Query, parent: Option<&Scope<'_>>) -> Result<Selected, Failure> {
        self.deeper(|rewriter| {
            let visible = rewriter.ctes.clone();
            let aggregated = std::mem::take(&mut rewriter.aggregated);
            let result = rewriter.with_query(query, parent);
            rewriter.ctes = visible;
            rewriter.aggregated = aggregated;
            result
        })
    }

    /// Rewrites a branch of a set operation.
    pub fn branch(&mut self, body: &SetExpr, parent: Option<&Scope<'_>>) -> Result<Selected, Failure> {
        self.deeper(|rewriter| {
            let aggregated = std::mem::take(&mut rewriter.aggregated);
            let result = rewriter.body(body, Around { order_by: &[], limit: None, offset: None }, parent);
            rewriter.aggregated = aggregated;
            result
        })
    }

    fn with_query(&mut self, query: &Query, parent: Option<&Scope<'_>>) -> Result<Selected, Failure> {
        lint::query(query)?;
        if let Some(with) = &query.with {
            if with.recursive {
                return Err(lint::second_engine("WITH RECURSIVE"));
            }
            for cte in &with.cte_tables {
                let cte = Rc::new(Cte {
                    name: cte.alias.name.value.clone(),
                    columns: cte.alias.columns.clone(),
                    query: (*cte.query).clone(),
                    visible: self.ctes.clone(),
                });
                // Looked at even where nothing names it, so that it is refused for what it is.
                let sets = self.sets.len();
                self.query(&cte.query, None)?;
                self.sets.truncate(sets);
                self.ctes.push(cte);
            }
        }
        let fetch = query.fetch.as_ref().and_then(|fetch| fetch.quantity.as_ref());
        if fetch.is_some() && query.limit.is_some() {
            return Err(Failure::invalid("LIMIT and FETCH together"));
        }
        let around = Around {
            order_by: query.order_by.as_ref().map_or(&[], |order| &order.exprs),
            limit: query.limit.as_ref().or(fetch),
            offset: query.offset.as_ref().map(|offset| &offset.value),
        };
        self.body(&query.body, around, parent)
    }

    /// Rewrites what stands between WITH and ORDER BY.
    fn body(&mut self, body: &SetExpr, around: Around<'_>, parent: Option<&Scope<'_>>) -> Result<Selected, Failure> {
        match body {
            SetExpr::Select(select) => self.select(select, around, parent),
            SetExpr::Query(inner)
                if around.order_by.is_empty() && around.limit.is_none() && around.offset.is_none() =>
            {
                self.query(inner, parent)
            }
            SetExpr::Query(_) => Err(Failure::unsupported("ORDER BY or LIMIT behind parentheses")),
            SetExpr::SetOperation { op, set_quantifier, left, right } => {
                let branches = Branches { op: *op, quantifier: *set_quantifier, left, right };
                self.set_operation(&branches, around, parent)
            }
            SetExpr::Values(_) => Err(Failure::unsupported("VALUES as a query")),
            SetExpr::Table(_) => Err(Failure::unsupported("TABLE as a query")),
            SetExpr::Insert(_) | SetExpr::Update(_) => Err(Failure::unsupported("a change inside a query")),
        }
    }

    fn select(&mut self, select: &Select, around: Around<'_>, parent: Option<&Scope<'_>>) -> Result<Selected, Failure> {
        lint::select(select)?;
        let distinct = match &select.distinct {
            None => false,
            Some(Distinct::Distinct) => true,
            Some(Distinct::On(_)) => return Err(Failure::unsupported("DISTINCT ON")),
        };
        let mut sources = self.sources(&select.from, parent)?;
        self.let_first_see(&mut sources, parent)?;
        let filters = self.filters(select.selection.as_ref(), &mut sources)?;
        let Sources { scope, first, joins } = sources;
        let outputs = self.outputs(&select.projection, &scope)?;
        let keys = self.keys(&select.group_by, &outputs, &scope)?;
        let having = self.having(select.having.as_ref(), &outputs, &scope)?;
        let order = self.order(around.order_by, &outputs, &scope)?;
        let grouped = !keys.is_empty() || self.aggregated || having.is_some();
        if having.is_some() && keys.is_empty() && !self.aggregated {
            return Err(Failure::unsupported("HAVING without an aggregate or GROUP BY"));
        }
        if grouped {
            let groups = Groups { keys: &keys, scope: &scope };
            let items = outputs.iter().map(|output| output.typed.clone().expr());
            let sorted = order.iter().map(|key| key.expr.clone());
            for expr in items.chain(having.clone()).chain(sorted) {
                groups.check(&expr)?;
            }
        }
        let items: Vec<Expr> = outputs.iter().map(|output| output.typed.clone().expr()).collect();
        if distinct && let Some(key) = order.iter().find(|key| !among(&key.expr, &items)) {
            return Err(Failure::invalid(format!(
                "ORDER BY {} with DISTINCT: it must be in the select list",
                key.text
            )));
        }
        let mut built = empty_select(Vec::new(), Vec::new(), filters);
        built.distinct = distinct.then_some(Distinct::Distinct);
        built.projection = items.into_iter().enumerate().map(|(index, expr)| item(expr, index)).collect();
        built.from = assemble(first, joins).into_iter().collect();
        built.group_by = GroupByExpr::Expressions(keys, Vec::new());
        built.having = having;
        let mut query = query_of(built);
        self.surround(&mut query, order, around)?;
        let plain = !grouped && !distinct && query.limit.is_none() && query.offset.is_none();
        Ok(Selected { query, columns: outputs.into_iter().map(shape).collect(), plain })
    }

    /// Puts ORDER BY, LIMIT and OFFSET behind a query.
    pub fn surround(&mut self, query: &mut Query, order: Vec<Key>, around: Around<'_>) -> Result<(), Failure> {
        let sorted: Vec<OrderByExpr> = order.into_iter().flat_map(Key::keys).collect();
        query.order_by = (!sorted.is_empty()).then_some(OrderBy { exprs: sorted, interpolate: None });
        query.limit = self.count(around.limit, "LIMIT")?;
        query.offset = self.count(around.offset, "OFFSET")?.map(|value| Offset { value, rows: OffsetRows::None });
        Ok(())
    }

    /// WHERE: equations between sources move to their join, where the engine makes a hash join of
    /// them; the rest stays.
    fn filters(&mut self, selection: Option<&Expr>, sources: &mut Sources<'_>) -> Result<Option<Expr>, Failure> {
        let Some(selection) = selection else {
            return Ok(None);
        };
        let place = Place::plain(&sources.scope, "WHERE");
        let mut filters = Vec::new();
        self.condition(selection, place)?.filters(&mut filters);
        let mut rest = Vec::new();
        for filter in filters {
            match joining(&filter, &sources.joins) {
                Some(place) => {
                    if let Some(join) = sources.joins.get_mut(place) {
                        let mut filters = std::mem::take(&mut join.filters);
                        filters.push(filter);
                        join.filters = hashable(filters, &join.alias);
                    }
                }
                None => rest.push(filter),
            }
        }
        Ok((!rest.is_empty()).then(|| emit::all(rest)))
    }

    fn outputs(&mut self, projection: &[SelectItem], scope: &Scope<'_>) -> Result<Vec<Output>, Failure> {
        let mut outputs = Vec::new();
        for item in projection {
            match item {
                SelectItem::Wildcard(_) => {
                    if scope.relations.is_empty() {
                        return Err(Failure::invalid("SELECT * without FROM"));
                    }
                    outputs.extend(scope.star().into_iter().map(starred));
                }
                SelectItem::QualifiedWildcard(name, _) => {
                    let table = name.0.last().map(|part| part.value.as_str()).unwrap_or_default();
                    let relation = scope
                        .relation(table)
                        .ok_or_else(|| Failure::unknown(format!("no table {table} in this FROM")))?;
                    let columns = relation.columns.iter();
                    outputs.extend(columns.map(|column| starred((column.name.clone(), column.typed()))));
                }
                SelectItem::UnnamedExpr(expr) => {
                    let typed = self.value(expr, Place::aggregates(scope))?;
                    outputs.push(named(expr, typed));
                }
                SelectItem::ExprWithAlias { expr, alias } => {
                    let typed = self.value(expr, Place::aggregates(scope))?;
                    outputs.push(Output { name: alias.value.clone(), named: true, typed, source: Some(expr.clone()) });
                }
            }
        }
        if outputs.len() > MAX_COLUMNS {
            let count = outputs.len();
            return Err(Failure::quota(format!("a result has at most {MAX_COLUMNS} columns; this one has {count}")));
        }
        Ok(outputs)
    }

    fn keys(&mut self, group_by: &GroupByExpr, outputs: &[Output], scope: &Scope<'_>) -> Result<Vec<Expr>, Failure> {
        let GroupByExpr::Expressions(expressions, _) = group_by else {
            return Err(Failure::unsupported("GROUP BY ALL"));
        };
        let place = Place { scope, clause: Clause::Plain("GROUP BY"), outputs };
        let mut keys = Vec::with_capacity(expressions.len());
        for expr in expressions {
            let typed = match ordinal(expr) {
                Some(number) => self.nth(number, outputs, "GROUP BY")?,
                None => match written(outputs, expr) {
                    Some(typed) => self.copy_of(&typed)?,
                    None => self.value(expr, place)?,
                },
            };
            let key = typed.expr();
            if has_aggregate(&key) {
                return Err(Failure::invalid("GROUP BY of an aggregate"));
            }
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        Ok(keys)
    }

    fn having(
        &mut self,
        having: Option<&Expr>,
        outputs: &[Output],
        scope: &Scope<'_>,
    ) -> Result<Option<Expr>, Failure> {
        let Some(having) = having else {
            return Ok(None);
        };
        let place = Place { scope, clause: Clause::Aggregates, outputs };
        let mut filters = Vec::new();
        self.condition(having, place)?.filters(&mut filters);
        Ok(Some(emit::all(filters)))
    }

    /// The keys of ORDER BY.
    pub fn order(&mut self, keys: &[OrderByExpr], outputs: &[Output], scope: &Scope<'_>) -> Result<Vec<Key>, Failure> {
        let place = Place { scope, clause: Clause::Aggregates, outputs };
        let mut order = Vec::with_capacity(keys.len());
        for key in keys {
            let output = match &key.expr {
                Expr::Identifier(name) => output(outputs, &name.value)?,
                expr => written(outputs, expr),
            };
            let typed = match (ordinal(&key.expr), output) {
                (Some(number), _) => self.nth(number, outputs, "ORDER BY")?,
                (None, Some(typed)) => self.copy_of(&typed)?,
                (None, None) => self.value(&key.expr, place)?,
            };
            // A literal orders nothing, and the engine takes a number for a place.
            if typed.is_literal() {
                continue;
            }
            let ascending = key.asc.unwrap_or(true);
            let first = key.nulls_first.unwrap_or(!ascending);
            order.push(Key {
                text: key.expr.to_string(),
                nulls: (typed.nullable && first == ascending).then_some(first),
                zero: typed.kind == Kind::Float,
                expr: typed.expr(),
                ascending,
            });
        }
        Ok(order)
    }

    fn nth(&mut self, number: i64, outputs: &[Output], clause: &str) -> Result<Typed, Failure> {
        let output =
            usize::try_from(number).ok().and_then(|number| number.checked_sub(1)).and_then(|index| outputs.get(index));
        match output {
            Some(output) => self.copy_of(&output.typed),
            None => Err(Failure::invalid(format!("{clause} {number}: there are {} columns", outputs.len()))),
        }
    }

    /// LIMIT and OFFSET: a whole number; NULL is none.
    fn count(&mut self, expr: Option<&Expr>, clause: &str) -> Result<Option<Expr>, Failure> {
        let Some(expr) = expr else {
            return Ok(None);
        };
        let scope = Scope::default();
        let typed = self.value(expr, Place::plain(&scope, "LIMIT"))?;
        if typed.is_null() {
            return Ok(None);
        }
        match typed.number() {
            Some(number) if (0..=i64::from(u32::MAX)).contains(&number) => Ok(Some(emit::number(number))),
            _ => Err(Failure::invalid(format!("{clause} needs a whole number from 0"))),
        }
    }

    /// A subquery that is one value.
    pub fn scalar(&mut self, query: &Query, place: Place<'_>) -> Result<Typed, Failure> {
        let selected = self.subquery(query, place)?;
        let (kind, _) = selected.single()?;
        Ok(Typed::new(Expr::Subquery(Box::new(selected.query)), kind, true))
    }

    /// A subquery of which only counts whether it has rows.
    pub fn exists(&mut self, query: &Query, place: Place<'_>) -> Result<Query, Failure> {
        let selected = self.subquery(query, place)?;
        let mut query = selected.query;
        if selected.plain {
            query.order_by = None;
            if let SetExpr::Select(select) = &mut *query.body {
                select.projection = vec![item(emit::number(1), 0)];
            }
        }
        Ok(query)
    }
}

/// An order key.
pub struct Key {
    text: String,
    expr: Expr,
    ascending: bool,
    /// Where NULL goes, where the engine puts it elsewhere.
    nulls: Option<bool>,
    /// Whether 0.0 and -0.0 must be told to be the same.
    zero: bool,
}

impl Key {
    fn keys(self) -> Vec<OrderByExpr> {
        let key = |expr: Expr, ascending: bool| OrderByExpr {
            expr,
            asc: Some(ascending),
            nulls_first: None,
            with_fill: None,
        };
        let mut keys = Vec::new();
        if let Some(first) = self.nulls {
            let null = emit::is_null(self.expr.clone());
            keys.push(key(null, !first));
        }
        let expr = if self.zero {
            let zero = emit::literal(&tribunal_protocol::Value::Float(0.0));
            emit::binary(self.expr, BinaryOperator::Plus, zero)
        } else {
            self.expr
        };
        keys.push(key(expr, self.ascending));
        keys
    }
}

/// The join to which an equation of WHERE belongs: the last that it names, where that is an inner
/// join and something before it is named too.
fn joining(filter: &Expr, joins: &[Joined]) -> Option<usize> {
    let Expr::BinaryOp { left, op: BinaryOperator::Eq, right } = filter else {
        return None;
    };
    let place = joins.iter().rposition(|join| crate::walk::touches(filter, &|alias| alias == join.alias))?;
    let join = joins.get(place).filter(|join| !join.left)?;
    let joined = |expr: &Expr| crate::walk::touches(expr, &|alias| alias == join.alias);
    let other = |expr: &Expr| crate::walk::touches(expr, &|alias| alias != join.alias);
    let key = |expr: &Expr| joined(expr) && !other(expr);
    let probe = |expr: &Expr| !joined(expr) && other(expr);
    ((key(left) && probe(right)) || (probe(left) && key(right))).then_some(place)
}

fn among(expr: &Expr, items: &[Expr]) -> bool {
    items.contains(expr)
}

fn output(outputs: &[Output], name: &str) -> Result<Option<Typed>, Failure> {
    let mut found = outputs.iter().filter(|output| output.named && same(&output.name, name));
    match (found.next(), found.next()) {
        (Some(one), Some(other)) if one.typed.clone().expr() != other.typed.clone().expr() => {
            Err(Failure::invalid(format!("ORDER BY {name} is ambiguous")))
        }
        (output, _) => Ok(output.map(|output| output.typed.clone())),
    }
}

/// The output column that was written in the same words: rewritten again, its subqueries would get
/// other names.
fn written(outputs: &[Output], expr: &Expr) -> Option<Typed> {
    let same = |output: &&Output| output.source.as_ref() == Some(expr) && !matches!(expr, Expr::Identifier(_));
    outputs.iter().find(same).map(|output| output.typed.clone())
}

/// The place that a bare number in GROUP BY or ORDER BY means.
fn ordinal(expr: &Expr) -> Option<i64> {
    match expr {
        Expr::Value(sqlparser::ast::Value::Number(number, _)) => number.to_string().parse().ok(),
        Expr::Nested(inner) => ordinal(inner),
        _ => None,
    }
}

fn starred((name, typed): (String, Typed)) -> Output {
    Output { name, named: true, typed, source: None }
}

/// An output column without AS: a column keeps its name, all else is called by its text.
fn named(expr: &Expr, typed: Typed) -> Output {
    let name = match expr {
        Expr::Identifier(name) => Some(name.value.clone()),
        Expr::CompoundIdentifier(parts) => parts.last().map(|name| name.value.clone()),
        _ => None,
    };
    let source = Some(expr.clone());
    Output { named: name.is_some(), name: name.unwrap_or_else(|| expr.to_string()), typed, source }
}

fn shape(output: Output) -> Shape {
    let Output { name, typed, .. } = output;
    let kind = match &typed.node {
        Node::Literal(value) if !value.is_null() => value.kind(),
        _ => typed.kind,
    };
    Shape { name, kind, nullable: typed.nullable }
}
