//! Parts of a query's syntax tree.

use tribunal_protocol::value::parse_date;
use tribunal_sql::ast::{
    BinaryOperator, DuplicateTreatment, Expr, Function, FunctionArguments, Ident, SelectItem, SetExpr, Value,
};

use crate::kind::CaseKind;

pub(super) fn conjuncts(selection: Option<&Expr>) -> Vec<Expr> {
    match selection {
        None => Vec::new(),
        Some(Expr::BinaryOp { left, op: BinaryOperator::And, right }) => {
            [conjuncts(Some(left)), conjuncts(Some(right))].concat()
        }
        Some(other) => vec![other.clone()],
    }
}

pub(super) fn joined(parts: Vec<Expr>) -> Option<Expr> {
    let and = |a, b| Expr::BinaryOp { left: Box::new(a), op: BinaryOperator::And, right: Box::new(b) };
    parts.into_iter().reduce(and)
}

/// The day that an expression is: a literal, or a DATE of one.
pub(super) fn date_in(expr: &Expr) -> Option<i32> {
    match expr {
        Expr::Value(Value::SingleQuotedString(text)) | Expr::TypedString { value: text, .. } => parse_date(text),
        _ => None,
    }
}

pub(super) fn has_date(expr: &Expr) -> bool {
    matches!(expr, Expr::BinaryOp { right, .. } if date_in(right).is_some())
}

/// The day that a condition compares with, where it is one end of a window.
pub(super) fn window_end(part: &Expr) -> Option<i32> {
    let Expr::BinaryOp { op, right, .. } = part else { return None };
    let end = matches!(op, BinaryOperator::Lt | BinaryOperator::LtEq | BinaryOperator::Gt | BinaryOperator::GtEq);
    date_in(right).filter(|_| end)
}

pub(super) fn text(text: String) -> Expr {
    Expr::Value(Value::SingleQuotedString(text))
}

pub(super) fn number(number: u64) -> Expr {
    Expr::Value(Value::Number(number.into(), false))
}

/// What a projected item is, and its name.
pub(super) fn named(item: &SelectItem) -> Option<(&Expr, Ident)> {
    match item {
        SelectItem::ExprWithAlias { expr, alias } => Some((expr, alias.clone())),
        SelectItem::UnnamedExpr(expr @ Expr::Identifier(name)) => Some((expr, name.clone())),
        SelectItem::UnnamedExpr(expr @ Expr::CompoundIdentifier(parts)) => Some((expr, parts.last()?.clone())),
        _ => None,
    }
}

/// Other aggregates for this one.
pub(super) fn aggregates(function: &Function) -> Vec<(CaseKind, Expr)> {
    let name = function.name.to_string().to_uppercase();
    let to = match name.as_str() {
        "SUM" => "AVG",
        "AVG" => "SUM",
        "MIN" => "MAX",
        "MAX" => "MIN",
        "COUNT" => "COUNT",
        _ => return Vec::new(),
    };
    let mut others = Vec::new();
    if to != name {
        let mut other = function.clone();
        other.name = tribunal_sql::ast::ObjectName(vec![Ident::new(to)]);
        others.push((CaseKind::WrongAggregate, Expr::Function(other)));
    }
    let mut other = function.clone();
    if let FunctionArguments::List(list) = &mut other.args {
        let distinct = list.duplicate_treatment == Some(DuplicateTreatment::Distinct);
        list.duplicate_treatment = (!distinct).then_some(DuplicateTreatment::Distinct);
        let kind = if distinct { CaseKind::JoinInflation } else { CaseKind::HiddenInflation };
        others.push((kind, Expr::Function(other)));
    }
    others
}

/// Parses an expression, as the only item of a query.
pub(super) fn expression(text: &str) -> Option<Expr> {
    let Ok(tribunal_sql::ast::Statement::Query(query)) = tribunal_sql::parse_query(&format!("SELECT {text}")) else {
        return None;
    };
    match *query.body {
        SetExpr::Select(select) => match select.projection.into_iter().next()? {
            SelectItem::UnnamedExpr(expr) => Some(expr),
            _ => None,
        },
        _ => None,
    }
}
