//! The gate for functions: those that are deterministic, bounded, and right.

use gluesql_core::ast::Function;
use tribunal_protocol::Failure;

use super::Footprint;

impl Footprint {
    /// Lets a function through by its name and the form of its arguments.
    pub(super) fn function(&self, function: &Function) -> Result<(), Failure> {
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
            // Ours run in their place (crate::native), by character and bounded.
            Function::Ltrim { .. }
            | Function::Rtrim { .. }
            | Function::Substr { .. }
            | Function::Left { .. }
            | Function::Right { .. }
            | Function::Position { .. }
            | Function::Replace { .. }
            | Function::Lpad { fill: Some(_), .. }
            | Function::Rpad { fill: Some(_), .. } => Ok(()),
            Function::Lpad { fill: None, .. }
            | Function::Rpad { fill: None, .. }
            | Function::Trim { .. }
            | Function::Repeat { .. } => Err(Failure::unsupported(format!("{function} is not supported"))),
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
