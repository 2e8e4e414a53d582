//! What a call came to, for people and for machines.

use serde_json::{Value as Json, json};
use tribunal_protocol::failure::Failure;
use tribunal_protocol::limits::Limits;
use tribunal_protocol::table::Table;
use tribunal_protocol::value::Value;
use tribunal_sandbox::Plugin;

use super::{Called, Given};
use crate::output;

/// Rows of a table that are shown to people; `--json` has all.
const ROWS: usize = 20;

/// All that there is to say.
pub struct Report<'a> {
    /// Whose call.
    pub plugin: &'a Plugin,
    /// The first call.
    pub called: &'a Called,
    /// What it might have used.
    pub limits: &'a Limits,
    /// How long each call took.
    pub seconds: Vec<f64>,
    /// Where its host calls differ from the recorded ones.
    pub difference: Option<String>,
}

/// One limit with what was used of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Used {
    name: &'static str,
    used: u64,
    allowed: u64,
}

impl Used {
    /// In percent; none where nothing is allowed.
    fn percent(&self) -> Option<f64> {
        (self.allowed > 0).then(|| self.used as f64 * 100.0 / self.allowed as f64)
    }

    fn shown(&self) -> String {
        match self.percent() {
            None => "–".to_owned(),
            Some(0.0) => "0 %".to_owned(),
            Some(percent) if percent < 0.01 => "< 0.01 %".to_owned(),
            Some(percent) => format!("{percent:.2} %"),
        }
    }
}

/// Every limit of one call that counts.
pub fn limits(called: &Called, limits: &Limits) -> Vec<Used> {
    let usage = &called.usage;
    let log: u64 = called.log.lines.iter().map(|line| line.len() as u64 + 1).sum();
    let used = |name, used, allowed| Used { name, used, allowed };
    vec![
        used("fuel", usage.fuel, limits.fuel),
        used("memory", usage.memory, limits.memory),
        used("statements", usage.statements, limits.statements),
        used("rows_scanned", usage.rows_scanned, limits.rows_scanned),
        used("rows_returned", usage.rows_returned, limits.rows_returned),
        used("bytes_returned", usage.bytes_returned, limits.bytes_returned),
        used("rows_written", usage.rows_written, limits.rows_written),
        used("output_bytes", output_bytes(called), limits.output_bytes),
        used("log_bytes", log + called.log.dropped, limits.log_bytes),
    ]
}

/// The size of what a tool or a user gave, as JSON.
fn output_bytes(called: &Called) -> u64 {
    let size = |json: serde_json::Result<String>| json.map_or(0, |text| text.len() as u64);
    match &called.result {
        Ok(Given::Output(Ok(output))) => {
            let table = output.table.as_ref().map_or(0, |table| size(serde_json::to_string(table)));
            size(serde_json::to_string(&output.text)) + table
        }
        Ok(Given::Reply(Ok(text))) => size(serde_json::to_string(text)),
        _ => 0,
    }
}

/// The middle of several times, in seconds.
fn median(seconds: &[f64]) -> f64 {
    let mut sorted = seconds.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match (sorted.len() % 2, sorted.get(middle), middle.checked_sub(1).and_then(|below| sorted.get(below))) {
        (0, Some(above), Some(below)) => f64::midpoint(*above, *below),
        (_, Some(middle), _) => *middle,
        (_, None, _) => 0.0,
    }
}

