//! Functions of numbers. The engine has most of them for floats alone; decimals are rounded by way
//! of integers here, so that no digit is lost.

use sqlparser::ast::{BinaryOperator, Expr};
use tribunal_protocol::{Failure, Kind, Value};

use crate::casts::decimal;
use crate::emit;
use crate::rewrite::Rewriter;
use crate::types::Typed;

/// Digits behind the point to which a number can be rounded, at most.
const MAX_SCALE: i64 = 12;

impl Rewriter<'_> {
    /// A function of numbers; none where `name` is not one.
    pub fn number_function(&mut self, name: &str, arguments: &[Typed]) -> Result<Option<Typed>, Failure> {
        let keeps = matches!(name, "ABS" | "ROUND" | "TRUNC" | "FLOOR" | "CEIL" | "CEILING");
        if let Some(x) = arguments.first().filter(|x| keeps && x.is_null()) {
            return Ok(Some(crate::arith::null(x.kind)));
        }
        let result = match (name, arguments) {
            ("ABS", [x]) => self.absolute(x.clone()),
            ("ROUND", [x]) => self.round_number(x.clone(), 0),
            ("ROUND", [x, digits]) => {
                let digits = digits.number().ok_or_else(|| scale_expected("ROUND"))?;
                self.round_number(x.clone(), digits)
            }
            ("TRUNC", [x]) => self.cut(x.clone(), 0),
            ("TRUNC", [x, digits]) => {
                let digits = digits.number().ok_or_else(|| scale_expected("TRUNC"))?;
                self.cut(x.clone(), digits)
            }
            ("FLOOR", [x]) => self.step(x.clone(), "FLOOR"),
            ("CEIL" | "CEILING", [x]) => self.step(x.clone(), "CEIL"),
            ("MOD", [a, b]) => self.calculate(a.clone(), &BinaryOperator::Modulo, b.clone()),
            ("POWER" | "POW", [a, b]) => self.power(a.clone(), b.clone()),
            ("SQRT", [x]) => self.guarded("SQRT", x.clone(), BinaryOperator::GtEq),
            ("LN", [x]) => self.guarded("LN", x.clone(), BinaryOperator::Gt),
            ("LOG" | "LOG10", [x]) => self.guarded("LOG10", x.clone(), BinaryOperator::Gt),
            ("LOG2", [x]) => self.guarded("LOG2", x.clone(), BinaryOperator::Gt),
            ("EXP", [x]) => {
                let x = self.number(x.clone(), Kind::Float, "EXP")?;
                Ok(float_call("EXP", vec![x]))
            }
            ("SIGN", [x]) => {
                let x = self.number(x.clone(), Kind::Float, "SIGN")?;
                let nullable = x.nullable;
                let sign = emit::call("SIGN", vec![x.expr()]);
                let sign = emit::cast(sign, Kind::Integer);
                Ok(Typed::new(sign, Kind::Integer, nullable))
            }
            ("PI", []) => Ok(Typed::literal(Value::Float(std::f64::consts::PI))),
            _ => return Ok(None),
        };
        result.map(Some)
    }

    fn absolute(&mut self, x: Typed) -> Result<Typed, Failure> {
        let kind = numeric(&x, "ABS")?;
        let x = self.number(x, kind, "ABS")?;
        let nullable = x.nullable;
        Ok(Typed::new(emit::call("ABS", vec![x.expr()]), kind, nullable))
    }

    fn power(&mut self, a: Typed, b: Typed) -> Result<Typed, Failure> {
        let a = self.number(a, Kind::Float, "POWER")?;
        let b = self.number(b, Kind::Float, "POWER")?;
        Ok(float_call("POWER", vec![a, b]))
    }

    /// A function of floats that has no value outside a range: NULL there, as in SQLite.
    fn guarded(&mut self, name: &str, x: Typed, op: BinaryOperator) -> Result<Typed, Failure> {
        let x = self.number(x, Kind::Float, name)?;
        let again = self.copy_of(&x)?;
        let zero = emit::literal(&Value::Float(0.0));
        let inside = emit::binary(again.expr(), op, zero);
        let value = emit::call(name, vec![x.expr()]);
        Ok(Typed::new(emit::case(vec![(inside, value)], None), Kind::Float, true))
    }

    /// `ROUND(x, digits)`: halves away from zero. A float is rounded by its decimal text.
    fn round_number(&mut self, x: Typed, digits: i64) -> Result<Typed, Failure> {
        match numeric(&x, "ROUND")? {
            Kind::Integer if digits >= 0 => self.number(x, Kind::Integer, "ROUND"),
            Kind::Float if digits == 0 => {
                let x = self.number(x, Kind::Float, "ROUND")?;
                Ok(float_call("ROUND", vec![x]))
            }
            Kind::Float => {
                let x = self.cast_kind(x, Kind::Decimal)?;
                let rounded = self.round(x, digits)?;
                self.cast_kind(rounded, Kind::Float)
            }
            kind => {
                let x = self.number(x, kind, "ROUND")?;
                let x = self.cast_kind(x, Kind::Decimal)?;
                let rounded = self.round(x, digits)?;
                if kind == Kind::Integer {
                    return self.cast_kind(rounded, Kind::Integer);
                }
                Ok(rounded)
            }
        }
    }

    /// A decimal, rounded.
    pub fn round(&mut self, x: Typed, digits: i64) -> Result<Typed, Failure> {
        let scale = scale(digits, "ROUND")?;
        if let Some(Value::Decimal(number)) = x.value()
            && let Ok(scale) = u32::try_from(digits)
        {
            let strategy = rust_decimal::RoundingStrategy::MidpointAwayFromZero;
            let mut rounded = number.round_dp_with_strategy(scale, strategy);
            rounded.rescale(scale);
            return Ok(Typed::literal(Value::Decimal(rounded)));
        }
        if x.is_null() {
            return Ok(x);
        }
        let nullable = x.nullable;
        let again = self.copy_of(&x)?.expr();
        let half = emit::case(
            vec![(emit::binary(again, BinaryOperator::Lt, emit::decimal(0, 0)), emit::decimal(-5, 1))],
            Some(emit::decimal(5, 1)),
        );
        let scaled = scale.up(x.expr());
        let sum = emit::binary(scaled, BinaryOperator::Plus, half);
        Ok(decimal(scale.down(whole(sum)), nullable))
    }

    /// `TRUNC(x, digits)`: cut off towards zero.
    fn cut(&mut self, x: Typed, digits: i64) -> Result<Typed, Failure> {
        let kind = numeric(&x, "TRUNC")?;
        if kind == Kind::Float && digits == 0 {
            let x = self.number(x, Kind::Float, "TRUNC")?;
            return Ok(float_call("TRUNC", vec![x]));
        }
        if kind == Kind::Integer && digits >= 0 {
            return self.number(x, Kind::Integer, "TRUNC");
        }
        let scale = scale(digits, "TRUNC")?;
        let x = self.cast_kind(x, Kind::Decimal)?;
        let nullable = x.nullable;
        let cut = decimal(scale.down(whole(scale.up(x.expr()))), nullable);
        self.cast_kind_cutting(cut, kind)
    }

    /// FLOOR and CEIL.
    fn step(&mut self, x: Typed, name: &str) -> Result<Typed, Failure> {
        let kind = numeric(&x, name)?;
        let x = self.number(x, kind, name)?;
        match kind {
            Kind::Integer => Ok(x),
            Kind::Float => Ok(float_call(name, vec![x])),
            _ => {
                let nullable = x.nullable;
                let (again, third) = (self.copy_of(&x)?.expr(), self.copy_of(&x)?.expr());
                let cut = || emit::cast(whole(x.clone().expr()), Kind::Decimal);
                let (op, by) = if name == "FLOOR" {
                    (BinaryOperator::Lt, BinaryOperator::Minus)
                } else {
                    (BinaryOperator::Gt, BinaryOperator::Plus)
                };
                let beyond = emit::binary(again, op, emit::cast(whole(third), Kind::Decimal));
                let next = emit::binary(cut(), by, emit::decimal(1, 0));
                let expr = emit::case(vec![(beyond, next)], Some(cut()));
                Ok(decimal(expr, nullable))
            }
        }
    }

    fn cast_kind_cutting(&mut self, value: Typed, kind: Kind) -> Result<Typed, Failure> {
        match kind {
            Kind::Integer => {
                let nullable = value.nullable;
                Ok(Typed::new(whole(value.expr()), kind, nullable))
            }
            kind => self.cast_kind(value, kind),
        }
    }
}

