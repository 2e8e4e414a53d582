//! Actions as templates.

use serde::Deserialize;
use serde_json::{Value as Json, json};
use tribunal_protocol::policy::{Action, names};

use crate::render::Renderer;

/// One action, or one for each of several rows.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ActionForm {
    pub(crate) tool: String,
    /// The arguments; texts in them are templates. `submit` without arguments hands in the last
    /// call marked as the answer.
    #[serde(default)]
    pub(crate) arguments: toml::Table,
    /// The name of a list: the action is done for each of its items, called `row`.
    #[serde(default)]
    pub(crate) each: Option<String>,
    /// Only where this expression is true.
    #[serde(default)]
    pub(crate) only: Option<String>,
    /// Whether `submit` means this call's result.
    #[serde(default)]
    pub(crate) answer: bool,
}

/// Renders actions in order; `submit` learns which call it hands in.
pub(crate) fn render(forms: &[ActionForm], renderer: &Renderer, context: &Json) -> Result<Vec<Action>, String> {
    let mut actions = Vec::new();
    let mut answer = None;
    for form in forms {
        if let Some(only) = &form.only
            && renderer.expression(only, context)? != Json::Bool(true)
        {
            continue;
        }
        if form.tool == names::SUBMIT && form.arguments.is_empty() {
            let call = answer.ok_or("`submit` expects an earlier action with `answer = true`")?;
            actions.push(submit(call));
            continue;
        }
        let arguments = serde_json::to_value(&form.arguments).map_err(|fault| fault.to_string())?;
        let mut push = |context: &Json| {
            let arguments = renderer.json(&arguments, context)?;
            actions.push(Action::call(form.tool.clone(), arguments));
            Ok::<(), String>(())
        };
        match &form.each {
            None => push(context)?,
            Some(list) => {
                let items = renderer.expression(list, context)?;
                for item in items.as_array().ok_or_else(|| format!("`{list}` is no list"))? {
                    let mut inner = context.clone();
                    inner["row"] = item.clone();
                    push(&inner)?;
                }
            }
        }
        if form.answer {
            answer = Some(actions.len());
        }
    }
    Ok(actions)
}

/// A query.
pub(crate) fn query(sql: &str) -> Action {
    Action::call("query", json!({ "sql": sql }))
}

/// Hands in the result of an earlier call, counted from 1.
pub(crate) fn submit(call: usize) -> Action {
    Action::call(names::SUBMIT, json!({ "call": call }))
}
