//! Function calls in SQLite's dialect.

use sqlparser::ast::{
    BinaryOperator, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, ObjectName,
    Value as Literal,
};
use tribunal_protocol::value::{MICROS_PER_DAY, date_text, timestamp_text};
use tribunal_protocol::{Failure, Kind};

use super::kind::literal;
use super::{Names, Writer, text};
use crate::dates::is_time;
use crate::emit;

impl Writer<'_> {
    /// A function call.
    pub(super) fn call(&mut self, mut function: Function, names: &Names<'_>) -> Result<Expr, Failure> {
        let name = crate::functions::name_of(&function)?;
        if let Some(window) = &mut function.over {
            self.window(&name, window, names)?;
            return self.plain_call(function, "", names);
        }
        let clock = self.catalog.clock();
        match name.as_str() {
            "CURRENT_DATE" | "TODAY" => return Ok(text(&date_text(clock))),
            "NOW" | "CURRENT_TIMESTAMP" | "LOCALTIMESTAMP" => {
                let now = timestamp_text(i64::from(clock) * MICROS_PER_DAY);
                return Ok(text(&now.replace('T', " ")));
            }
            _ => {}
        }
        let arguments: Vec<Expr> = crate::walk::arguments(&function).cloned().collect();
        if let ("MOD", [a, b]) = (name.as_str(), arguments.as_slice()) {
            let remainder = self.binary(a.clone(), BinaryOperator::Modulo, b.clone(), names)?;
            return Ok(Expr::Nested(Box::new(remainder)));
        }
        if let Some(expr) = self.date_call(&name, &arguments, names)? {
            return Ok(expr);
        }
        let renamed = match name.as_str() {
            "CHAR_LENGTH" | "CHARACTER_LENGTH" | "LEN" => "length",
            "UCASE" => "upper",
            "LCASE" => "lower",
            "SUBSTR" | "SUBSTRING" => "tribunal_substr",
            "LEFT" => "tribunal_left",
            "RIGHT" => "tribunal_right",
            "REPLACE" => "tribunal_replace",
            "STRPOS" => "instr",
            "BTRIM" => "trim",
            "NVL" => "ifnull",
            "IF" => "iif",
            "ROUND" => "tribunal_round",
            "TRUNC" => "tribunal_trunc",
            "CEILING" => "ceil",
            "POW" => "power",
            "GREATEST" => "tribunal_greatest",
            "LEAST" => "tribunal_least",
            "BOOL_OR" => "max",
            "BOOL_AND" | "EVERY" => "min",
            "CONCAT" | "CONCAT_WS" => return self.concat(&name, arguments, names),
            _ => "",
        };
        self.plain_call(function, renamed, names)
    }

    fn concat(&mut self, name: &str, arguments: Vec<Expr>, names: &Names<'_>) -> Result<Expr, Failure> {
        let mut texts = Vec::with_capacity(arguments.len());
        for argument in arguments {
            texts.push(self.as_text(argument, names)?);
        }
        Ok(emit::call(&name.to_lowercase(), texts))
    }

    /// The call as it is, its arguments written, under another name where there is one.
    fn plain_call(&mut self, mut function: Function, renamed: &str, names: &Names<'_>) -> Result<Expr, Failure> {
        if !renamed.is_empty() {
            function.name = ObjectName(vec![Ident::new(renamed)]);
        }
        if let Some(filter) = &mut function.filter {
            self.expr(filter, names)?;
        }
        if let FunctionArguments::List(list) = &mut function.args {
            let mut places = Vec::new();
            let mut arguments = Vec::new();
            for (place, argument) in list.args.iter_mut().enumerate() {
                if let FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) = argument {
                    places.push(place);
                    arguments.push(std::mem::replace(expr, Expr::Wildcard));
                }
            }
            // What is compared or chosen from must be alike: NULLIF, COALESCE, GREATEST, ..
            let kinds: Vec<Kind> = arguments.iter().map(|expr| self.kind(expr, names)).collect();
            let written = if kinds.iter().any(|kind| is_time(*kind)) {
                self.all_alike(arguments, names)?
            } else {
                let mut written = Vec::with_capacity(arguments.len());
                for argument in arguments {
                    written.push(self.written(argument, names)?);
                }
                written
            };
            for (place, expr) in places.into_iter().zip(written) {
                if let Some(slot) = list.args.get_mut(place) {
                    *slot = FunctionArg::Unnamed(FunctionArgExpr::Expr(expr));
                }
            }
        }
        Ok(Expr::Function(function))
    }

    fn date_call(&mut self, name: &str, arguments: &[Expr], names: &Names<'_>) -> Result<Option<Expr>, Failure> {
        Ok(Some(match (name, arguments) {
            ("DATE_PART" | "DATE_TRUNC", [field, moment]) => {
                let field = literal(field)
                    .map(str::to_lowercase)
                    .ok_or_else(|| Failure::unsupported(format!("{name} of a computed field")))?;
                if name == "DATE_PART" {
                    self.part(&field, moment.clone(), names)?
                } else {
                    self.truncated(&field, moment.clone(), names)?
                }
            }
            ("TO_CHAR", [moment, format]) => {
                let format = literal(format)
                    .map(crate::formats::from_postgresql)
                    .ok_or_else(|| Failure::unsupported("TO_CHAR with a computed format"))??;
                let moment = self.written(moment.clone(), names)?;
                emit::call("tribunal_format", vec![moment, text(&format)])
            }
            ("TO_DATE", [text, _]) => emit::call("date", vec![self.written(text.clone(), names)?]),
            ("DATE" | "DATETIME" | "JULIANDAY" | "UNIXEPOCH" | "STRFTIME", [..]) => {
                let mut written = Vec::with_capacity(arguments.len());
                for argument in arguments {
                    written.push(match literal(argument) {
                        Some(now) if now.trim().eq_ignore_ascii_case("now") => text(&date_text(self.catalog.clock())),
                        Some(value) => Expr::Value(Literal::SingleQuotedString(value.to_owned())),
                        None => self.written(argument.clone(), names)?,
                    });
                }
                emit::call(&name.to_lowercase(), written)
            }
            _ => return Ok(None),
        }))
    }
}
