//! What a call of a plugin is given in an episode, for those who call one without any.

use jsonschema::Validator;
use serde_json::Value as Json;
use tribunal_protocol::evidence::Submission;
use tribunal_protocol::failure::Failure;
use tribunal_protocol::plugin::ToolSpec;

use crate::error::EpisodeError;
use crate::{stage, submit};

/// What an agent reads of arguments that do not fit a tool's schema; none where they fit. Such a
/// call never reaches the plugin.
///
/// # Errors
/// The tool's arguments are no JSON Schema. `plugin` names it there.
pub fn misfit(plugin: &str, tool: &ToolSpec, arguments: &Json) -> Result<Option<Failure>, EpisodeError> {
    let entry = stage::entry(plugin, tool.clone())?;
    Ok(first_problem(&entry.validator, &tool.name, arguments))
}

/// The first place where arguments do not fit, as an agent reads it.
pub(crate) fn first_problem(validator: &Validator, tool: &str, arguments: &Json) -> Option<Failure> {
    let problem = validator.iter_errors(arguments).next()?;
    let place = problem.instance_path().to_string();
    let place = place.trim_start_matches('/').replace('/', ".");
    let place = if place.is_empty() { String::new() } else { format!("argument {place}: ") };
    Some(Failure::invalid(format!("{tool}: {place}{problem}")))
}

/// The fuel units that a verifier gets for a submission, beside those that every call has.
#[must_use]
pub fn fuel_for(submission: &Submission) -> u64 {
    submit::fuel_for(submission)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn tool(arguments: Json) -> ToolSpec {
        ToolSpec { name: "count".to_owned(), description: String::new(), arguments }
    }

    #[test]
    fn what_does_not_fit_is_named_by_its_place() {
        let schema =
            json!({"type": "object", "additionalProperties": false, "properties": {"table": {"type": "string"}}});
        let tool = tool(schema);
        assert_eq!(misfit("tool-x", &tool, &json!({"table": "t"})).unwrap(), None);
        let problem = misfit("tool-x", &tool, &json!({"table": 5})).unwrap().unwrap();
        assert!(problem.message.starts_with("count: argument table: 5 is not"), "{problem}");
    }

    #[test]
    fn a_schema_that_is_none_is_a_fault_of_the_plugin() {
        let broken = misfit("tool-x", &tool(json!({"type": "objekt"})), &json!({})).unwrap_err().to_string();
        assert!(broken.contains("tool-x"), "{broken}");
    }
}
