//! The record of a training: figures by update, to be drawn.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// What a training wrote down: one JSON object an update.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Training {
    /// The name of the training, as its folder is called.
    pub name: String,
    /// What was recorded at every update: its number, and its figures by name.
    pub updates: Vec<(f64, BTreeMap<String, f64>)>,
    /// Its phases, such as `sft` and `grpo`: the first update of each, and its name.
    pub phases: Vec<(f64, String)>,
}

/// A line that is no record of an update.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: one JSON object with numbers expected, {found}")]
pub struct TrainingError {
    /// Which line, from 1.
    pub line: usize,
    /// What is there instead.
    pub found: String,
}

/// Fields that may say which update a line is about; else it is the line's own number.
const NUMBERS: [&str; 2] = ["update", "step"];

impl Training {
    /// Reads JSON Lines. Fields that are no numbers are passed over: what is drawn is a figure.
    ///
    /// # Errors
    /// A line that is no JSON object, by its number.
    pub fn read(name: &str, text: &str) -> Result<Training, TrainingError> {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let mut training = Training { name: name.to_owned(), ..Training::default() };
        for (index, line) in lines {
            let (at, phase, figures) = update(index + 1, line)?;
            let known = training.phases.last().map(|(_, phase)| phase);
            if let Some(phase) = phase.filter(|phase| known != Some(phase)) {
                training.phases.push((at, phase));
            }
            training.updates.push((at, figures));
        }
        Ok(training)
    }

    /// The names of all figures, in order.
    #[must_use]
    pub fn names(&self) -> BTreeSet<&str> {
        self.updates.iter().flat_map(|(_, figures)| figures.keys().map(String::as_str)).collect()
    }

    /// One figure over the updates that have it.
    #[must_use]
    pub fn curve(&self, name: &str) -> Vec<(f64, f64)> {
        self.updates.iter().filter_map(|(at, figures)| Some((*at, *figures.get(name)?))).collect()
    }
}

/// Which update, its phase where it names one, and its figures.
type Line = (f64, Option<String>, BTreeMap<String, f64>);

fn update(line: usize, text: &str) -> Result<Line, TrainingError> {
    let fields = match serde_json::from_str(text) {
        Ok(Value::Object(fields)) => fields,
        Ok(_) => return Err(TrainingError { line, found: "another JSON value found".to_owned() }),
        Err(why) => return Err(TrainingError { line, found: why.to_string() }),
    };
    let number = |value: &Value| value.as_f64().filter(|number| number.is_finite());
    let mut figures: BTreeMap<String, f64> =
        fields.iter().filter_map(|(name, value)| Some((name.clone(), number(value)?))).collect();
    let numbered = NUMBERS.iter().find_map(|name| figures.remove(*name));
    // Names are drawn: one that is longer than a chart is wide is cut.
    let phase = fields.get("phase").and_then(Value::as_str).map(|phase| crate::text::shown(phase, 24));
    Ok((numbered.unwrap_or_else(|| crate::estimate::ratio(line as u64, 1)), phase, figures))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_by_update_and_what_is_no_number_is_passed_over() {
        let text = "{\"update\":1,\"reward\":0.25,\"note\":\"warm\",\"loss\":null}\n\n{\"update\":3,\"reward\":1,\"loss\":2}\n";
        let found = Training::read("quick", text).unwrap();
        assert_eq!(found.names().into_iter().collect::<Vec<_>>(), ["loss", "reward"]);
        assert_eq!(found.curve("reward"), [(1.0, 0.25), (3.0, 1.0)]);
        assert_eq!(found.curve("loss"), [(3.0, 2.0)]);
        // Without a number of its own, an update is its line.
        assert_eq!(Training::read("quick", "{\"a\":5}\n{\"a\":6}").unwrap().curve("a"), [(1.0, 5.0), (2.0, 6.0)]);
    }

    #[test]
    fn phases_begin_where_their_name_changes() {
        let text =
            "{\"update\":1,\"phase\":\"sft\"}\n{\"update\":2,\"phase\":\"sft\"}\n{\"update\":3,\"phase\":\"grpo\"}";
        let found = Training::read("quick", text).unwrap();
        assert_eq!(found.phases, [(1.0, "sft".to_owned()), (3.0, "grpo".to_owned())]);
        assert!(Training::read("quick", "{\"update\":1}").unwrap().phases.is_empty());
    }

    #[test]
    fn a_line_that_is_no_object_is_named() {
        for (text, expected) in [("{\"a\":1}\n[1]", "line 2: "), ("{\"a\":1", "line 1: "), ("7", "line 1: ")] {
            let why = Training::read("quick", text).unwrap_err().to_string();
            assert!(why.starts_with(expected) && why.contains("one JSON object with numbers expected"), "{why}");
        }
    }
}
