//! Aggregate functions.

use sqlparser::ast::{BinaryOperator, Expr, FunctionArgExpr};
use tribunal_protocol::{Failure, Kind, Value};

use crate::emit;
use crate::functions::Arguments;
use crate::rewrite::{Clause, Place, Rewriter};
use crate::types::{Typed, is_number};

/// Whether a call is one of an aggregate function.
pub fn is_aggregate(name: &str, arguments: &Arguments<'_>) -> bool {
    match name {
        "MIN" | "MAX" => arguments.list.len() == 1,
        "COUNT" | "SUM" | "AVG" | "TOTAL" | "STDDEV" | "STDDEV_SAMP" | "STDDEV_POP" | "VARIANCE" | "VAR_SAMP"
        | "VAR_POP" | "BOOL_OR" | "BOOL_AND" | "EVERY" => true,
        _ => false,
    }
}

impl Rewriter<'_> {
    /// Rewrites a call of an aggregate function.
    pub fn aggregate(
        &mut self,
        name: &str,
        arguments: &Arguments<'_>,
        filter: Option<&Expr>,
        place: Place<'_>,
    ) -> Result<Typed, Failure> {
        if let Clause::Plain(clause) = place.clause {
            return Err(Failure::invalid(format!(
                "{name} cannot stand in {clause}; aggregates go to the select list or HAVING"
            )));
        }
        self.aggregated = true;
        let inner = Place { clause: Clause::Plain("another aggregate"), outputs: &[], ..place };
        let filter = match filter {
            None => None,
            Some(filter) => {
                let mut filters = Vec::new();
                self.condition(filter, inner)?.filters(&mut filters);
                Some(emit::all(filters))
            }
        };
        if arguments.star {
            return count_rows(name, arguments.distinct, filter);
        }
        let [argument] = arguments.list.as_slice() else {
            return Err(match (name, arguments.list.len()) {
                ("COUNT", 2..) => Failure::unsupported("COUNT of several columns"),
                (_, count) => Failure::invalid(format!("{name} takes one argument, {count} given")),
            });
        };
        let value = match name {
            "BOOL_OR" | "BOOL_AND" | "EVERY" => {
                let cond = self.condition(argument, inner)?;
                self.truth_value(cond)?
            }
            _ => self.value(argument, inner)?,
        };
        self.outer_only(&value, place)?;
        let value = match filter {
            None => value,
            Some(filter) => {
                let thens = vec![value, Typed::literal(Value::Null)];
                self.choose(vec![filter], thens)?
            }
        };
        self.aggregate_of(name, value, arguments.distinct)
    }

    /// An aggregate of outer columns alone belongs to the outer query in SQL; the engine takes it
    /// for one of the inner.
    fn outer_only(&self, value: &Typed, place: Place<'_>) -> Result<(), Failure> {
        let mut own = false;
        let mut outer = false;
        crate::walk::columns(&value.clone().expr(), &mut |alias, _| {
            own |= place.scope.has(alias);
            outer |= place.scope.parent.is_some_and(|parent| parent.reaches(alias));
        });
        if outer && !own {
            return Err(Failure::unsupported("an aggregate of an outer query's columns"));
        }
        Ok(())
    }

    fn aggregate_of(&mut self, name: &str, value: Typed, distinct: bool) -> Result<Typed, Failure> {
        match name {
            "COUNT" => Ok(Typed::new(call("COUNT", value.expr(), distinct), Kind::Integer, false)),
            "MIN" | "MAX" => {
                let kind = value.kind;
                Ok(Typed::new(call(name, value.expr(), false), kind, true))
            }
            "SUM" => {
                let value = self.summand(value, "SUM")?;
                let kind = value.kind;
                Ok(Typed::new(call("SUM", value.expr(), distinct), kind, true))
            }
            "TOTAL" => {
                let value = self.summand(value, "TOTAL")?;
                let value = self.cast_kind(value, Kind::Float)?;
                let sum = Typed::new(call("SUM", value.expr(), distinct), Kind::Float, true);
                self.apply("COALESCE", vec![sum, Typed::literal(Value::Float(0.0))])
            }
            "AVG" => self.average(value, distinct),
            "BOOL_OR" | "BOOL_AND" | "EVERY" => {
                let extreme = if name == "BOOL_OR" { "MAX" } else { "MIN" };
                let number = self.boolean_number(value)?;
                let found = Typed::new(call(extreme, number.expr(), false), Kind::Integer, true);
                let cond = self.compare(found.into(), &BinaryOperator::Eq, Typed::integer(1).into())?;
                self.truth_value(cond)
            }
            _ => self.spread(name, value, distinct),
        }
    }

    /// The average of decimals is a decimal; the engine's own is a float.
    fn average(&mut self, value: Typed, distinct: bool) -> Result<Typed, Failure> {
        let value = self.summand(value, "AVG")?;
        if value.kind != Kind::Decimal {
            return Ok(Typed::new(call("AVG", value.expr(), distinct), Kind::Float, true));
        }
        let again = self.copy_of(&value)?;
        let sum = call("SUM", value.expr(), distinct);
        let count = emit::cast(call("COUNT", again.expr(), distinct), Kind::Decimal);
        // Of no values, the sum is NULL, and so is the quotient.
        let average = emit::binary(sum, BinaryOperator::Divide, count);
        Ok(Typed::new(average, Kind::Decimal, true))
    }

    /// Variance and standard deviation from the sums of the values and of their squares. Sums of
    /// integers and decimals are exact; floats are made decimals first, or the difference of two
    /// near sums would lose its digits.
    fn spread(&mut self, name: &str, value: Typed, distinct: bool) -> Result<Typed, Failure> {
        let value = self.summand(value, name)?;
        let value = self.cast_kind(value, Kind::Decimal)?;
        let copies = [self.copy_of(&value)?, self.copy_of(&value)?, self.copy_of(&value)?];
        let [left, right, counted] = copies;
        let square = self.calculate(left, &BinaryOperator::Multiply, right)?;
        let squares = call("SUM", square.expr(), distinct);
        let sum = call("SUM", value.expr(), distinct);
        let count = || emit::cast(call("COUNT", counted.clone().expr(), distinct), Kind::Decimal);
        let mean_square =
            emit::binary(emit::binary(sum.clone(), BinaryOperator::Multiply, sum), BinaryOperator::Divide, count());
        let spread = emit::binary(squares, BinaryOperator::Minus, mean_square);
        let sample = !name.ends_with("_POP");
        let divisor = if sample {
            let less = emit::binary(count(), BinaryOperator::Minus, emit::decimal(1, 0));
            emit::call("NULLIF", vec![less, emit::decimal(0, 0)])
        } else {
            count()
        };
        let variance = emit::binary(spread, BinaryOperator::Divide, divisor);
        let variance = emit::cast(variance, Kind::Float);
        let result = if name.starts_with("STDDEV") {
            // The last digit may be below zero where all values are the same.
            let negative = emit::binary(variance.clone(), BinaryOperator::Lt, emit::literal(&Value::Float(0.0)));
            let root = emit::call("SQRT", vec![variance]);
            emit::case(vec![(negative, emit::literal(&Value::Float(0.0)))], Some(root))
        } else {
            variance
        };
        Ok(Typed::new(result, Kind::Float, true))
    }

    /// Something that can be summed: a number, or a condition as 0 and 1.
    fn summand(&mut self, value: Typed, name: &str) -> Result<Typed, Failure> {
        match value.kind {
            Kind::Boolean => self.boolean_number(value),
            kind if is_number(kind) => Ok(value),
            Kind::Unknown => Ok(crate::arith::null(Kind::Integer)),
            kind => Err(Failure::invalid(format!("{name} needs numbers, {kind} given"))),
        }
    }

    fn boolean_number(&mut self, value: Typed) -> Result<Typed, Failure> {
        let nullable = value.nullable;
        let number = emit::cast(value.expr(), Kind::Integer);
        Ok(Typed::new(number, Kind::Integer, nullable))
    }
}

fn call(name: &str, argument: Expr, distinct: bool) -> Expr {
    Expr::Function(emit::function(name, vec![FunctionArgExpr::Expr(argument)], distinct))
}

fn count_rows(name: &str, distinct: bool, filter: Option<Expr>) -> Result<Typed, Failure> {
    if name != "COUNT" {
        return Err(Failure::invalid(format!("{name}(*) has no meaning")));
    }
    if distinct {
        return Err(Failure::unsupported("COUNT(DISTINCT *)"));
    }
    let counted = match filter {
        None => Expr::Function(emit::function("COUNT", vec![FunctionArgExpr::Wildcard], false)),
        Some(filter) => {
            let one = emit::literal(&Value::Integer(1));
            call("COUNT", emit::case(vec![(filter, one)], None), false)
        }
    };
    Ok(Typed::new(counted, Kind::Integer, false))
}
