//! The gate for functions: those that are deterministic, bounded, and right.

use bigdecimal::ToPrimitive;
use gluesql_core::ast::{Expr, Function, Literal};
use gluesql_core::prelude::Value as Cell;
use tribunal_protocol::Failure;

use super::Footprint;

/// Characters that a padded or repeated text may have: these functions allocate what they are
/// told to, and the process ends where there is not so much.
const MAX_PADDED: i64 = 1_000;
/// Bytes that REPLACE may put for every occurrence.
const MAX_REPLACEMENT: usize = 64;

impl Footprint {
    /// Lets a function through by its name and the form of its arguments.
    pub(super) fn function(&mut self, function: &Function) -> Result<(), Failure> {
        match function {
            Function::Abs(_)
            | Function::Lower(_)
            | Function::Initcap(_)
            | Function::Upper(_)
            | Function::Ceil(_)
            | Function::Round(_)
            | Function::Trunc(_)
            | Function::Floor(_)
            | Function::Exp(_)
            | Function::Ln(_)
            | Function::Log2(_)
            | Function::Log10(_)
            | Function::Sin(_)
            | Function::Cos(_)
            | Function::Tan(_)
            | Function::Asin(_)
            | Function::Acos(_)
            | Function::Atan(_)
            | Function::Sqrt(_)
            | Function::Radians(_)
            | Function::Degrees(_)
            | Function::LastDay(_)
            | Function::Sign(_)
            | Function::Reverse(_)
            | Function::Length(_)
            | Function::Pi()
            | Function::AddMonth { .. }
            | Function::IfNull { .. }
            | Function::NullIf { .. }
            | Function::Log { .. }
            | Function::Power { .. }
            | Function::Div { .. }
            | Function::Mod { .. }
            | Function::Gcd { .. }
            | Function::Lcm { .. }
            | Function::Coalesce(_)
            | Function::Concat(_)
            | Function::ConcatWs { .. }
            | Function::Greatest(_)
            | Function::Extract { .. }
            | Function::Format { .. }
            | Function::ToDate { .. }
            | Function::ToTimestamp { .. } => Ok(()),
            Function::Cast { expr: _, data_type } => super::expression::data_type_allowed(data_type),
            Function::Trim { expr, filter_chars: characters, trim_where_field: _ }
            | Function::Ltrim { expr, chars: characters }
            | Function::Rtrim { expr, chars: characters } => {
                // Without a list of characters these look at white space alone, by character.
                self.counts_bytes |= characters.is_some();
                slice(function, expr)
            }
            Function::Substr { expr, .. } => {
                self.counts_bytes = true;
                slice(function, expr)
            }
            Function::Left { .. } | Function::Right { .. } | Function::Position { .. } => {
                self.counts_bytes = true;
                Ok(())
            }
            Function::Lpad { size, .. } | Function::Rpad { size, .. } => {
                self.counts_bytes = true;
                bounded(size)
            }
            Function::Repeat { expr: _, num } => bounded(num),
            Function::Replace { new, .. } => replacement(new),
            Function::Custom { name, exprs: _ } => Err(Failure::unknown(format!("no function {name}"))),
            Function::Rand(_)
            | Function::Now()
            | Function::CurrentDate()
            | Function::CurrentTime()
            | Function::CurrentTimestamp()
            | Function::GenerateUuid() => {
                Err(Failure::denied(format!("{function} is not allowed: an answer must follow from the data")))
            }
            Function::ToTime { .. }
            | Function::FindIdx { .. }
            | Function::Unwrap { .. }
            | Function::Ascii(_)
            | Function::Chr(_)
            | Function::Md5(_)
            | Function::Hex(_)
            | Function::Append { .. }
            | Function::Sort { .. }
            | Function::Slice { .. }
            | Function::Prepend { .. }
            | Function::Skip { .. }
            | Function::Take { .. }
            | Function::GetX(_)
            | Function::GetY(_)
            | Function::Point { .. }
            | Function::CalcDistance { .. }
            | Function::IsEmpty(_)
            | Function::Entries(_)
            | Function::Keys(_)
            | Function::Values(_)
            | Function::Splice { .. }
            | Function::Dedup(_) => Err(Failure::unsupported(format!("function {function} is not supported"))),
        }
    }
}

/// The engine cuts a slice of a slice by the bounds of the whole text.
fn slice(outer: &Function, argument: &Expr) -> Result<(), Failure> {
    if is_slice(argument) {
        return Err(Failure::unsupported(format!(
            "{outer} of the result of SUBSTR or TRIM is not supported; put the inner one into a \
             derived table"
        )));
    }
    Ok(())
}

fn is_slice(expression: &Expr) -> bool {
    if let Expr::Nested(inside) = expression {
        return is_slice(inside);
    }
    if let Expr::Function(function) = expression {
        return matches!(
            **function,
            Function::Substr { .. } | Function::Trim { .. } | Function::Ltrim { .. } | Function::Rtrim { .. }
        );
    }
    false
}

fn bounded(size: &Expr) -> Result<(), Failure> {
    if let Expr::Nested(inside) = size {
        return bounded(inside);
    }
    let number = if let Expr::Literal(Literal::Number(number)) = size {
        number.is_integer().then(|| number.to_i64()).flatten()
    } else if let Expr::Value(Cell::I64(number)) = size {
        Some(*number)
    } else {
        None
    };
    if number.is_some_and(|number| (0..=MAX_PADDED).contains(&number)) {
        return Ok(());
    }
    Err(Failure::unsupported(format!("a length must be a literal from 0 to {MAX_PADDED}")))
}

fn replacement(new: &Expr) -> Result<(), Failure> {
    if let Expr::Literal(Literal::QuotedString(text)) | Expr::Value(Cell::Str(text)) = new
        && text.len() <= MAX_REPLACEMENT
    {
        return Ok(());
    }
    Err(Failure::unsupported(format!(
        "REPLACE takes a literal of at most {MAX_REPLACEMENT} bytes as its last argument"
    )))
}
