//! Operators that give a value. The engine lets the left operand decide the type of the result,
//! and takes number literals for exact ones beside each other and for floats beside others: so
//! both operands get the same kind here, and literals are worked out.

use rust_decimal::Decimal;
use sqlparser::ast::{BinaryOperator, Expr};
use tribunal_protocol::{Failure, Kind, Value};

use crate::emit;
use crate::rewrite::{Place, Rewriter, coerce};
use crate::types::{Term, Typed, is_number};

impl Rewriter<'_> {
    /// `left op right`.
    pub fn arithmetic(
        &mut self,
        left: &Expr,
        op: &BinaryOperator,
        right: &Expr,
        place: Place<'_>,
    ) -> Result<Term, Failure> {
        if !matches!(
            op,
            BinaryOperator::Plus
                | BinaryOperator::Minus
                | BinaryOperator::Multiply
                | BinaryOperator::Divide
                | BinaryOperator::Modulo
                | BinaryOperator::StringConcat
                | BinaryOperator::PGExp
        ) {
            return Err(Failure::unsupported(format!("the operator {op}")));
        }
        let left = self.term(left, place)?;
        let right = self.term(right, place)?;
        match op {
            BinaryOperator::StringConcat => {
                let (left, right) = (left.value()?, right.value()?);
                Ok(self.concat(left, right)?.into())
            }
            BinaryOperator::PGExp => {
                let (left, right) = (left.value()?, right.value()?);
                Ok(self.apply("POWER", vec![left, right])?.into())
            }
            op => match self.with_time(left, op, right)? {
                Ok(term) => Ok(term),
                Err((left, right)) => Ok(self.calculate(left, op, right)?.into()),
            },
        }
    }

    /// `left op right` for numbers.
    pub fn calculate(&mut self, left: Typed, op: &BinaryOperator, right: Typed) -> Result<Typed, Failure> {
        let (left, right, kind) = self.pair(left, right)?;
        if kind == Kind::Unknown {
            return Ok(Typed::literal(Value::Null));
        }
        if !is_number(kind) {
            return Err(Failure::invalid(format!("{op} needs numbers, {kind} given")));
        }
        if left.is_null() || right.is_null() {
            return Ok(null(kind));
        }
        if let (Some(left), Some(right)) = (left.value(), right.value()) {
            return folded(left, op, right);
        }
        match op {
            BinaryOperator::Divide | BinaryOperator::Modulo => self.divide(left, op, right, kind),
            op => {
                let nullable = left.nullable || right.nullable;
                // A bare integer beside an integer of the engine is one for it, too.
                let expr = emit::binary(left.bare(), op.clone(), right.bare());
                Ok(Typed::new(expr, kind, nullable))
            }
        }
    }

    /// Division by zero gives NULL, as in SQLite. Integers are cut off towards zero.
    fn divide(&mut self, left: Typed, op: &BinaryOperator, right: Typed, kind: Kind) -> Result<Typed, Failure> {
        if *op == BinaryOperator::Modulo && kind == Kind::Float {
            return Err(Failure::unsupported("% of floats; CAST them AS DECIMAL"));
        }
        match right.value() {
            Some(value) if is_zero(value) => return Ok(null(kind)),
            Some(_) => {
                let nullable = left.nullable;
                let expr = emit::binary(left.expr(), op.clone(), right.bare());
                return Ok(Typed::new(expr, kind, nullable));
            }
            None => {}
        }
        let zero = match kind {
            Kind::Decimal => emit::decimal(0, 0),
            _ => emit::number(0),
        };
        if kind != Kind::Float {
            let divisor = emit::call("NULLIF", vec![right.expr(), zero]);
            let expr = emit::binary(left.expr(), op.clone(), divisor);
            return Ok(Typed::new(expr, kind, true));
        }
        // NULLIF takes floats below 2.2e-16 for zero.
        let mut sign = |op: BinaryOperator| -> Result<Expr, Failure> {
            let right = self.copy_of(&right)?;
            let zero = emit::literal(&Value::Float(0.0));
            let comparison = emit::binary(right.expr(), op, zero);
            let no = emit::boolean(false);
            Ok(emit::call("COALESCE", vec![comparison, no]))
        };
        let nonzero = emit::any(vec![sign(BinaryOperator::Gt)?, sign(BinaryOperator::Lt)?]);
        let quotient = emit::binary(left.expr(), op.clone(), right.expr());
        Ok(Typed::new(emit::case(vec![(nonzero, quotient)], None), kind, true))
    }

    /// `left || right`.
    pub fn concat(&mut self, left: Typed, right: Typed) -> Result<Typed, Failure> {
        let left = self.as_text(left)?;
        let right = self.as_text(right)?;
        if left.is_null() || right.is_null() {
            return Ok(null(Kind::Text));
        }
        if let (Some(left), Some(right)) = (left.text(), right.text()) {
            return Ok(Typed::literal(Value::Text(format!("{left}{right}"))));
        }
        let nullable = left.nullable || right.nullable;
        let expr = emit::binary(left.expr(), BinaryOperator::StringConcat, right.expr());
        Ok(Typed::new(expr, Kind::Text, nullable))
    }

    /// A number as one of `kind`.
    pub fn number(&mut self, value: Typed, kind: Kind, what: &str) -> Result<Typed, Failure> {
        if is_number(value.kind) || value.kind == Kind::Unknown || value.text().is_some() {
            return coerce(value, kind);
        }
        Err(Failure::invalid(format!("{what} needs a number, {} given", value.kind)))
    }
}

