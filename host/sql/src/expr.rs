//! Expressions: what each form becomes.

use sqlparser::ast::{
    BinaryOperator, CastKind, CeilFloorKind, DataType, DateTimeField, Expr, Ident, UnaryOperator, Value as Literal,
};
use tribunal_protocol::{Failure, Kind, Value};

use crate::emit;
use crate::rewrite::{Place, Rewriter, convert};
use crate::types::{Term, Typed, is_number};

impl Rewriter<'_> {
    /// Rewrites an expression.
    pub fn term(&mut self, expr: &Expr, place: Place<'_>) -> Result<Term, Failure> {
        self.grow(1)?;
        if is_condition(expr) {
            let cond = self.condition(expr, place)?;
            return Ok(self.truth_value(cond)?.into());
        }
        match expr {
            Expr::Nested(inner) => self.term(inner, place),
            Expr::BinaryOp { left, op, right } => self.arithmetic(left, op, right, place),
            Expr::Interval(interval) => self.interval(interval),
            Expr::UnaryOp { op, expr } => self.signed(*op, expr, place),
            _ => Ok(self.single(expr, place)?.into()),
        }
    }

    fn single(&mut self, expr: &Expr, place: Place<'_>) -> Result<Typed, Failure> {
        match expr {
            Expr::Identifier(name) => self.identifier(name, place),
            Expr::CompoundIdentifier(parts) => compound(parts, place),
            Expr::Value(literal) => self.literal(literal),
            Expr::TypedString { data_type, value } => {
                let text = Typed::literal(Value::Text(value.clone()));
                self.cast_to(text, data_type)
            }
            Expr::Cast { kind, expr, data_type, format: None } => self.cast(kind, expr, data_type, place),
            Expr::Case { operand, conditions, results, else_result } => {
                self.case(operand.as_deref(), conditions, results, else_result.as_deref(), place)
            }
            Expr::Function(function) => self.function(function, place),
            Expr::Extract { field, expr, .. } => self.extract(field, expr, place),
            Expr::Ceil { expr, field } => {
                whole(field, "CEIL")?;
                self.call("CEIL", &[expr], place)
            }
            Expr::Floor { expr, field } => {
                whole(field, "FLOOR")?;
                self.call("FLOOR", &[expr], place)
            }
            Expr::Position { expr, r#in } => self.call("STRPOS", &[r#in, expr], place),
            Expr::Substring { expr, substring_from, substring_for, .. } => {
                self.substring(expr, substring_from.as_deref(), substring_for.as_deref(), place)
            }
            Expr::Trim { expr, trim_where, trim_what, trim_characters } => self.trim(
                expr,
                *trim_where,
                trim_what.as_deref().or_else(|| trim_characters.as_deref()?.first()),
                place,
            ),
            Expr::Subquery(query) => self.scalar(query, place),
            other => Err(Failure::unsupported(construct(other))),
        }
    }

    fn identifier(&mut self, name: &Ident, place: Place<'_>) -> Result<Typed, Failure> {
        if let Some(typed) = place.scope.column(&name.value)? {
            return Ok(typed);
        }
        if let Some(typed) = output(place, &name.value)? {
            return self.copy_of(&typed);
        }
        if name.quote_style == Some('"') {
            let failure = place.scope.unknown(&name.value);
            return Err(Failure::unknown(format!("{}; texts stand in single quotes", failure.message)));
        }
        Err(place.scope.unknown(&name.value))
    }

    fn literal(&mut self, literal: &Literal) -> Result<Typed, Failure> {
        Ok(Typed::literal(match literal {
            Literal::Number(number, _) => number_value(&number.to_string())?,
            Literal::SingleQuotedString(text) | Literal::NationalStringLiteral(text) => Value::Text(text.clone()),
            Literal::EscapedStringLiteral(text) => Value::Text(text.clone()),
            Literal::DollarQuotedString(text) => Value::Text(text.value.clone()),
            Literal::Boolean(truth) => Value::Boolean(*truth),
            Literal::Null => Value::Null,
            Literal::Placeholder(name) => self.parameter(name)?,
            other => return Err(Failure::unsupported(format!("the literal {other}"))),
        }))
    }

    fn parameter(&self, name: &str) -> Result<Value, Failure> {
        let index = name
            .strip_prefix('$')
            .and_then(|digits| digits.parse::<usize>().ok())
            .and_then(|number| number.checked_sub(1));
        let Some(index) = index else {
            return Err(Failure::invalid(format!("parameters are $1, $2, ..; {name} is none")));
        };
        self.parameters.get(index).cloned().ok_or_else(|| {
            Failure::invalid(format!("{name} is used, but {} parameters are given", self.parameters.len()))
        })
    }

    fn signed(&mut self, op: UnaryOperator, expr: &Expr, place: Place<'_>) -> Result<Term, Failure> {
        let negative = match op {
            UnaryOperator::Plus => false,
            UnaryOperator::Minus => true,
            _ => return Err(Failure::unsupported(format!("the operator {op}"))),
        };
        let term = self.term(expr, place)?;
        if !negative {
            return Ok(term);
        }
        let typed = match term {
            Term::Span(span) => return Ok(Term::Span(crate::dates::negated(span)?)),
            Term::Value(typed) => typed,
        };
        let negated = match typed.value() {
            Some(Value::Integer(i)) => i.checked_neg().map(Value::Integer),
            Some(Value::Float(x)) => Some(Value::Float(-x)),
            Some(Value::Decimal(d)) => Some(Value::Decimal(-d)),
            Some(Value::Null) => Some(Value::Null),
            _ => None,
        };
        if let Some(value) = negated {
            return Ok(Typed::literal(value).into());
        }
        if !is_number(typed.kind) {
            return Err(Failure::invalid(format!("- needs a number, {} given", typed.kind)));
        }
        // The engine's own minus wraps at the smallest integer; its subtraction does not.
        let (kind, nullable) = (typed.kind, typed.nullable);
        let negated = match kind {
            Kind::Integer => emit::binary(emit::number(0), BinaryOperator::Minus, typed.expr()),
            _ => Expr::UnaryOp { op: UnaryOperator::Minus, expr: Box::new(Expr::Nested(Box::new(typed.expr()))) },
        };
        Ok(Typed::new(negated, kind, nullable).into())
    }

    fn cast(&mut self, kind: &CastKind, expr: &Expr, data_type: &DataType, place: Place<'_>) -> Result<Typed, Failure> {
        match kind {
            CastKind::Cast | CastKind::DoubleColon => {}
            CastKind::TryCast | CastKind::SafeCast => {
                return Err(Failure::unsupported("TRY_CAST"));
            }
        }
        let typed = self.value(expr, place)?;
        self.cast_to(typed, data_type)
    }

    fn case(
        &mut self,
        operand: Option<&Expr>,
        conditions: &[Expr],
        results: &[Expr],
        otherwise: Option<&Expr>,
        place: Place<'_>,
    ) -> Result<Typed, Failure> {
        let operand = operand.map(|operand| self.term(operand, place)).transpose()?;
        let mut whens = Vec::with_capacity(conditions.len());
        for condition in conditions {
            let cond = match &operand {
                None => self.condition(condition, place)?,
                Some(operand) => {
                    let when = self.term(condition, place)?;
                    let operand = match operand {
                        Term::Value(typed) => Term::Value(self.copy_of(typed)?),
                        Term::Span(span) => Term::Span(span.clone()),
                    };
                    self.compare(operand, &BinaryOperator::Eq, when)?
                }
            };
            // A WHEN takes NULL for FALSE, as a filter does.
            let mut parts = Vec::new();
            cond.filters(&mut parts);
            whens.push(emit::all(parts));
        }
        let mut thens = Vec::with_capacity(results.len() + 1);
        for result in results {
            thens.push(self.value(result, place)?);
        }
        thens.push(match otherwise {
            Some(otherwise) => self.value(otherwise, place)?,
            None => Typed::literal(Value::Null),
        });
        self.choose(whens, thens)
    }

    /// `CASE WHEN .. THEN .. ELSE .. END`: the last of `thens` is for ELSE.
    pub fn choose(&mut self, whens: Vec<Expr>, thens: Vec<Typed>) -> Result<Typed, Failure> {
        let nullable = thens.iter().any(|then| then.nullable);
        let (mut thens, kind) = self.unify(thens)?;
        let otherwise = thens.pop().map(Typed::expr);
        let branches = whens.into_iter().zip(thens.into_iter().map(Typed::expr)).collect();
        Ok(Typed::new(emit::case(branches, otherwise), kind, nullable))
    }

    /// A function of our own spelling, for syntax that is a call in disguise.
    fn call(&mut self, name: &str, arguments: &[&Expr], place: Place<'_>) -> Result<Typed, Failure> {
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            values.push(self.value(argument, place)?);
        }
        self.apply(name, values)
    }
}

