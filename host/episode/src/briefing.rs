//! What a policy reads first: the instruction and the tools, the episode's own included.

use serde_json::json;
use tribunal_protocol::plugin::ToolSpec;
use tribunal_protocol::policy::{Briefing, names};
use tribunal_protocol::task::Task;

/// The briefing of a task whose plugins offer `tools`. Every task has the same episode tools, so
/// that what is offered does not tell what is expected.
pub(crate) fn briefing(task: &Task, tools: Vec<ToolSpec>) -> Briefing {
    let mut tools = tools;
    tools.extend(episode_tools());
    Briefing { instruction: task.instruction.clone(), answer: task.answer.clone(), tools, steps: task.steps }
}

/// The tools that every episode has.
pub(crate) fn episode_tools() -> Vec<ToolSpec> {
    let tool = |name: &str, description: &str, arguments| ToolSpec {
        name: name.to_owned(),
        description: description.to_owned(),
        arguments,
    };
    vec![
        tool(
            names::SUBMIT,
            "Hand in the answer and end. Give `call`: the number of the earlier call whose result table is the \
             answer. Where the task allows it, give `columns` and `rows` instead.",
            json!({
                "type": "object",
                "properties": {
                    "call": {"type": "integer", "minimum": 1, "description": "number of an earlier call"},
                    "columns": {"type": "array", "items": {"type": "string"}, "description": "column names"},
                    "rows": {"type": "array", "items": {"type": "array"}, "description": "rows of cells"}
                },
                "additionalProperties": false
            }),
        ),
        tool(
            names::DONE,
            "Say that the database is now as asked, and end.",
            json!({"type": "object", "properties": {}, "additionalProperties": false}),
        ),
        tool(
            names::ASK,
            "Ask the user one question, where the request can be read in more than one way.",
            json!({
                "type": "object",
                "properties": {
                    "about": {"type": "string", "maxLength": 100, "description": "what is unclear, in a few words"},
                    "question": {"type": "string", "maxLength": 500, "description": "the question"}
                },
                "required": ["about", "question"],
                "additionalProperties": false
            }),
        ),
        tool(
            names::ABSTAIN,
            "Say that this cannot be answered from this database, and end.",
            json!({
                "type": "object",
                "properties": {
                    "reason": {"type": "string", "maxLength": 500, "description": "why not"},
                    "missing": {"type": "string", "maxLength": 100, "description": "what is missing, in a few words"}
                },
                "required": ["reason", "missing"],
                "additionalProperties": false
            }),
        ),
    ]
}