impl Report<'_> {
    /// For machines.
    pub fn json(&self) -> Json {
        let Called { result, log, denials, .. } = self.called;
        let failed = |failure: &Failure| json!({"failure": failure});
        let result = match result {
            Err(fault) => json!({"fault": fault, "says": fault.to_string()}),
            Ok(Given::Output(Ok(output))) => json!({"output": {"text": output.text, "table": output.table}}),
            Ok(Given::Reply(Ok(reply))) => json!({"reply": reply}),
            Ok(Given::Score(score)) => json!({"score": score}),
            Ok(Given::Output(Err(failure)) | Given::Reply(Err(failure))) => failed(failure),
        };
        let limits = limits(self.called, self.limits).into_iter().map(
            |used| json!({"name": used.name, "used": used.used, "allowed": used.allowed, "percent": used.percent()}),
        );
        json!({
            "plugin": self.plugin.name(),
            "kind": self.plugin.kind(),
            "digest": self.plugin.digest(),
            "result": result,
            "log": {"lines": log.lines, "dropped": log.dropped},
            "denials": denials,
            "limits": limits.collect::<Vec<_>>(),
            "calls": self.seconds.len(),
            "median_ms": median(&self.seconds) * 1e3,
            "difference": self.difference,
        })
    }

    /// For people.
    pub fn text(&self) {
        let description = self.plugin.description();
        output::line(&format!("{} {} {}", self.plugin.kind(), description.name, description.version));
        self.result();
        let Called { log, denials, .. } = self.called;
        log.lines.iter().for_each(|line| output::line(&format!("log       {line}")));
        if log.dropped > 0 {
            output::line(&format!("log       ({} bytes more were dropped)", log.dropped));
        }
        denials.iter().for_each(|denial| output::line(&format!("denied    {denial}")));
        let row =
            |used: Used| vec![used.name.to_owned(), used.used.to_string(), used.allowed.to_string(), used.shown()];
        let rows: Vec<Vec<String>> = limits(self.called, self.limits).into_iter().map(row).collect();
        output::table(&["limit", "used", "allowed", "percent"].map(str::to_owned), &rows);
        if self.seconds.len() > 1 {
            let milliseconds = median(&self.seconds) * 1e3;
            output::line(&format!("time      {milliseconds:.3} ms, the median of {} calls", self.seconds.len()));
        }
        if let Some(difference) = &self.difference {
            output::line(&format!("differs   {difference}"));
        }
    }

    fn result(&self) {
        match &self.called.result {
            Err(fault) => output::line(&format!("broke     {fault}")),
            Ok(Given::Output(Err(failure)) | Given::Reply(Err(failure))) => {
                output::line(&format!("failed    {failure}"));
            }
            Ok(Given::Reply(Ok(reply))) => output::line(&format!("reply     {reply}")),
            Ok(Given::Score(score)) => {
                output::line(&format!("scored    {} ({})", score.reward, score.reason));
                if let Some(difference) = &score.difference {
                    let row = difference.row.map_or(String::new(), |row| format!(" row {row}"));
                    let column = difference.column.as_ref().map_or(String::new(), |column| format!(" column {column}"));
                    let (expected, found) = (&difference.expected, &difference.found);
                    output::line(&format!(
                        "          {}{row}{column}: expected {expected}, found {found}",
                        difference.path
                    ));
                }
            }
            Ok(Given::Output(Ok(given))) => {
                output::line(&format!("result    {}", given.text));
                given.table.iter().for_each(table);
            }
        }
    }
}

fn table(table: &Table) {
    let header: Vec<String> =
        table.columns.iter().map(|column| format!("{} ({})", column.name, column.kind())).collect();
    let cell = |value: &Value| if value.is_null() { "NULL".to_owned() } else { value.to_string() };
    let rows: Vec<Vec<String>> =
        (0..table.rows.min(ROWS)).map(|row| table.row(row).iter().map(cell).collect()).collect();
    output::table(&header, &rows);
    if table.rows > ROWS {
        output::line(&format!("          and {} rows more", table.rows - ROWS));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_or_between_two() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), 2.5);
        assert_eq!(median(&[7.0]), 7.0);
    }

    #[test]
    fn a_percentage_says_what_it_can() {
        let shown = |used, allowed| Used { name: "fuel", used, allowed }.shown();
        assert_eq!(shown(1, 3), "33.33 %");
        assert_eq!(shown(200, 100), "200.00 %");
        assert_eq!(shown(1, 1_000_000_000), "< 0.01 %");
        assert_eq!((shown(0, 5).as_str(), shown(0, 0).as_str()), ("0 %", "–"));
    }
}