/// NULL of a kind.
pub fn null(kind: Kind) -> Typed {
    Typed { kind, ..Typed::literal(Value::Null) }
}

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Integer(i) => *i == 0,
        Value::Float(x) => *x == 0.0,
        Value::Decimal(d) => d.is_zero(),
        _ => false,
    }
}

/// Two literals of one kind.
fn folded(left: &Value, op: &BinaryOperator, right: &Value) -> Result<Typed, Failure> {
    if matches!(op, BinaryOperator::Divide | BinaryOperator::Modulo) && is_zero(right) {
        return Ok(null(left.kind()));
    }
    let value = match (left, right) {
        (Value::Integer(a), Value::Integer(b)) => integers(*a, op, *b).map(Value::Integer),
        (Value::Decimal(a), Value::Decimal(b)) => decimals(*a, op, *b).map(Value::Decimal),
        (Value::Float(a), Value::Float(b)) => floats(*a, op, *b).map(Value::Float),
        _ => None,
    };
    value.map(Typed::literal).ok_or_else(|| Failure::invalid(format!("{left} {op} {right} is out of range")))
}

fn integers(a: i64, op: &BinaryOperator, b: i64) -> Option<i64> {
    match op {
        BinaryOperator::Plus => a.checked_add(b),
        BinaryOperator::Minus => a.checked_sub(b),
        BinaryOperator::Multiply => a.checked_mul(b),
        BinaryOperator::Divide => a.checked_div(b),
        _ => a.checked_rem(b),
    }
}

fn decimals(a: Decimal, op: &BinaryOperator, b: Decimal) -> Option<Decimal> {
    match op {
        BinaryOperator::Plus => a.checked_add(b),
        BinaryOperator::Minus => a.checked_sub(b),
        BinaryOperator::Multiply => a.checked_mul(b),
        BinaryOperator::Divide => a.checked_div(b),
        _ => a.checked_rem(b),
    }
}

fn floats(a: f64, op: &BinaryOperator, b: f64) -> Option<f64> {
    let result = match op {
        BinaryOperator::Plus => a + b,
        BinaryOperator::Minus => a - b,
        BinaryOperator::Multiply => a * b,
        BinaryOperator::Divide => a / b,
        _ => return None,
    };
    result.is_finite().then_some(result)
}
