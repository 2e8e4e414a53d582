//! Expressions in SQLite's dialect.

use sqlparser::ast::{BinaryOperator, CastKind, DataType, Expr, Ident, TrimWhereField, Value as Literal};
use tribunal_protocol::{Failure, Kind};

use super::kind::literal;
use super::times::is_span;
use super::{Names, Writer, quote, text};
use crate::dates::is_time;
use crate::emit;
use crate::types::wider;

impl Writer<'_> {
    /// Writes an expression.
    pub(super) fn expr(&mut self, expr: &mut Expr, names: &Names<'_>) -> Result<(), Failure> {
        let taken = std::mem::replace(expr, Expr::Wildcard);
        *expr = self.written(taken, names)?;
        Ok(())
    }

    fn boxed(&mut self, expr: Box<Expr>, names: &Names<'_>) -> Result<Box<Expr>, Failure> {
        Ok(Box::new(self.written(*expr, names)?))
    }

    /// The expression in SQLite's dialect.
    pub(super) fn written(&mut self, expr: Expr, names: &Names<'_>) -> Result<Expr, Failure> {
        Ok(match expr {
            Expr::Identifier(mut name) => {
                quote(&mut name);
                Expr::Identifier(name)
            }
            Expr::CompoundIdentifier(parts) => Expr::CompoundIdentifier(last_two(parts)),
            Expr::Value(Literal::Placeholder(_)) => {
                return Err(Failure::unsupported("parameters in a second opinion"));
            }
            Expr::Value(literal) => Expr::Value(literal),
            Expr::TypedString { data_type, value } => self.cast(text(&value), Kind::Text, &data_type)?,
            Expr::Nested(inner) => Expr::Nested(self.boxed(inner, names)?),
            Expr::UnaryOp { op, expr } => Expr::UnaryOp { op, expr: self.boxed(expr, names)? },
            Expr::BinaryOp { left, op, right } => self.binary(*left, op, *right, names)?,
            Expr::Cast { kind: CastKind::Cast | CastKind::DoubleColon, expr, data_type, format: None } => {
                let kind = self.kind(&expr, names);
                let expr = self.written(*expr, names)?;
                self.cast(expr, kind, &data_type)?
            }
            Expr::Case { operand, conditions, results, else_result } => {
                self.case(operand, conditions, results, else_result, names)?
            }
            Expr::Function(function) => self.call(function, names)?,
            Expr::Extract { field, expr, .. } => {
                let field = field.to_string().to_lowercase();
                self.part(&field, *expr, names)?
            }
            Expr::Ceil { expr, .. } => emit::call("ceil", vec![self.written(*expr, names)?]),
            Expr::Floor { expr, .. } => emit::call("floor", vec![self.written(*expr, names)?]),
            Expr::Position { expr, r#in } => {
                let arguments = vec![self.written(*r#in, names)?, self.written(*expr, names)?];
                emit::call("instr", arguments)
            }
            Expr::Substring { expr, substring_from, substring_for, .. } => {
                let start = substring_from.map_or_else(|| emit::number(1), |start| *start);
                let mut arguments = vec![*expr, start];
                arguments.extend(substring_for.map(|count| *count));
                self.named("tribunal_substr", arguments, names)?
            }
            Expr::Trim { expr, trim_where, trim_what, trim_characters } => {
                let name = match trim_where {
                    Some(TrimWhereField::Leading) => "ltrim",
                    Some(TrimWhereField::Trailing) => "rtrim",
                    Some(TrimWhereField::Both) | None => "trim",
                };
                let mut arguments = vec![*expr];
                arguments.extend(trim_what.map(|set| *set));
                arguments.extend(trim_characters.into_iter().flatten());
                self.named(name, arguments, names)?
            }
            Expr::Tuple(parts) => {
                let written: Result<_, _> = parts.into_iter().map(|part| self.written(part, names)).collect();
                Expr::Tuple(written?)
            }
            Expr::Subquery(mut query) => {
                self.query(&mut query, Some(names))?;
                Expr::Subquery(query)
            }
            Expr::Exists { mut subquery, negated } => {
                self.query(&mut subquery, Some(names))?;
                Expr::Exists { subquery, negated }
            }
            other => self.predicate(other, names)?,
        })
    }

    fn predicate(&mut self, expr: Expr, names: &Names<'_>) -> Result<Expr, Failure> {
        Ok(match expr {
            Expr::IsNull(inner) | Expr::IsUnknown(inner) => Expr::IsNull(self.boxed(inner, names)?),
            Expr::IsNotNull(inner) | Expr::IsNotUnknown(inner) => Expr::IsNotNull(self.boxed(inner, names)?),
            Expr::IsTrue(inner) => Expr::IsTrue(self.boxed(inner, names)?),
            Expr::IsNotTrue(inner) => Expr::IsNotTrue(self.boxed(inner, names)?),
            Expr::IsFalse(inner) => Expr::IsFalse(self.boxed(inner, names)?),
            Expr::IsNotFalse(inner) => Expr::IsNotFalse(self.boxed(inner, names)?),
            Expr::IsDistinctFrom(left, right) => {
                let (left, right) = self.alike(*left, *right, names)?;
                Expr::IsDistinctFrom(Box::new(left), Box::new(right))
            }
            Expr::IsNotDistinctFrom(left, right) => {
                let (left, right) = self.alike(*left, *right, names)?;
                Expr::IsNotDistinctFrom(Box::new(left), Box::new(right))
            }
            Expr::Between { expr, negated, low, high } => {
                let mut all = self.all_alike(vec![*expr, *low, *high], names)?.into_iter();
                let mut next = || Box::new(all.next().unwrap_or(Expr::Wildcard));
                Expr::Between { expr: next(), negated, low: next(), high: next() }
            }
            Expr::InList { expr, list, negated } => {
                let all = std::iter::once(*expr).chain(list).collect();
                let mut all = self.all_alike(all, names)?;
                let expr = Box::new(all.remove(0));
                Expr::InList { expr, list: all, negated }
            }
            Expr::InSubquery { expr, mut subquery, negated } => {
                let expr = self.boxed(expr, names)?;
                self.query(&mut subquery, Some(names))?;
                Expr::InSubquery { expr, subquery, negated }
            }
            Expr::AnyOp { left, compare_op: BinaryOperator::Eq, right, .. } => match *right {
                Expr::Subquery(subquery) => {
                    self.predicate(Expr::InSubquery { expr: left, subquery, negated: false }, names)?
                }
                _ => return Err(Failure::unsupported("ANY of an array")),
            },
            Expr::AnyOp { left, compare_op, right, .. } => self.quantified(*left, &compare_op, *right, true, names)?,
            Expr::AllOp { left, compare_op, right } => self.quantified(*left, &compare_op, *right, false, names)?,
            Expr::Like { negated, expr, pattern, escape_char, .. } => {
                self.like(negated, [*expr, *pattern], escape_char, names)?
            }
            Expr::ILike { negated, expr, pattern, escape_char, .. } => {
                let lower = |expr| emit::call("lower", vec![expr]);
                self.like(negated, [lower(*expr), lower(*pattern)], escape_char, names)?
            }
            other => {
                let what = other.to_string();
                return Err(Failure::unsupported(format!("{what} in a second opinion")));
            }
        })
    }

    /// `value op ANY (query)` and ALL, spelled out: SQLite has neither.
    fn quantified(
        &mut self,
        value: Expr,
        op: &BinaryOperator,
        query: Expr,
        any: bool,
        names: &Names<'_>,
    ) -> Result<Expr, Failure> {
        let Expr::Subquery(mut query) = query else {
            return Err(Failure::unsupported("ANY of an array"));
        };
        let value = self.written(value, names)?;
        self.query(&mut query, Some(names))?;
        let rows = |filter: &str| {
            format!(
                "EXISTS (WITH tribunal_rows(v) AS ({query}) SELECT 1 FROM tribunal_rows \
                 WHERE (({value}) {op} tribunal_rows.v) {filter})"
            )
        };
        let (decided, otherwise) = if any { ("IS TRUE", "FALSE") } else { ("IS FALSE", "TRUE") };
        let found = if any { "TRUE" } else { "FALSE" };
        let text =
            format!("CASE WHEN {} THEN {found} WHEN {} THEN NULL ELSE {otherwise} END", rows(decided), rows("IS NULL"));
        let parser = sqlparser::parser::Parser::new(&sqlparser::dialect::PostgreSqlDialect {}).try_with_sql(&text);
        let parsed = parser.and_then(|mut parser| parser.parse_expr());
        parsed.map_err(|_| Failure::unsupported("ANY or ALL of this query in a second opinion"))
    }

    fn like(
        &mut self,
        negated: bool,
        [expr, pattern]: [Expr; 2],
        escape: Option<String>,
        names: &Names<'_>,
    ) -> Result<Expr, Failure> {
        Ok(Expr::Like {
            negated,
            any: false,
            expr: Box::new(self.written(expr, names)?),
            pattern: Box::new(self.written(pattern, names)?),
            // Nothing escapes in SQLite unless told.
            escape_char: Some(escape.unwrap_or_else(|| "\\".to_owned())).filter(|c| !c.is_empty()),
        })
    }

    pub(super) fn binary(
        &mut self,
        left: Expr,
        op: BinaryOperator,
        right: Expr,
        names: &Names<'_>,
    ) -> Result<Expr, Failure> {
        let found = match op {
            BinaryOperator::PGLikeMatch => Some((false, false)),
            BinaryOperator::PGNotLikeMatch => Some((true, false)),
            BinaryOperator::PGILikeMatch => Some((false, true)),
            BinaryOperator::PGNotILikeMatch => Some((true, true)),
            _ => None,
        };
        if let Some((negated, folded)) = found {
            let fold = |expr| if folded { emit::call("lower", vec![expr]) } else { expr };
            return self.like(negated, [fold(left), fold(right)], None, names);
        }
        match op {
            BinaryOperator::Plus | BinaryOperator::Minus | BinaryOperator::Multiply
                if self.has_time(&left, &right, names) =>
            {
                self.time(left, &op, right, names)
            }
            BinaryOperator::Modulo => {
                let kinds = [self.kind(&left, names), self.kind(&right, names)];
                let (left, right) = (self.written(left, names)?, self.written(right, names)?);
                if kinds == [Kind::Integer, Kind::Integer] {
                    return Ok(emit::binary(left, op, right));
                }
                Ok(emit::call("tribunal_mod", vec![left, right]))
            }
            BinaryOperator::PGExp => self.named("power", vec![left, right], names),
            BinaryOperator::StringConcat => {
                let left = self.as_text(left, names)?;
                let right = self.as_text(right, names)?;
                Ok(emit::binary(left, op, right))
            }
            _ if crate::logic::is_comparison(&op) => {
                let (left, right) = self.alike(left, right, names)?;
                Ok(emit::binary(left, op, right))
            }
            _ => {
                let (left, right) = (self.written(left, names)?, self.written(right, names)?);
                Ok(Expr::BinaryOp { left: Box::new(left), op, right: Box::new(right) })
            }
        }
    }

    pub(super) fn as_text(&mut self, expr: Expr, names: &Names<'_>) -> Result<Expr, Failure> {
        let boolean = self.kind(&expr, names) == Kind::Boolean;
        let expr = self.written(expr, names)?;
        Ok(if boolean { truth_text(expr) } else { expr })
    }

    /// Two operands as what they are compared as.
    pub(super) fn alike(&mut self, left: Expr, right: Expr, names: &Names<'_>) -> Result<(Expr, Expr), Failure> {
        let mut both = self.all_alike(vec![left, right], names)?.into_iter();
        match (both.next(), both.next()) {
            (Some(left), Some(right)) => Ok((left, right)),
            _ => Err(Failure::invalid("two operands expected")),
        }
    }

    /// Operands as what they are compared as: texts as the dates or moments beside them, dates
    /// beside moments as moments.
    pub(super) fn all_alike(&mut self, exprs: Vec<Expr>, names: &Names<'_>) -> Result<Vec<Expr>, Failure> {
        if exprs.iter().any(|expr| is_span(expr) || self.is_lapse(expr, names)) {
            return exprs.into_iter().map(|expr| self.lapse(expr, names)).collect();
        }
        let mut wanted = Kind::Unknown;
        for expr in &exprs {
            let kind = self.kind(expr, names);
            if is_time(kind) {
                wanted = wider(wanted, kind).unwrap_or(kind);
            }
        }
        let mut written = Vec::with_capacity(exprs.len());
        for expr in exprs {
            let kind = self.kind(&expr, names);
            written.push(match literal(&expr) {
                Some(value) if wanted != Kind::Unknown => super::times::literal(value, wanted)?,
                _ => {
                    let expr = self.written(expr, names)?;
                    if kind == Kind::Date && wanted == Kind::Timestamp { super::times::midnight(expr) } else { expr }
                }
            });
        }
        Ok(written)
    }

    fn case(
        &mut self,
        operand: Option<Box<Expr>>,
        conditions: Vec<Expr>,
        results: Vec<Expr>,
        else_result: Option<Box<Expr>>,
        names: &Names<'_>,
    ) -> Result<Expr, Failure> {
        let mut whens = Vec::with_capacity(conditions.len());
        for condition in conditions {
            whens.push(match &operand {
                None => self.written(condition, names)?,
                Some(operand) => {
                    let (left, right) = self.alike((**operand).clone(), condition, names)?;
                    emit::binary(left, BinaryOperator::Eq, right)
                }
            });
        }
        let last = else_result.is_some();
        let thens = results.into_iter().chain(else_result.map(|result| *result)).collect();
        let mut thens = self.all_alike(thens, names)?;
        let otherwise = if last { thens.pop() } else { None };
        Ok(emit::case(whens.into_iter().zip(thens).collect(), otherwise))
    }

    /// `CAST(expr AS data_type)`.
    pub(super) fn cast(&mut self, expr: Expr, from: Kind, data_type: &DataType) -> Result<Expr, Failure> {
        let (kind, scale) = crate::casts::target(data_type)?;
        if let Some(value) = literal(&expr)
            && is_time(kind)
        {
            return match super::times::literal(value, kind) {
                Ok(literal) => Ok(literal),
                Err(_) => Ok(emit::call("date", vec![expr])),
            };
        }
        let native = |expr: Expr, data_type: DataType| Expr::Cast {
            kind: CastKind::Cast,
            expr: Box::new(expr),
            data_type,
            format: None,
        };
        Ok(match (from, kind) {
            (_, Kind::Date) => emit::call("date", vec![expr]),
            (_, Kind::Timestamp) => emit::call("tribunal_timestamp", vec![expr]),
            (Kind::Boolean, Kind::Text) => truth_text(expr),
            (_, Kind::Text) => native(expr, DataType::Text),
            (Kind::Float | Kind::Decimal, Kind::Integer) => {
                let rounded = emit::call("tribunal_round", vec![expr, emit::number(0)]);
                native(rounded, DataType::Integer(None))
            }
            (_, Kind::Integer) => native(expr, DataType::Integer(None)),
            (Kind::Integer, Kind::Boolean) => emit::binary(expr, BinaryOperator::NotEq, emit::number(0)),
            (_, Kind::Boolean) => emit::call("tribunal_truth", vec![expr]),
            (_, Kind::Decimal | Kind::Float) => {
                let real = native(expr, DataType::Real);
                match scale {
                    Some(scale) => emit::call("tribunal_round", vec![real, emit::number(scale)]),
                    None => real,
                }
            }
            (_, Kind::Unknown) => expr,
        })
    }

    /// A call of `name`, its arguments written.
    pub(super) fn named(&mut self, name: &str, arguments: Vec<Expr>, names: &Names<'_>) -> Result<Expr, Failure> {
        let mut written = Vec::with_capacity(arguments.len());
        for argument in arguments {
            written.push(self.written(argument, names)?);
        }
        Ok(emit::call(name, written))
    }
}

fn truth_text(expr: Expr) -> Expr {
    let branches = vec![(expr.clone(), text("true")), (emit::not(expr), text("false"))];
    emit::case(branches, None)
}

/// A column with its table at most, in quotes.
fn last_two(mut parts: Vec<Ident>) -> Vec<Ident> {
    let cut = parts.len().saturating_sub(2);
    parts.drain(..cut);
    parts.iter_mut().for_each(quote);
    parts
}
