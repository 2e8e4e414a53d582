//! One call as a file says it.

use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json};
use tribunal_protocol::evidence::{Evidence, Question, Submission, ToolCall};
use tribunal_protocol::plugin::{PluginKind, ToolSpec};
use tribunal_sandbox::Plugin;

/// More bytes than any call has that is written by hand.
const INPUT_BYTES: u64 = 16 << 20;

/// What a plugin is called with.
#[derive(Clone, Debug)]
pub struct Input {
    /// The settings, a JSON object.
    pub settings: String,
    /// The rest, by kind.
    pub call: Call,
}

/// The call itself.
#[derive(Clone, Debug)]
pub enum Call {
    /// Of a tool.
    Tool {
        /// Its name.
        tool: String,
        /// A JSON object that fits its schema.
        arguments: Json,
    },
    /// Of a verifier.
    Verify {
        /// What is to be judged.
        evidence: Evidence,
        /// Statements that make the last state of the first.
        work: Vec<String>,
    },
    /// Of a simulated user.
    Reply {
        /// What it knows, as JSON.
        secret: String,
        /// What the question is about.
        about: String,
        /// The question.
        question: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolFile {
    tool: Option<String>,
    #[serde(default)]
    arguments: Map<String, Json>,
    #[serde(default)]
    settings: Map<String, Json>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VerifyFile {
    #[serde(default)]
    instruction: String,
    submission: Submission,
    #[serde(default)]
    questions: Vec<Question>,
    #[serde(default)]
    calls: Vec<ToolCall>,
    expectation: Json,
    #[serde(default)]
    work: Vec<String>,
    #[serde(default)]
    settings: Map<String, Json>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReplyFile {
    secret: Json,
    #[serde(default)]
    about: String,
    question: String,
    #[serde(default)]
    settings: Map<String, Json>,
}

/// Reads the call of a plugin's kind, and holds it against what the plugin offers.
pub fn read(path: &Path, plugin: &Plugin) -> Result<Input> {
    let size = std::fs::metadata(path).with_context(|| format!("cannot read {}", path.display()))?.len();
    if size > INPUT_BYTES {
        bail!("{}: {size} bytes; a call has {INPUT_BYTES} at most", path.display());
    }
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    parse(&text, plugin.kind(), plugin.name(), &plugin.description().tools).with_context(|| path.display().to_string())
}

fn parse(text: &str, kind: PluginKind, plugin: &str, tools: &[ToolSpec]) -> Result<Input> {
    let (settings, call) = match kind {
        PluginKind::Tool => {
            let ToolFile { tool, arguments, settings } = of_kind(text, kind)?;
            (settings, tool_call(plugin, tools, tool, Json::Object(arguments))?)
        }
        PluginKind::Verifier => {
            let VerifyFile { instruction, submission, questions, calls, expectation, work, settings } =
                of_kind(text, kind)?;
            let expectation = as_text(expectation);
            (
                settings,
                Call::Verify { evidence: Evidence { instruction, submission, questions, calls, expectation }, work },
            )
        }
        PluginKind::User => {
            let ReplyFile { secret, about, question, settings } = of_kind(text, kind)?;
            (settings, Call::Reply { secret: as_text(secret), about, question })
        }
    };
    Ok(Input { settings: Json::Object(settings).to_string(), call })
}

fn of_kind<T: DeserializeOwned>(text: &str, kind: PluginKind) -> Result<T> {
    serde_json::from_str(text).with_context(|| format!("the call of a {kind} expected"))
}

/// Text stays as it is; any other JSON becomes its text.
fn as_text(json: Json) -> String {
    match json {
        Json::String(text) => text,
        other => other.to_string(),
    }
}

fn tool_call(plugin: &str, tools: &[ToolSpec], named: Option<String>, arguments: Json) -> Result<Call> {
    let listed = || tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>().join(", ");
    let tool = match (&named, tools) {
        (Some(name), _) => tools.iter().find(|tool| tool.name == *name),
        (None, [only]) => Some(only),
        (None, _) => None,
    };
    let Some(tool) = tool else {
        match named {
            Some(name) => bail!("tool {name:?}: {plugin} has no such tool; it has {}", listed()),
            None => bail!("`tool` must say which: {plugin} has {}", listed()),
        }
    };
    if let Some(problem) = tribunal_episode::misfit(plugin, tool, &arguments)? {
        bail!("no agent's call with these arguments reaches the plugin: {}", problem.message);
    }
    Ok(Call::Tool { tool: tool.name.clone(), arguments })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn tool(name: &str) -> ToolSpec {
        let arguments =
            json!({"type": "object", "additionalProperties": false, "properties": {"n": {"type": "integer"}}});
        ToolSpec { name: name.to_owned(), description: String::new(), arguments }
    }

    fn fault(text: &str, kind: PluginKind, tools: &[ToolSpec]) -> String {
        format!("{:#}", parse(text, kind, "plugin-x", tools).unwrap_err())
    }

    #[test]
    fn an_only_tool_needs_no_name_and_two_do() {
        let tools = [tool("one"), tool("two")];
        let Call::Tool { tool, arguments } =
            parse(r#"{"arguments": {"n": 1}}"#, PluginKind::Tool, "plugin-x", &tools[..1]).unwrap().call
        else {
            unreachable!()
        };
        assert_eq!((tool.as_str(), arguments), ("one", json!({"n": 1})));
        assert!(fault("{}", PluginKind::Tool, &tools).contains("plugin-x has one, two"));
        assert!(fault(r#"{"tool": "three"}"#, PluginKind::Tool, &tools).contains("no such tool; it has one, two"));
        assert!(fault(r#"{"arguments": {"m": 1}}"#, PluginKind::Tool, &tools[..1]).contains("one: "));
        assert!(fault(r#"{"argument": {}}"#, PluginKind::Tool, &tools[..1]).contains("unknown field `argument`"));
    }

    #[test]
    fn an_expectation_is_text_or_json() {
        let text = |expectation: &str| {
            let text = format!(r#"{{"submission": "done", "expectation": {expectation}, "settings": {{"a": 1}}}}"#);
            let input = parse(&text, PluginKind::Verifier, "plugin-x", &[]).unwrap();
            assert_eq!(input.settings, r#"{"a":1}"#);
            let Call::Verify { evidence, .. } = input.call else { unreachable!() };
            evidence.expectation
        };
        assert_eq!(text(r#"{"b": [1, 0.1]}"#), r#"{"b":[1,0.1]}"#);
        assert_eq!(text(r#""as it is""#), "as it is");
        assert!(fault(r#"{"expectation": {}}"#, PluginKind::Verifier, &[]).contains("missing field `submission`"));
        assert!(fault(r#"{"question": "?"}"#, PluginKind::User, &[]).contains("missing field `secret`"));
    }
}