/// A power of ten, to move the point by.
#[derive(Clone, Copy)]
struct Scale(i64);

impl Scale {
    fn up(self, expr: Expr) -> Expr {
        self.times(expr, self.0)
    }

    fn down(self, whole: Expr) -> Expr {
        self.times(emit::cast(whole, Kind::Decimal), -self.0)
    }

    fn times(self, expr: Expr, power: i64) -> Expr {
        let places = u32::try_from(power.abs()).unwrap_or(0);
        match power {
            0 => expr,
            power if power > 0 => emit::binary(expr, BinaryOperator::Multiply, emit::decimal(10_i64.pow(places), 0)),
            _ => emit::binary(expr, BinaryOperator::Multiply, emit::decimal(1, places)),
        }
    }
}

/// A decimal, cut off to an integer of the engine.
fn whole(expr: Expr) -> Expr {
    emit::cast(expr, Kind::Integer)
}

fn scale(digits: i64, name: &str) -> Result<Scale, Failure> {
    if digits.abs() > MAX_SCALE {
        return Err(Failure::unsupported(format!("{name} to more than {MAX_SCALE} digits")));
    }
    Ok(Scale(digits))
}

fn scale_expected(name: &str) -> Failure {
    Failure::unsupported(format!("{name} to a number of digits that is no literal"))
}

/// The kind of a number; a text literal is read as a float.
fn numeric(x: &Typed, name: &str) -> Result<Kind, Failure> {
    match x.kind {
        kind @ (Kind::Integer | Kind::Float | Kind::Decimal) => Ok(kind),
        Kind::Unknown => Ok(Kind::Float),
        Kind::Text if x.is_literal() => Ok(Kind::Float),
        kind => Err(Failure::invalid(format!("{name} needs a number, {kind} given"))),
    }
}

fn float_call(name: &str, arguments: Vec<Typed>) -> Typed {
    let nullable = arguments.iter().any(|argument| argument.nullable);
    let arguments = arguments.into_iter().map(Typed::expr).collect();
    Typed::new(emit::call(name, arguments), Kind::Float, nullable)
}
