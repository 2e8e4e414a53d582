//! CAST: from what to what, and how the engine is told.

use sqlparser::ast::{BinaryOperator, DataType, ExactNumberInfo, Expr};
use tribunal_protocol::{Failure, Kind, Value};

use crate::emit;
use crate::rewrite::{Rewriter, coerce, convert};
use crate::types::Typed;

impl Rewriter<'_> {
    /// `CAST(value AS data_type)`.
    pub fn cast_to(&mut self, value: Typed, data_type: &DataType) -> Result<Typed, Failure> {
        let (kind, scale) = target(data_type)?;
        let value = self.cast_kind(value, kind)?;
        match scale {
            Some(scale) => self.round(value, scale),
            None => Ok(value),
        }
    }

    /// `CAST(value AS kind)`.
    pub fn cast_kind(&mut self, value: Typed, kind: Kind) -> Result<Typed, Failure> {
        if value.kind == kind {
            return Ok(value);
        }
        if value.is_null() {
            return Ok(crate::arith::null(kind));
        }
        if let Some(literal) = value.value()
            && let Some(converted) = convert(literal, kind)
        {
            return Ok(Typed::literal(converted));
        }
        match (value.kind, kind) {
            (_, Kind::Text) => self.as_text(value),
            (Kind::Text, _) if value.is_literal() => coerce(value, kind),
            (Kind::Text, Kind::Date) => {
                // Read as a moment, so that a time of day is cut off and not refused.
                let moment = plain(value, Kind::Timestamp);
                Ok(plain(moment, Kind::Date))
            }
            (Kind::Float | Kind::Decimal, Kind::Integer) => self.nearest_integer(value),
            (Kind::Integer, Kind::Boolean) => {
                let value = self.compare(value.into(), &BinaryOperator::NotEq, Typed::integer(0).into())?;
                self.truth_value(value)
            }
            (
                Kind::Unknown | Kind::Text,
                Kind::Integer | Kind::Float | Kind::Decimal | Kind::Timestamp | Kind::Boolean,
            )
            | (Kind::Unknown, _)
            | (Kind::Integer, Kind::Float | Kind::Decimal)
            | (Kind::Float, Kind::Decimal)
            | (Kind::Decimal, Kind::Float)
            | (Kind::Boolean, Kind::Integer)
            | (Kind::Date, Kind::Timestamp)
            | (Kind::Timestamp, Kind::Date) => Ok(plain(value, kind)),
            (from, to) => Err(Failure::invalid(format!("{from} cannot be cast to {to}"))),
        }
    }

    /// A value as text: `true`, `2024-01-31`, `12.50`.
    pub fn as_text(&mut self, value: Typed) -> Result<Typed, Failure> {
        if value.is_null() {
            return Ok(crate::arith::null(Kind::Text));
        }
        match value.kind {
            Kind::Text => Ok(value),
            Kind::Unknown => Ok(crate::arith::null(Kind::Text)),
            Kind::Float => Err(Failure::unsupported("a float as text; CAST it AS DECIMAL, or ROUND it, first")),
            Kind::Boolean => {
                let (nullable, again) = (value.nullable, self.copy_of(&value)?);
                let branches = vec![(value.expr(), emit::text("true")), (emit::not(again.expr()), emit::text("false"))];
                Ok(Typed::new(emit::case(branches, None), Kind::Text, nullable))
            }
            _ => match value.value() {
                Some(literal) if value.kind != Kind::Timestamp => Ok(Typed::literal(Value::Text(literal.to_string()))),
                _ => Ok(plain(value, Kind::Text)),
            },
        }
    }

    /// To the nearest integer, halves away from zero. The engine's own cast cuts off.
    fn nearest_integer(&mut self, value: Typed) -> Result<Typed, Failure> {
        if value.kind == Kind::Float {
            let nullable = value.nullable;
            let rounded = emit::call("ROUND", vec![value.expr()]);
            return Ok(Typed::new(emit::cast(rounded, Kind::Integer), Kind::Integer, nullable));
        }
        let rounded = self.round(value, 0)?;
        Ok(plain(rounded, Kind::Integer))
    }
}

fn plain(value: Typed, kind: Kind) -> Typed {
    let nullable = value.nullable;
    Typed::new(emit::cast(value.expr(), kind), kind, nullable)
}

/// The kind of a type, and the digits behind its point where it says so.
pub fn target(data_type: &DataType) -> Result<(Kind, Option<i64>), Failure> {
    use DataType as D;
    let scaled = |info: &ExactNumberInfo| match info {
        ExactNumberInfo::None => Ok((Kind::Decimal, None)),
        ExactNumberInfo::Precision(_) => Ok((Kind::Decimal, Some(0))),
        ExactNumberInfo::PrecisionAndScale(_, scale) => i64::try_from(*scale)
            .map(|scale| (Kind::Decimal, Some(scale)))
            .map_err(|_| Failure::invalid("a scale is out of range")),
    };
    Ok(match data_type {
        D::Numeric(info) | D::Decimal(info) | D::Dec(info) => return scaled(info),
        D::TinyInt(_)
        | D::Int2(_)
        | D::SmallInt(_)
        | D::Int(_)
        | D::Int4(_)
        | D::Int8(_)
        | D::Int16
        | D::Int32
        | D::Int64
        | D::Integer(_)
        | D::BigInt(_) => (Kind::Integer, None),
        D::Float(_) | D::Float4 | D::Float8 | D::Float32 | D::Float64 | D::Real | D::Double | D::DoublePrecision => {
            (Kind::Float, None)
        }
        D::Bool | D::Boolean => (Kind::Boolean, None),
        D::Text | D::String(None) | D::Varchar(None) | D::CharacterVarying(None) | D::CharVarying(None) => {
            (Kind::Text, None)
        }
        D::Date => (Kind::Date, None),
        D::Timestamp(None, sqlparser::ast::TimezoneInfo::None | sqlparser::ast::TimezoneInfo::WithoutTimeZone)
        | D::Datetime(None) => (Kind::Timestamp, None),
        other => return Err(Failure::unsupported(format!("the type {other}"))),
    })
}

/// A decimal expression, kept as one.
pub fn decimal(expr: Expr, nullable: bool) -> Typed {
    Typed::new(expr, Kind::Decimal, nullable)
}
