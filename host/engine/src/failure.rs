//! The engine's errors in our words. No text of the engine reaches an agent.

use gluesql_core::error::{Error, EvaluateError, PlannerError, QueryError, TranslateError, ValueError};
use tribunal_protocol::Failure;

use crate::guard::Stop;

/// A panic of the engine.
pub(crate) fn panicked() -> Failure {
    Failure::invalid("a function was given a value that it cannot take")
}

/// Why the guard stopped a statement.
pub(crate) fn stopped(stop: Stop) -> Failure {
    match stop {
        Stop::Scanned => Failure::quota("the budget of rows scanned is spent"),
        Stop::Joined => Failure::quota("the joins of this statement combine too many rows"),
        Stop::Worked => Failure::quota(
            "the statement is too much work: too many operators and functions for the rows that it goes through; \
             use fewer of them, or fewer rows",
        ),
        Stop::NotAscii => Failure::unsupported(
            "SUBSTR, LEFT, RIGHT, POSITION and TRIM of characters of an aggregate are supported on \
             ASCII text alone, and there is other text in the columns of this statement; put the \
             aggregate into a derived table",
        ),
        Stop::Grown => Failure::quota(format!(
            "the texts of this statement grow too long; one may have {} KiB",
            crate::native::MAX_TEXT >> 10
        )),
        Stop::Refused => Failure::unsupported("the statement is not supported"),
    }
}

/// What went wrong in the engine.
pub(crate) fn failed(error: &Error) -> Failure {
    match error {
        Error::Translate(error) => untranslated(error),
        Error::Evaluate(error) => unevaluated(error),
        Error::Value(error) => wrong_value(error),
        Error::Planner(PlannerError::ColumnReferenceAmbiguous(name)) => {
            Failure::invalid(format!("column {name} is ambiguous; put its table before it"))
        }
        Error::Query(QueryError::ValuesLengthMismatch) => Failure::invalid("the rows of VALUES differ in length"),
        Error::Query(QueryError::TableAliasNotFound(name)) => Failure::unknown(format!("no table {name}")),
        Error::Interval(_) => Failure::invalid("an interval is malformed"),
        Error::Insert(_) => Failure::invalid("the rows do not fit the columns"),
        _ => Failure::invalid("the statement does not fit the data"),
    }
}

fn untranslated(error: &TranslateError) -> Failure {
    match error {
        TranslateError::UnsupportedQueryOption(_) => Failure::unsupported("a clause of this query is not supported"),
        TranslateError::UnsupportedJoinOperator(_) | TranslateError::UnsupportedJoinConstraint(_) => {
            Failure::unsupported("this kind of join is not supported; use JOIN or LEFT JOIN with ON")
        }
        TranslateError::UnsupportedDataType(_) => Failure::unsupported(
            "a type is not supported; use BOOLEAN, INTEGER, FLOAT, DECIMAL, TEXT, DATE or TIMESTAMP",
        ),
        _ => Failure::unsupported("a construct of this statement is not supported"),
    }
}

fn unevaluated(error: &EvaluateError) -> Failure {
    match error {
        EvaluateError::IdentifierNotFound(name) => Failure::unknown(format!("no column {name}")),
        EvaluateError::CompoundIdentifierNotFound { table_alias, column_name } => {
            Failure::unknown(format!("no column {table_alias}.{column_name}"))
        }
        EvaluateError::UnsupportedFunction(name) => Failure::unknown(format!("no function {name}")),
        EvaluateError::DivisorShouldNotBeZero => Failure::invalid("division by zero"),
        EvaluateError::MoreThanOneRowReturned => Failure::invalid("a subquery used as a value gives more than one row"),
        EvaluateError::MoreThanOneColumnReturned | EvaluateError::InSubqueryMustReturnOneColumn => {
            Failure::invalid("a subquery used as a value gives more than one column")
        }
        EvaluateError::NumberParseFailed { .. }
        | EvaluateError::NumberCastFailed { .. }
        | EvaluateError::TextParseFailed { .. }
        | EvaluateError::TextCastFailed { .. } => Failure::invalid("a value cannot be read as the type that is wanted"),
        _ => Failure::invalid("a function or operator was given a value of the wrong type"),
    }
}

fn wrong_value(error: &ValueError) -> Failure {
    match error {
        ValueError::DivisorShouldNotBeZero => Failure::invalid("division by zero"),
        ValueError::BinaryOperationOverflow { .. } => Failure::invalid("a number is out of range"),
        _ => Failure::invalid("a function or operator was given a value of the wrong type"),
    }
}
