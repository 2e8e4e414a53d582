//! Why a task cannot be played.

/// Why a task cannot be played on this stage. These are faults of the suite or of the
/// installation, found before anything runs; what breaks inside an episode voids it instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EpisodeError {
    /// A plugin that the task names is not loaded.
    #[error(
        "task {task}: no plugin named `{plugin}`; loaded are {loaded}; build it with `tribunal build` or correct the suite"
    )]
    NoPlugin {
        /// The task.
        task: String,
        /// The plugin.
        plugin: String,
        /// Those that are.
        loaded: String,
    },
    /// A plugin of the wrong kind stands where the task names it.
    #[error("task {task}: `{plugin}` is a {found}, a {expected} is needed there")]
    WrongKind {
        /// The task.
        task: String,
        /// The plugin.
        plugin: String,
        /// What is needed.
        expected: String,
        /// What it is.
        found: String,
    },
    /// Two plugins of one name.
    #[error(
        "two plugins call themselves `{plugin}`, of the digests {} and {}; take the one that is not meant out of the folder", .digests[0], .digests[1]
    )]
    TwoPlugins {
        /// The name.
        plugin: String,
        /// The short digests of the two components.
        digests: [String; 2],
    },
    /// Two tools of one name.
    #[error("task {task}: the tool `{tool}` is offered twice, by `{first}` and `{second}`; leave one of them out")]
    TwoTools {
        /// The task.
        task: String,
        /// The tool's name.
        tool: String,
        /// The plugin, or `the episode` for its own tools.
        first: String,
        /// The other one.
        second: String,
    },
    /// A contract that cannot be read or does not fit the schema.
    #[error("task {task}: contract for `{plugin}`: {problem}")]
    Contract {
        /// The task.
        task: String,
        /// Whose contract.
        plugin: String,
        /// What is wrong, and how to mend it.
        problem: String,
    },
    /// A tool whose JSON Schema is none.
    #[error("tool `{tool}` of `{plugin}`: its arguments are no JSON Schema of an object: {problem}")]
    Arguments {
        /// The plugin.
        plugin: String,
        /// The tool.
        tool: String,
        /// What is wrong.
        problem: String,
    },
    /// The data cannot be made or sealed.
    #[error("task {task}: data of {schema} at seed {seed}: {problem}")]
    Data {
        /// The task.
        task: String,
        /// The schema.
        schema: String,
        /// The seed.
        seed: u64,
        /// What is wrong.
        problem: String,
    },
    /// The task itself is malformed.
    #[error("task {task}: {problem}")]
    Task {
        /// The task.
        task: String,
        /// What is wrong.
        problem: String,
    },
}
