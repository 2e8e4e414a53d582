//! Builds the syntax that the engine runs.

use bigdecimal::BigDecimal;
use rust_decimal::Decimal;
use sqlparser::ast::{
    BinaryOperator, CastKind, CeilFloorKind, DataType, DateTimeField, ExactNumberInfo, Expr, Function, FunctionArg,
    FunctionArgExpr, FunctionArgumentList, FunctionArguments, Ident, ObjectName, TimezoneInfo, UnaryOperator,
    Value as Literal,
};
use tribunal_protocol::value::{date_text, float_text, timestamp_text};
use tribunal_protocol::{Kind, Value};

/// A quoted name.
pub fn ident(name: &str) -> Ident {
    Ident::with_quote('"', name)
}

/// A column of a source.
pub fn column(alias: &str, name: &str) -> Expr {
    Expr::CompoundIdentifier(vec![ident(alias), ident(name)])
}

/// A bare whole number.
pub fn number(number: i64) -> Expr {
    Expr::Value(Literal::Number(BigDecimal::from(number), false))
}

/// A text literal.
pub fn text(text: &str) -> Expr {
    Expr::Value(Literal::SingleQuotedString(text.to_owned()))
}

/// TRUE or FALSE.
pub fn boolean(truth: bool) -> Expr {
    Expr::Value(Literal::Boolean(truth))
}

/// NULL.
pub fn null() -> Expr {
    Expr::Value(Literal::Null)
}

/// A literal with its type. Numbers other than integers are given as text, which the engine
/// reads exactly; its own number literals change type with what stands beside them.
pub fn literal(value: &Value) -> Expr {
    match value {
        Value::Null => null(),
        Value::Boolean(truth) => boolean(*truth),
        Value::Integer(i) => cast(number(*i), Kind::Integer),
        Value::Float(x) => cast(text(&float_text(*x)), Kind::Float),
        Value::Decimal(d) => cast(text(&d.to_string()), Kind::Decimal),
        Value::Text(t) => text(t),
        Value::Date(days) => Expr::TypedString { data_type: DataType::Date, value: date_text(*days) },
        Value::Timestamp(micros) => {
            Expr::TypedString { data_type: data_type(Kind::Timestamp), value: timestamp_text(*micros) }
        }
    }
}

/// A decimal literal `number * 10^-scale`.
pub fn decimal(number: i64, scale: u32) -> Expr {
    literal(&Value::Decimal(Decimal::new(number, scale)))
}

/// The engine's type for a kind.
pub fn data_type(kind: Kind) -> DataType {
    match kind {
        Kind::Boolean => DataType::Boolean,
        Kind::Integer => DataType::Integer(None),
        Kind::Float => DataType::Float(None),
        Kind::Decimal => DataType::Decimal(ExactNumberInfo::None),
        Kind::Text | Kind::Unknown => DataType::Text,
        Kind::Date => DataType::Date,
        Kind::Timestamp => DataType::Timestamp(None, TimezoneInfo::None),
    }
}

/// `CAST(expr AS kind)`.
pub fn cast(expr: Expr, kind: Kind) -> Expr {
    Expr::Cast { kind: CastKind::Cast, expr: Box::new(expr), data_type: data_type(kind), format: None }
}

/// A function call.
pub fn call(name: &str, mut arguments: Vec<Expr>) -> Expr {
    // Not calls but syntax, to the engine.
    let field = CeilFloorKind::DateTimeField(DateTimeField::NoDateTime);
    match (name, arguments.len()) {
        ("CEIL", 1) => return Expr::Ceil { expr: Box::new(arguments.remove(0)), field },
        ("FLOOR", 1) => return Expr::Floor { expr: Box::new(arguments.remove(0)), field },
        _ => {}
    }
    let arguments = arguments.into_iter().map(FunctionArgExpr::Expr).collect();
    Expr::Function(function(name, arguments, false))
}

/// A function call, its arguments as they stand.
pub fn function(name: &str, arguments: Vec<FunctionArgExpr>, distinct: bool) -> Function {
    Function {
        name: ObjectName(vec![Ident::new(name)]),
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList {
            duplicate_treatment: distinct.then_some(sqlparser::ast::DuplicateTreatment::Distinct),
            args: arguments.into_iter().map(FunctionArg::Unnamed).collect(),
            clauses: Vec::new(),
        }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    }
}

/// `left op right`, in parentheses so that its text reads as it is meant.
pub fn binary(left: Expr, op: BinaryOperator, right: Expr) -> Expr {
    Expr::BinaryOp { left: Box::new(nested(left)), op, right: Box::new(nested(right)) }
}

/// An operand of an operator: other operators go into parentheses.
fn nested(expr: Expr) -> Expr {
    match expr {
        Expr::BinaryOp { .. }
        | Expr::UnaryOp { .. }
        | Expr::InList { .. }
        | Expr::InSubquery { .. }
        | Expr::IsNull(_)
        | Expr::IsNotNull(_)
        | Expr::Like { .. }
        | Expr::Interval(_)
        | Expr::Exists { .. } => Expr::Nested(Box::new(expr)),
        other => other,
    }
}

/// All of them; TRUE where there is none.
pub fn all(parts: Vec<Expr>) -> Expr {
    joined(parts, &BinaryOperator::And, true)
}

/// Any of them; FALSE where there is none.
pub fn any(parts: Vec<Expr>) -> Expr {
    joined(parts, &BinaryOperator::Or, false)
}

/// Joins parts as a balanced tree: engines walk trees recursively, and a long chain is deep.
fn joined(mut parts: Vec<Expr>, op: &BinaryOperator, empty: bool) -> Expr {
    match parts.len() {
        0 => boolean(empty),
        1 => parts.swap_remove(0),
        length => {
            let right = parts.split_off(length / 2);
            binary(joined(parts, op, empty), op.clone(), joined(right, op, empty))
        }
    }
}

/// `NOT expr`.
pub fn not(expr: Expr) -> Expr {
    Expr::UnaryOp { op: UnaryOperator::Not, expr: Box::new(nested(expr)) }
}

/// `expr IS NULL`.
pub fn is_null(expr: Expr) -> Expr {
    Expr::IsNull(Box::new(nested(expr)))
}

/// `expr IS NOT NULL`.
pub fn is_not_null(expr: Expr) -> Expr {
    Expr::IsNotNull(Box::new(nested(expr)))
}

/// `CASE WHEN .. THEN .. [ELSE ..] END`.
pub fn case(branches: Vec<(Expr, Expr)>, otherwise: Option<Expr>) -> Expr {
    let (conditions, results) = branches.into_iter().unzip();
    Expr::Case { operand: None, conditions, results, else_result: otherwise.map(Box::new) }
}

/// How many nodes an expression has, its subqueries not counted.
pub fn size(expr: &Expr) -> usize {
    let mut size = 1;
    crate::walk::children(expr, &mut |child| size += self::size(child));
    size
}
