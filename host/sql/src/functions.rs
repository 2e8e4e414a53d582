//! Function calls: an allow-list by name and number of arguments.

use sqlparser::ast::{
    BinaryOperator, DuplicateTreatment, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentClause,
    FunctionArgumentList, FunctionArguments,
};
use tribunal_protocol::value::MICROS_PER_DAY;
use tribunal_protocol::{Failure, Value};

use crate::aggregates::is_aggregate;
use crate::emit;
use crate::rewrite::{Place, Rewriter};
use crate::types::Typed;

/// The arguments of a call.
pub struct Arguments<'a> {
    /// The expressions; `*` is not among them.
    pub list: Vec<&'a Expr>,
    /// Whether the only argument is `*`.
    pub star: bool,
    /// Whether DISTINCT stands before them.
    pub distinct: bool,
}

impl Rewriter<'_> {
    /// Rewrites a function call.
    pub fn function(&mut self, function: &Function, place: Place<'_>) -> Result<Typed, Failure> {
        let name = name_of(function)?;
        plain(function)?;
        let arguments = arguments(&function.args, &name)?;
        if is_aggregate(&name, &arguments) {
            return self.aggregate(&name, &arguments, function.filter.as_deref(), place);
        }
        if function.filter.is_some() || arguments.distinct || arguments.star {
            return Err(Failure::invalid(format!("{name} is no aggregate function")));
        }
        if let Some(typed) = self.clock(&name, arguments.list.len())? {
            return Ok(typed);
        }
        if let Some(typed) = self.date_call(&name, &arguments.list, place)? {
            return Ok(typed);
        }
        if let ("IF" | "IIF", [condition, then, otherwise]) = (name.as_str(), arguments.list.as_slice()) {
            let mut filters = Vec::new();
            self.condition(condition, place)?.filters(&mut filters);
            let thens = vec![self.value(then, place)?, self.value(otherwise, place)?];
            return self.choose(vec![emit::all(filters)], thens);
        }
        let mut values = Vec::with_capacity(arguments.list.len());
        for argument in arguments.list {
            values.push(self.value(argument, place)?);
        }
        self.apply(&name, values)
    }

    /// A function of values.
    pub fn apply(&mut self, name: &str, values: Vec<Typed>) -> Result<Typed, Failure> {
        if let Some(typed) = self.number_function(name, &values)? {
            return Ok(typed);
        }
        if let Some(typed) = self.text_function(name, &values)? {
            return Ok(typed);
        }
        match (name, values.len()) {
            ("COALESCE", 1..) | ("IFNULL" | "NVL", 2) => self.coalesce(values),
            ("NULLIF", 2) => self.null_if(values),
            ("GREATEST", 1..) => self.extreme(values, &BinaryOperator::GtEq),
            ("LEAST", 1..) => self.extreme(values, &BinaryOperator::LtEq),
            _ => Err(no_function(name, values.len())),
        }
    }

    fn coalesce(&mut self, values: Vec<Typed>) -> Result<Typed, Failure> {
        let nullable = values.iter().all(|value| value.nullable);
        let (values, kind) = self.unify(values)?;
        let mut values: Vec<_> = values.into_iter().filter(|value| !value.is_null()).collect();
        match values.len() {
            0 => Ok(crate::arith::null(kind)),
            1 => Ok(values.swap_remove(0)),
            _ => {
                let values = values.into_iter().map(Typed::expr).collect();
                Ok(Typed::new(emit::call("COALESCE", values), kind, nullable))
            }
        }
    }

    fn null_if(&mut self, mut values: Vec<Typed>) -> Result<Typed, Failure> {
        let (Some(second), Some(first)) = (values.pop(), values.pop()) else {
            return Err(no_function("NULLIF", values.len()));
        };
        let result = self.copy_of(&first)?;
        let equal = self.compare(first.into(), &BinaryOperator::Eq, second.into())?;
        let mut filters = Vec::new();
        equal.filters(&mut filters);
        let thens = vec![Typed::literal(Value::Null), result];
        self.choose(vec![emit::all(filters)], thens)
    }

    /// GREATEST and LEAST pass over NULL, as in PostgreSQL.
    fn extreme(&mut self, values: Vec<Typed>, op: &BinaryOperator) -> Result<Typed, Failure> {
        let (values, _) = self.unify(values)?;
        let mut values = values.into_iter();
        let Some(mut best) = values.next() else {
            return Err(Failure::invalid("GREATEST and LEAST need arguments"));
        };
        for next in values {
            let mut whens = Vec::new();
            let mut thens = Vec::new();
            for (one, other) in [(&best, &next), (&next, &best)] {
                if one.nullable {
                    whens.push(emit::is_null(self.copy_of(one)?.expr()));
                    thens.push(self.copy_of(other)?);
                }
            }
            let (left, right) = (self.copy_of(&best)?, self.copy_of(&next)?);
            let mut filters = Vec::new();
            self.compare(left.into(), op, right.into())?.filters(&mut filters);
            whens.push(emit::all(filters));
            thens.push(self.copy_of(&best)?);
            let nullable = best.nullable && next.nullable;
            thens.push(next);
            best = self.choose(whens, thens)?;
            best.nullable = nullable;
        }
        Ok(best)
    }

    /// What the clock says: the schema's own day, at its midnight.
    fn clock(&mut self, name: &str, arguments: usize) -> Result<Option<Typed>, Failure> {
        let days = self.catalog.clock();
        Ok(match (name, arguments) {
            ("CURRENT_DATE" | "TODAY", 0) => Some(Typed::literal(Value::Date(days))),
            ("CURRENT_TIMESTAMP" | "NOW" | "LOCALTIMESTAMP", 0) => {
                Some(Typed::literal(Value::Timestamp(i64::from(days) * MICROS_PER_DAY)))
            }
            (
                "CURRENT_TIME" | "LOCALTIME" | "CLOCK_TIMESTAMP" | "RANDOM" | "RAND" | "GENERATE_UUID"
                | "GEN_RANDOM_UUID" | "RANDOMBLOB",
                _,
            ) => {
                return Err(Failure::denied(format!("{name} is not allowed: an answer must follow from the data")));
            }
            _ => None,
        })
    }
}

