use std::path::PathBuf;

/// What goes wrong between tokens and weights.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A shape that no model can have.
    #[error("the model's shape is impossible: {0}")]
    Shape(String),
    /// Tokens, offsets, masks or per-token numbers that do not fit together.
    #[error("the batch does not fit: {0}")]
    Batch(String),
    /// A sequence that is longer than the model can attend to.
    #[error("{tokens} tokens are more than the model's context of {context}; shorten the sequence")]
    Context {
        /// Length of the sequence.
        tokens: usize,
        /// The model's context.
        context: usize,
    },
    /// A trainable parameter that the loss does not reach.
    #[error("no gradient reached `{0}`, which is to be trained; freeze it or mend the forward pass")]
    NoGradient(String),
    /// A loss, gradient or log-probability that is no finite number.
    #[error("{0} is not finite; lower the learning rate or look at the batch")]
    NotFinite(String),
    /// A device that cannot be used.
    #[error("device `{name}`: {problem}")]
    Device {
        /// As it was asked for.
        name: String,
        /// Why not, and what to do.
        problem: String,
    },
    /// A constraint that refused or contradicted itself.
    #[error("the constraint failed: {0}")]
    Constraint(String),
    /// A file that does not hold what it should.
    #[error("{}: {problem}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The tensor library's own error.
    #[error(transparent)]
    Tensor(#[from] candle_core::Error),
}

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// A fault of the file at a path. The tensor library may hang a backtrace on its message; the first
    /// line says what is wrong.
    pub(crate) fn file(path: impl Into<PathBuf>, problem: impl ToString) -> Error {
        let problem = problem.to_string().lines().next().unwrap_or_default().to_owned();
        Error::File { path: path.into(), problem }
    }
}
