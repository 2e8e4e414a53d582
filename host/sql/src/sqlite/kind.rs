//! The kinds of expressions, as far as SQLite's dialect depends on them.

use sqlparser::ast::{BinaryOperator, Expr, Function, Query, SelectItem, SetExpr, UnaryOperator, Value as Literal};
use tribunal_protocol::Kind;

use super::{Names, Writer};
use crate::types::{is_number, wider};

impl Writer<'_> {
    /// The kind of an expression; [`Kind::Unknown`] where it is not known, or NULL.
    pub(super) fn kind(&mut self, expr: &Expr, names: &Names<'_>) -> Kind {
        match expr {
            Expr::Identifier(name) => names.kind(None, &name.value),
            Expr::CompoundIdentifier(parts) => match parts.as_slice() {
                [.., table, name] => names.kind(Some(&table.value), &name.value),
                _ => Kind::Unknown,
            },
            Expr::Nested(inner) => self.kind(inner, names),
            Expr::UnaryOp { op, expr } => match op {
                UnaryOperator::Not => Kind::Boolean,
                _ => self.kind(expr, names),
            },
            Expr::Value(literal) => literal_kind(literal),
            Expr::TypedString { data_type, .. } | Expr::Cast { data_type, .. } => {
                crate::casts::target(data_type).map_or(Kind::Unknown, |(kind, _)| kind)
            }
            Expr::Extract { .. } | Expr::Position { .. } => Kind::Integer,
            Expr::Substring { .. } | Expr::Trim { .. } => Kind::Text,
            Expr::Ceil { expr, .. } | Expr::Floor { expr, .. } => self.kind(expr, names),
            Expr::Case { results, else_result, .. } => {
                let results = results.iter().chain(else_result.as_deref());
                self.common(results, names)
            }
            Expr::Function(function) => self.call_kind(function, names),
            Expr::Subquery(query) => self.query_kind(query, names),
            Expr::BinaryOp { left, op, right } => self.operator_kind(left, op, right, names),
            other if crate::expr::is_condition(other) => Kind::Boolean,
            _ => Kind::Unknown,
        }
    }

    fn operator_kind(&mut self, left: &Expr, op: &BinaryOperator, right: &Expr, names: &Names<'_>) -> Kind {
        match op {
            BinaryOperator::StringConcat => Kind::Text,
            BinaryOperator::PGExp => Kind::Float,
            BinaryOperator::Plus
            | BinaryOperator::Minus
            | BinaryOperator::Multiply
            | BinaryOperator::Divide
            | BinaryOperator::Modulo => {
                if super::times::is_span(left) || super::times::is_span(right) {
                    return Kind::Timestamp;
                }
                let (left, right) = (self.kind(left, names), self.kind(right, names));
                match (left, op, right) {
                    (Kind::Date, BinaryOperator::Minus, Kind::Date | Kind::Text)
                    | (Kind::Text, BinaryOperator::Minus, Kind::Date) => Kind::Integer,
                    (Kind::Date, _, Kind::Integer) | (Kind::Integer, _, Kind::Date) => Kind::Date,
                    (left, _, right) if is_number(left) && is_number(right) => {
                        wider(left, right).unwrap_or(Kind::Unknown)
                    }
                    _ => Kind::Unknown,
                }
            }
            _ => Kind::Boolean,
        }
    }

    fn call_kind(&mut self, function: &Function, names: &Names<'_>) -> Kind {
        let Ok(name) = crate::functions::name_of(function) else {
            return Kind::Unknown;
        };
        let arguments: Vec<&Expr> = crate::walk::arguments(function).collect();
        let first = arguments.first().copied();
        match name.as_str() {
            "COUNT" | "LENGTH" | "CHAR_LENGTH" | "CHARACTER_LENGTH" | "LEN" | "STRPOS" | "INSTR" | "SIGN"
            | "DATE_PART" | "UNIXEPOCH" | "ROW_NUMBER" | "RANK" | "DENSE_RANK" | "NTILE" => Kind::Integer,
            "PERCENT_RANK" | "CUME_DIST" => Kind::Float,
            "AVG" => match first.map(|first| self.kind(first, names)) {
                Some(Kind::Decimal) => Kind::Decimal,
                _ => Kind::Float,
            },
            "CURRENT_DATE" | "TODAY" | "DATE" | "TO_DATE" => Kind::Date,
            "NOW" | "CURRENT_TIMESTAMP" | "LOCALTIMESTAMP" | "DATETIME" => Kind::Timestamp,
            "STRFTIME" | "TO_CHAR" | "UPPER" | "LOWER" | "REPLACE" | "SUBSTR" | "SUBSTRING" | "LEFT" | "RIGHT"
            | "TRIM" | "LTRIM" | "RTRIM" | "CONCAT" | "CONCAT_WS" | "LPAD" | "RPAD" | "REVERSE" => Kind::Text,
            "JULIANDAY" | "POWER" | "POW" | "SQRT" | "LN" | "LOG" | "LOG10" | "LOG2" | "EXP" | "TOTAL" | "STDDEV"
            | "STDDEV_SAMP" | "STDDEV_POP" | "VARIANCE" | "VAR_SAMP" | "VAR_POP" | "PI" => Kind::Float,
            "BOOL_OR" | "BOOL_AND" | "EVERY" => Kind::Boolean,
            "DATE_TRUNC" => match arguments.last().map(|last| self.kind(last, names)) {
                Some(Kind::Date) => Kind::Date,
                _ => Kind::Timestamp,
            },
            "SUM" => match first.map(|first| self.kind(first, names)) {
                Some(Kind::Boolean) => Kind::Integer,
                kind => kind.unwrap_or(Kind::Unknown),
            },
            "IF" | "IIF" => self.common(arguments.into_iter().skip(1), names),
            "LAG" | "LEAD" | "FIRST_VALUE" | "LAST_VALUE" | "NTH_VALUE" | "NULLIF" | "MIN" | "MAX" | "ABS"
            | "ROUND" | "TRUNC" | "FLOOR" | "CEIL" | "CEILING" => {
                first.map_or(Kind::Unknown, |first| self.kind(first, names))
            }
            "COALESCE" | "IFNULL" | "NVL" | "GREATEST" | "LEAST" | "MOD" => self.common(arguments.into_iter(), names),
            _ => Kind::Unknown,
        }
    }

    /// The widest kind of some expressions; a text literal takes the kind of the others.
    pub(super) fn common<'e>(&mut self, exprs: impl Iterator<Item = &'e Expr>, names: &Names<'_>) -> Kind {
        let mut common = Kind::Unknown;
        for expr in exprs {
            let kind = self.kind(expr, names);
            if literal(expr).is_some() && common != Kind::Unknown {
                continue;
            }
            common = match (common, kind) {
                (Kind::Text, kind @ (Kind::Date | Kind::Timestamp)) => kind,
                (common, kind) => wider(common, kind).unwrap_or(common),
            };
        }
        common
    }

    fn query_kind(&mut self, query: &Query, names: &Names<'_>) -> Kind {
        let mut query = query.clone();
        let columns = self.query(&mut query, Some(names));
        let single = match &*query.body {
            SetExpr::Select(select) => {
                !matches!(select.projection.first(), Some(SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..)))
            }
            _ => true,
        };
        match columns.as_deref() {
            Ok([(_, kind), ..]) if single => *kind,
            _ => Kind::Unknown,
        }
    }
}

/// The text of a text literal.
pub(super) fn literal(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Value(Literal::SingleQuotedString(text)) => Some(text),
        Expr::Nested(inner) => literal(inner),
        _ => None,
    }
}

fn literal_kind(literal: &Literal) -> Kind {
    match literal {
        Literal::Number(number, _) => {
            crate::expr::number_value(&number.to_string()).map_or(Kind::Float, |value| value.kind())
        }
        Literal::Boolean(_) => Kind::Boolean,
        Literal::Null | Literal::Placeholder(_) => Kind::Unknown,
        _ => Kind::Text,
    }
}