/// That there is no such function.
pub fn no_function(name: &str, arguments: usize) -> Failure {
    if KNOWN_ELSEWHERE.contains(&name) {
        return Failure::unsupported(format!("the function {name}"));
    }
    Failure::unknown(format!("no function {name} of {arguments} argument{}", if arguments == 1 { "" } else { "s" }))
}

/// Functions that other databases have and that agents often try.
const KNOWN_ELSEWHERE: &[&str] = &[
    "AGE",
    "ARRAY_AGG",
    "CORR",
    "CUME_DIST",
    "DENSE_RANK",
    "FIRST_VALUE",
    "GENERATE_SERIES",
    "GROUP_CONCAT",
    "JSON_AGG",
    "JSON_OBJECT_AGG",
    "LAG",
    "LAST_VALUE",
    "LEAD",
    "MEDIAN",
    "MODE",
    "NTILE",
    "PERCENTILE_CONT",
    "PERCENTILE_DISC",
    "PERCENT_RANK",
    "RANK",
    "REGEXP_MATCHES",
    "REGEXP_REPLACE",
    "REPEAT",
    "ROW_NUMBER",
    "SPLIT_PART",
    "STRING_AGG",
    "TO_NUMBER",
    "TRANSLATE",
    "WIDTH_BUCKET",
];

/// The name of a function, in capitals.
pub fn name_of(function: &Function) -> Result<String, Failure> {
    match function.name.0.as_slice() {
        [name] => Ok(name.value.to_uppercase()),
        _ => Err(Failure::unknown(format!("no function {}", function.name))),
    }
}

/// What the engine would drop from a call is refused.
fn plain(function: &Function) -> Result<(), Failure> {
    let Function { name: _, parameters, args: _, filter: _, null_treatment, over, within_group } = function;
    let refused = [
        (!within_group.is_empty(), "WITHIN GROUP"),
        (null_treatment.is_some(), "IGNORE NULLS"),
        (!matches!(parameters, FunctionArguments::None), "parameters of a function"),
    ];
    if over.is_some() {
        return Err(crate::lint::second_engine("window functions (OVER)"));
    }
    match refused.iter().find(|(refused, _)| *refused) {
        Some((_, what)) => Err(Failure::unsupported(*what)),
        None => Ok(()),
    }
}

fn arguments<'a>(args: &'a FunctionArguments, name: &str) -> Result<Arguments<'a>, Failure> {
    let FunctionArguments::List(list) = args else {
        return match args {
            FunctionArguments::Subquery(_) => {
                Err(Failure::unsupported("a subquery as an argument without parentheses"))
            }
            _ => Ok(Arguments { list: Vec::new(), star: false, distinct: false }),
        };
    };
    let FunctionArgumentList { duplicate_treatment, args, clauses } = list;
    if let Some(clause) = clauses.first() {
        return Err(Failure::unsupported(match clause {
            FunctionArgumentClause::OrderBy(_) => "ORDER BY inside an aggregate",
            FunctionArgumentClause::IgnoreOrRespectNulls(_) => "IGNORE NULLS",
            _ => "a clause inside a function call",
        }));
    }
    let mut star = false;
    let mut expressions = Vec::with_capacity(args.len());
    for argument in args {
        match argument {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => expressions.push(expr),
            FunctionArg::Unnamed(FunctionArgExpr::Wildcard) => star = true,
            FunctionArg::Unnamed(FunctionArgExpr::QualifiedWildcard(table)) => {
                return Err(Failure::unsupported(format!("{name}({table}.*)")));
            }
            FunctionArg::Named { .. } => return Err(Failure::unsupported("named arguments")),
        }
    }
    if star && !expressions.is_empty() {
        return Err(Failure::invalid(format!("{name} with * and arguments")));
    }
    Ok(Arguments {
        list: expressions,
        star,
        distinct: matches!(duplicate_treatment, Some(DuplicateTreatment::Distinct)),
    })
}
