//! The gate for expressions.

use std::collections::BTreeSet;

use bigdecimal::BigDecimal;
use gluesql_core::ast::{
    Aggregate, AggregateFunction, BinaryOperator, CountArgExpr, DataType, Expr, Literal, UnaryOperator,
};
use tribunal_protocol::Failure;

use super::{Footprint, Shape, fold};
use crate::walk::{children, subquery};

/// Digits of a number literal, before and after the point together, at most.
const MAX_DIGITS: u64 = 60;
/// The power of ten of a number literal, at most, in both directions.
const MAX_EXPONENT: i64 = 400;

impl Footprint {
    pub(super) fn expressions<'a>(
        &mut self,
        expressions: impl IntoIterator<Item = &'a mut Expr>,
        inner: &mut Vec<Shape>,
    ) -> Result<(), Failure> {
        expressions.into_iter().try_for_each(|expression| self.expression(expression, inner))
    }

    /// Lets an expression through: itself, then its parts, then its subquery.
    pub(super) fn expression(&mut self, expression: &mut Expr, inner: &mut Vec<Shape>) -> Result<(), Failure> {
        self.node(expression)?;
        let mut result = Ok(());
        children(expression, &mut |child| {
            if result.is_ok() {
                result = self.expression(child, inner);
            }
        });
        result?;
        if let Some(query) = subquery(expression) {
            let shape = self.query(query)?;
            inner.push(shape);
        }
        fold::fold(expression);
        Ok(())
    }

    /// Lets an expression through without its parts.
    fn node(&mut self, expression: &Expr) -> Result<(), Failure> {
        match expression {
            Expr::Identifier(ident) => {
                self.bare.insert(ident.clone());
                Ok(())
            }
            Expr::CompoundIdentifier { alias, ident } => {
                self.qualify(alias, ident);
                Ok(())
            }
            Expr::BinaryOp { op, .. } => binary(op),
            Expr::UnaryOp { op, .. } => unary(op),
            Expr::Literal(Literal::Number(number)) => number_literal(number),
            Expr::TypedString { data_type, .. } => data_type_allowed(data_type),
            Expr::Function(function) => self.function(function),
            Expr::Aggregate(aggregate) => {
                self.aggregate(aggregate);
                Ok(())
            }
            // The engine's own mean something else; ours stands for LIKE alone.
            Expr::Like { negated: true, .. } | Expr::ILike { .. } => {
                Err(Failure::unsupported("LIKE in this form is not supported"))
            }
            Expr::ArrayIndex { .. } | Expr::Array { .. } => Err(Failure::unsupported("arrays are not supported")),
            Expr::IsNull(_)
            | Expr::IsNotNull(_)
            | Expr::Nested(_)
            | Expr::InList { .. }
            | Expr::InSubquery { .. }
            | Expr::Between { .. }
            | Expr::Like { negated: false, .. }
            | Expr::Regex { .. }
            | Expr::Literal(Literal::QuotedString(_))
            | Expr::Value(_)
            | Expr::Exists { .. }
            | Expr::Subquery(_)
            | Expr::Case { .. }
            | Expr::Interval { .. } => Ok(()),
        }
    }

    fn qualify(&mut self, alias: &str, ident: &str) {
        if let Some(names) = self.qualified.get_mut(alias) {
            if !names.contains(ident) {
                names.insert(ident.to_owned());
            }
            return;
        }
        let names = BTreeSet::from([ident.to_owned()]);
        self.qualified.insert(alias.to_owned(), names);
    }

    fn aggregate(&mut self, aggregate: &Aggregate) {
        let Aggregate { func, distinct } = aggregate;
        match func {
            // COUNT(DISTINCT *) looks at every column.
            AggregateFunction::Count(CountArgExpr::Wildcard) => self.everything |= *distinct,
            AggregateFunction::Count(CountArgExpr::Expr(_))
            | AggregateFunction::Sum(_)
            | AggregateFunction::Max(_)
            | AggregateFunction::Min(_)
            | AggregateFunction::Avg(_)
            | AggregateFunction::Variance(_)
            | AggregateFunction::Stdev(_) => {}
        }
    }
}

fn binary(operator: &BinaryOperator) -> Result<(), Failure> {
    match operator {
        BinaryOperator::Plus
        | BinaryOperator::Minus
        | BinaryOperator::Multiply
        | BinaryOperator::Divide
        | BinaryOperator::Modulo
        | BinaryOperator::StringConcat
        | BinaryOperator::Gt
        | BinaryOperator::Lt
        | BinaryOperator::GtEq
        | BinaryOperator::LtEq
        | BinaryOperator::Eq
        | BinaryOperator::NotEq
        | BinaryOperator::And
        | BinaryOperator::Or => Ok(()),
        BinaryOperator::Xor => Err(Failure::unsupported("XOR is not supported")),
        BinaryOperator::BitwiseAnd | BinaryOperator::BitwiseShiftLeft | BinaryOperator::BitwiseShiftRight => {
            Err(Failure::unsupported("operators on bits are not supported"))
        }
        BinaryOperator::Arrow => Err(Failure::unsupported("-> is not supported")),
    }
}

fn unary(operator: &UnaryOperator) -> Result<(), Failure> {
    match operator {
        UnaryOperator::Plus | UnaryOperator::Minus | UnaryOperator::Not => Ok(()),
        UnaryOperator::Factorial => Err(Failure::unsupported("factorials are not supported")),
        UnaryOperator::BitwiseNot => Err(Failure::unsupported("operators on bits are not supported")),
    }
}

/// A short literal such as `1e100000000` stands for a number of a hundred million digits.
fn number_literal(number: &BigDecimal) -> Result<(), Failure> {
    let exponent = number.fractional_digit_count();
    if exponent.abs() > MAX_EXPONENT || number.digits() > MAX_DIGITS {
        return Err(Failure::unsupported("a number is too long"));
    }
    Ok(())
}

pub(super) fn data_type_allowed(data_type: &DataType) -> Result<(), Failure> {
    match data_type {
        DataType::Boolean
        | DataType::Int
        | DataType::Float
        | DataType::Text
        | DataType::Date
        | DataType::Timestamp
        | DataType::Interval
        | DataType::Decimal => Ok(()),
        DataType::Int8
        | DataType::Int16
        | DataType::Int32
        | DataType::Int128
        | DataType::Uint8
        | DataType::Uint16
        | DataType::Uint32
        | DataType::Uint64
        | DataType::Uint128
        | DataType::Float32
        | DataType::Bytea
        | DataType::Inet
        | DataType::Time
        | DataType::Uuid
        | DataType::Map
        | DataType::List
        | DataType::Point => Err(Failure::unsupported(format!(
            "type {data_type} is not supported; use BOOLEAN, INTEGER, FLOAT, DECIMAL, TEXT, DATE \
             or TIMESTAMP"
        ))),
    }
}
