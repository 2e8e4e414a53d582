//! What a model wrote, as an action.

use tribunal_protocol::failure::Failure;
use tribunal_protocol::plugin::ToolSpec;
use tribunal_protocol::policy::Action;

use crate::mark::Style;

/// Why bytes are no action. Its text is for the agent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseFailure {
    /// Not UTF-8.
    #[error("the call is not UTF-8 text")]
    NotText,
}

impl From<&ParseFailure> for Failure {
    fn from(failure: &ParseFailure) -> Failure {
        Failure::invalid(failure.to_string())
    }
}

/// Reads one call. The end mark may stand at the end or be left out.
///
/// # Errors
/// What is wrong with it, for the agent.
pub fn parse(style: Style, tools: &[ToolSpec], bytes: &[u8]) -> Result<Action, ParseFailure> {
    let _ = (style, tools, bytes);
    Err(ParseFailure::NotText)
}
