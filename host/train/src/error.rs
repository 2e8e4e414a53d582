use std::path::PathBuf;

use tribunal_dialogue::{CodecError, GrammarError};
use tribunal_episode::EpisodeError;

/// What stops a training.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// A recipe that cannot be followed.
    #[error("recipe, {key}: {why}")]
    Recipe {
        /// The key.
        key: String,
        /// What is wrong with it, and what was expected.
        why: String,
    },
    /// A checkpoint, or a file of one, that is not what it should be.
    #[error("{}: {why}", path.display())]
    Checkpoint {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The model's own error.
    #[error("model: {0}")]
    Model(#[from] tribunal_transformer::Error),
    /// Text that cannot become tokens.
    #[error("tokens: {0}")]
    Codec(#[from] CodecError),
    /// Tools or names that no grammar can express.
    #[error("task {task}: {source}")]
    Grammar {
        /// The task.
        task: String,
        /// Why.
        source: GrammarError,
    },
    /// A task that cannot be made ready.
    #[error(transparent)]
    Episode(#[from] EpisodeError),
    /// A training that has died: going on would waste time and hide it.
    #[error("stopped at update {update}: {why}")]
    Unhealthy {
        /// The update.
        update: u64,
        /// What a guard saw.
        why: String,
    },
    /// Nothing to learn from.
    #[error("{0}")]
    Nothing(String),
    /// A worker that panicked.
    #[error("a worker panicked while episodes were played; this is a fault of tribunal")]
    Worker,
}

impl TrainError {
    pub(crate) fn recipe(key: &str, why: impl Into<String>) -> TrainError {
        TrainError::Recipe { key: key.to_owned(), why: why.into() }
    }

    pub(crate) fn checkpoint(path: impl Into<PathBuf>, why: impl ToString) -> TrainError {
        TrainError::Checkpoint { path: path.into(), why: why.to_string() }
    }
}
