//! Why a draft did not become a task.

/// A refused draft.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("task {task}: {reason}")]
pub struct Refused {
    /// The task's id.
    pub task: String,
    /// Why, for the suite's author.
    pub reason: String,
}