/// An output column that may be named in this clause.
fn output(place: Place<'_>, name: &str) -> Result<Option<Typed>, Failure> {
    let mut found = place.outputs.iter().filter(|output| output.named && crate::scope::same(&output.name, name));
    match (found.next(), found.next()) {
        (Some(_), Some(_)) => Err(Failure::invalid(format!("column {name} is ambiguous"))),
        (output, _) => Ok(output.map(|output| output.typed.clone())),
    }
}

fn compound(parts: &[Ident], place: Place<'_>) -> Result<Typed, Failure> {
    match parts {
        // A schema before the table says nothing here: there is one.
        [table, name] | [_, table, name] => place.scope.column_of(&table.value, &name.value),
        _ => {
            let names: Vec<_> = parts.iter().map(|part| part.value.as_str()).collect();
            Err(Failure::unknown(format!("no column {}", names.join("."))))
        }
    }
}

/// The value of a number: an integer where it fits one and has no point, else an exact decimal;
/// with an exponent, a float.
pub fn number_value(digits: &str) -> Result<Value, Failure> {
    use tribunal_protocol::value::decimal_of;
    if digits.contains(['e', 'E']) {
        let decimal = decimal_of(digits).map(Value::Decimal);
        let float = || digits.parse().ok().filter(|x: &f64| x.is_finite());
        return decimal
            .or_else(|| float().map(Value::Float))
            .ok_or_else(|| Failure::invalid(format!("{digits} is too large")));
    }
    if !digits.contains('.')
        && let Ok(integer) = digits.parse()
    {
        return Ok(Value::Integer(integer));
    }
    let decimal = convert(&Value::Text(digits.to_owned()), Kind::Decimal);
    decimal.ok_or_else(|| Failure::invalid(format!("{digits} has more than 28 digits")))
}

fn whole(field: &CeilFloorKind, name: &str) -> Result<(), Failure> {
    match field {
        CeilFloorKind::DateTimeField(DateTimeField::NoDateTime) => Ok(()),
        _ => Err(Failure::unsupported(format!("{name} with TO or a scale"))),
    }
}

/// Whether an expression is a condition by its form.
pub fn is_condition(expr: &Expr) -> bool {
    match expr {
        Expr::BinaryOp { op, .. } => matches!(
            op,
            BinaryOperator::And
                | BinaryOperator::Or
                | BinaryOperator::Xor
                | BinaryOperator::Eq
                | BinaryOperator::NotEq
                | BinaryOperator::Lt
                | BinaryOperator::LtEq
                | BinaryOperator::Gt
                | BinaryOperator::GtEq
                | BinaryOperator::PGLikeMatch
                | BinaryOperator::PGILikeMatch
                | BinaryOperator::PGNotLikeMatch
                | BinaryOperator::PGNotILikeMatch
        ),
        Expr::UnaryOp { op, .. } => *op == UnaryOperator::Not,
        Expr::Nested(inner) => is_condition(inner),
        Expr::IsFalse(_)
        | Expr::IsNotFalse(_)
        | Expr::IsTrue(_)
        | Expr::IsNotTrue(_)
        | Expr::IsNull(_)
        | Expr::IsNotNull(_)
        | Expr::IsUnknown(_)
        | Expr::IsNotUnknown(_)
        | Expr::IsDistinctFrom(..)
        | Expr::IsNotDistinctFrom(..)
        | Expr::InList { .. }
        | Expr::InSubquery { .. }
        | Expr::Between { .. }
        | Expr::Like { .. }
        | Expr::ILike { .. }
        | Expr::AnyOp { .. }
        | Expr::AllOp { .. }
        | Expr::Exists { .. } => true,
        _ => false,
    }
}

/// The name of a construct that does not run.
fn construct(expr: &Expr) -> &'static str {
    match expr {
        Expr::SimilarTo { .. } => "SIMILAR TO",
        Expr::RLike { .. } => "RLIKE",
        Expr::Convert { .. } => "CONVERT",
        Expr::Cast { .. } => "CAST with FORMAT",
        Expr::AtTimeZone { .. } => "AT TIME ZONE",
        Expr::Overlay { .. } => "OVERLAY",
        Expr::Collate { .. } => "COLLATE",
        Expr::GroupingSets(_) | Expr::Cube(_) | Expr::Rollup(_) => "GROUPING SETS, CUBE or ROLLUP",
        Expr::Tuple(_) => "a row value (a, b)",
        Expr::Array(_) | Expr::Subscript { .. } | Expr::InUnnest { .. } => "arrays",
        Expr::JsonAccess { .. } | Expr::MapAccess { .. } | Expr::CompositeAccess { .. } => {
            "access to the parts of a value"
        }
        Expr::Wildcard | Expr::QualifiedWildcard(_) => "* here",
        _ => "an expression of this form",
    }
}
