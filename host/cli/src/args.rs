//! The arguments of every command.

mod audit;
mod blind;
mod seal;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use tribunal_protocol::plugin::{Loading, Wasi};

pub use audit::AuditArguments;
pub use blind::{EncryptArguments, EvaluateBlindArguments, LockArguments};
pub use seal::{KeygenArguments, SealArguments, VerifySealArguments};

/// Puts analytical agents, and the graders that judge them, on trial.
#[derive(Debug, Parser)]
#[command(name = "tribunal", version, about, after_help = EXIT_CODES)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_CODES: &str = "Exit codes: 0 done; 1 done, and the answer is no (a replay differs, a question is not \
                          settled, a request is not granted, a candidate does not ship, a plugin is not locked as it is, a seal does not hold); 2 not done: bad input, \
                          or a machine that refuses.";

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run policies over the tasks of a suite; writes traces, a table and a page
    Run(RunArguments),
    /// Train a policy by a recipe, and compare it with the one that it started from
    Train(TrainArguments),
    /// Set trainings side by side: what differs in their recipes, what each gained, how sure that is
    Trainings(TrainingsArguments),
    /// Run traces again, call by call, and name the first step that differs
    Replay(ReplayArguments),
    /// Make the tasks of a suite and list them, with those that are refused and why
    Tasks(TasksArguments),
    /// Show what a component is, imports, offers and requests, before anything of it runs
    Inspect(InspectArguments),
    /// Explain what a plugin could do under a contract, table by table, before anything runs
    Check(CheckArguments),
    /// Begin a plugin: a small crate that works, with a test and a call to try
    New(NewArguments),
    /// Build plugin crates into components
    Build(BuildArguments),
    /// Call a plugin once: what it gives, what it logs, and how much of each limit it uses
    Call(CallArguments),
    /// Measure a plugin: loading, instantiating, a call's own work and its host calls, beside each other
    Bench(BenchArguments),
    /// Turn foreign schemas and questions (a folder, or a SQLite file) into a suite, and judge every
    /// question
    Import(ImportArguments),
    /// Write the page and the summary of a run folder again, from its traces
    Report(ReportArguments),
    /// Compare a candidate with a baseline and decide whether it may take its place
    Evaluate(EvaluateArguments),
    /// Put a verifier on trial: what does it accept that is wrong, and reject that is right?
    Audit(AuditArguments),
    /// Make a key to sign seals with, and its public key
    Keygen(KeygenArguments),
    /// Sign what a run was and gave: every file of its folder, by digest
    Seal(SealArguments),
    /// Check a seal against a run folder, offline; whatever was changed is named
    VerifySeal(VerifySealArguments),
    /// Lock a suite to its plugins: an upgrade that asks for more is not used until it is granted
    Lock(LockArguments),
    /// Encrypt tasks or a component for the one host that may read them
    Encrypt(EncryptArguments),
    /// Run encrypted tasks and components; only what a disclosure file allows leaves, signed
    EvaluateBlind(EvaluateBlindArguments),
    /// Compile a component in a process of its own, under limits
    #[command(hide = true)]
    CompileWorker(CompileWorkerArguments),
}

/// Where suites, plugins and caches are.
#[derive(Clone, Debug, Args)]
pub struct PlaceArguments {
    /// The suite: the name of an embedded one, or a folder
    #[arg(long, default_value = "analytics")]
    pub suite: String,
    /// The folder of built plugins [default: beside this program, or target/plugins]
    #[arg(long, env = "TRIBUNAL_PLUGINS")]
    pub plugins: Option<PathBuf>,
    /// The folder of compiled plugins; only you may be able to write there
    /// [default: beside the plugins]
    #[arg(long, env = "TRIBUNAL_CACHE")]
    pub cache: Option<PathBuf>,
    /// The seed that every task, and every policy, is made from
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// How many workers [default: one for each core]
    #[arg(long)]
    pub jobs: Option<usize>,
    /// At most so many tasks, spread over splits and kinds
    #[arg(long)]
    pub tasks: Option<usize>,
    /// So many variants of each training schema beside it, in other words
    #[arg(long, default_value_t = 0)]
    pub variants: u32,
    /// Print JSON for machines instead of text for people
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct RunArguments {
    #[command(flatten)]
    pub place: PlaceArguments,
    /// Which policies, separated by commas: oracle, no-op, echo, guesser, spammer, or `all` of these;
    /// or a model: a checkpoint folder of `tribunal train`, a .gguf file, or a folder with config.json,
    /// tokenizer.json and safetensors; as NAME=PATH to call it other than its file
    #[arg(long, value_delimiter = ',', default_value = "all")]
    pub policy: Vec<String>,
    #[command(flatten)]
    pub serving: ServingArguments,
    /// How often each task is tried
    #[arg(long, default_value_t = 1)]
    pub attempts: u32,
    /// The run folder [default: runs/SUITE]
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// Go on with an interrupted run: episodes that have a trace are not run again
    #[arg(long, conflicts_with = "overwrite")]
    pub resume: bool,
    /// Start anew in a run folder that exists
    #[arg(long)]
    pub overwrite: bool,
}

/// How models are played.
#[derive(Clone, Debug, Args)]
pub struct ServingArguments {
    /// Divides a model's logits; 0 always takes the likeliest token [default: as it was trained, or 1]
    #[arg(long)]
    pub temperature: Option<f32>,
    /// Calls of one episode of a model, at most [default: as it was trained, or 10]
    #[arg(long)]
    pub calls: Option<usize>,
    /// Tokens of one call of a model, at most [default: as it was trained, or 240]
    #[arg(long)]
    pub call_tokens: Option<usize>,
    #[command(flatten)]
    pub device: DeviceArguments,
}

/// What a model computes on.
#[derive(Clone, Debug, Args)]
pub struct DeviceArguments {
    /// Where a model's weights are and learn: cpu, cuda, or cuda:N; tokens are drawn on the CPU
    /// whatever this says
    #[arg(long, default_value = "cpu")]
    pub device: String,
}

/// Where plugins and caches are, and how a command works and prints.
#[derive(Clone, Debug, Args)]
pub struct MachineArguments {
    /// The folder of built plugins [default: beside this program, or target/plugins]
    #[arg(long, env = "TRIBUNAL_PLUGINS")]
    pub plugins: Option<PathBuf>,
    /// The folder of compiled plugins
    #[arg(long, env = "TRIBUNAL_CACHE")]
    pub cache: Option<PathBuf>,
    /// How many workers [default: one for each core]
    #[arg(long)]
    pub jobs: Option<usize>,
    /// Print JSON for machines instead of text for people
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct TrainArguments {
    /// The recipe: `quick`, `full`, `taught`, or a file
    pub recipe: PathBuf,
    /// Another seed than the recipe's
    #[arg(long)]
    pub seed: Option<u64>,
    /// Another value for a key of the recipe, as in --set grpo.kl=0.01; may be given several times
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// The folder of the training [default: runs/train-RECIPE]
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// Go on with an interrupted training, exactly as if it had not been
    #[arg(long, conflicts_with = "overwrite")]
    pub resume: bool,
    /// Start anew in a folder that exists
    #[arg(long)]
    pub overwrite: bool,
    /// A checkpoint to optimise from, such as the `sft` of another training, instead of fine-tuning first
    #[arg(long, value_name = "CHECKPOINT")]
    pub start: Option<PathBuf>,
    #[command(flatten)]
    pub device: DeviceArguments,
    #[command(flatten)]
    pub machine: MachineArguments,
}

#[derive(Debug, Args)]
pub struct TrainingsArguments {
    /// Folders of trainings; differences are told from the first one's recipe
    #[arg(required = true)]
    pub trainings: Vec<PathBuf>,
    /// The group of tasks that figures are of, such as new-schema [default: those that decide]
    #[arg(long)]
    pub group: Option<String>,
    /// Write the page here, curves included
    #[arg(long)]
    pub page: Option<PathBuf>,
    /// Print JSON for machines instead of text for people
    #[arg(long)]
    pub json: bool,
    /// Print Markdown
    #[arg(long, conflicts_with = "json")]
    pub markdown: bool,
}

#[derive(Debug, Args)]
pub struct ReplayArguments {
    /// A trace file, or a run folder for all of its traces
    pub trace: PathBuf,
    #[command(flatten)]
    pub machine: MachineArguments,
}

#[derive(Debug, Args)]
pub struct TasksArguments {
    #[command(flatten)]
    pub place: PlaceArguments,
    /// Show one task whole, by its id
    #[arg(long)]
    pub show: Option<String>,
}

/// How one plugin is loaded that is tried by itself.
#[derive(Clone, Copy, Debug, Args)]
pub struct LoadingArguments {
    /// What becomes of a plugin that imports WASI: refused, or inert: stand-ins that grant nothing
    /// [default: as the suite says, or refused]
    #[arg(long, env = "TRIBUNAL_WASI")]
    pub wasi: Option<WasiChoice>,
    /// Processor seconds to compile it, at most [default: as the suite says, or 10]
    #[arg(long, env = "TRIBUNAL_COMPILE_SECONDS", value_parser = clap::value_parser!(u64).range(1..=3_600))]
    pub compile_seconds: Option<u64>,
}

/// What becomes of a plugin that imports WASI.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum WasiChoice {
    /// It is not loaded
    Refused,
    /// Stand-ins that grant nothing and give the same every time
    Inert,
}

impl LoadingArguments {
    /// What a suite says, and over it what was asked for here.
    pub fn over(self, suite: Loading) -> Loading {
        let asked = self.wasi.map(|wasi| match wasi {
            WasiChoice::Refused => Wasi::Refused,
            WasiChoice::Inert => Wasi::Inert,
        });
        Loading { wasi: asked.unwrap_or(suite.wasi), compile_seconds: self.compile_seconds.or(suite.compile_seconds) }
    }
}

#[derive(Debug, Args)]
pub struct InspectArguments {
    /// The component file
    pub file: PathBuf,
    /// The folder of compiled plugins
    #[arg(long, env = "TRIBUNAL_CACHE")]
    pub cache: Option<PathBuf>,
    /// Print JSON for machines instead of text for people
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub loading: LoadingArguments,
}

#[derive(Debug, Args)]
pub struct CheckArguments {
    /// The component file
    pub file: PathBuf,
    /// The contract that is granted to it
    #[arg(long)]
    pub contract: PathBuf,
    /// The suite of the schema: the name of an embedded one, or a folder
    #[arg(long, default_value = "analytics")]
    pub suite: String,
    /// The schema, as NAME-vN [default: the one that the contract fits]
    #[arg(long)]
    pub schema: Option<String>,
    /// The folder of compiled plugins
    #[arg(long, env = "TRIBUNAL_CACHE")]
    pub cache: Option<PathBuf>,
    /// Print JSON for machines instead of text for people
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub loading: LoadingArguments,
}

/// The kinds of plugin.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Kind {
    /// Gives an agent something to do with the database
    Tool,
    /// Decides what the agent's work was worth
    Verifier,
    /// Answers the agent's questions
    User,
}

/// The languages that a plugin can be begun in.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Language {
    /// Rust, on the kit that comes with this program
    Rust,
    /// Python, on its kit; `tribunal build` needs python3 with pip
    Python,
    /// JavaScript, on its kit; `tribunal build` needs node and npm
    Javascript,
}

#[derive(Debug, Args)]
pub struct NewArguments {
    /// What it is
    pub kind: Kind,
    /// Its name: lower-case words joined by `-`
    pub name: String,
    /// The language
    #[arg(long, default_value = "rust")]
    pub language: Language,
    /// The folder; it must not be there yet, or be empty [default: NAME]
    #[arg(long)]
    pub out: Option<PathBuf>,
}

/// Which plugin is called, with what, and on what.
#[derive(Debug, Args)]
pub struct SubjectArguments {
    /// The component file
    pub file: PathBuf,
    /// The call, as JSON. A tool's: tool, arguments. A verifier's: submission, expectation, instruction,
    /// questions, calls, and `work`: the statements that changed the first state into the last one. A
    /// user's: secret, about, question. Any of them: settings
    pub input: PathBuf,
    /// The contract that is granted to it [default: all that it requests]
    #[arg(long)]
    pub contract: Option<PathBuf>,
    /// The suite of the schema: the name of an embedded one, or a folder
    #[arg(long, default_value = "analytics")]
    pub suite: String,
    /// The schema whose data is called on, as NAME-vN [default: a database without tables]
    #[arg(long, conflicts_with = "data")]
    pub schema: Option<String>,
    /// The seed of that data
    #[arg(long, default_value_t = 1, requires = "schema")]
    pub seed: u64,
    /// Data of your own: a SQLite file, or a folder with `schema.sql` and rows
    #[arg(long, value_name = "PATH")]
    pub data: Option<PathBuf>,
    /// What `now` is in data of your own
    #[arg(long, default_value = "2025-06-30")]
    pub clock: String,
    /// Answer host calls from such a file, and name the first that differs; no data is read
    #[arg(long, value_name = "FILE", conflicts_with_all = ["schema", "data", "contract"])]
    pub replay: Option<PathBuf>,
    /// The folder of compiled plugins
    #[arg(long, env = "TRIBUNAL_CACHE")]
    pub cache: Option<PathBuf>,
    /// Print JSON for machines instead of text for people
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub loading: LoadingArguments,
}

#[derive(Debug, Args)]
#[command(after_help = CALL_CODES)]
pub struct CallArguments {
    #[command(flatten)]
    pub subject: SubjectArguments,
    /// Write every host call, with what it was given, to a file
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    pub record: Option<PathBuf>,
    /// Call it so often, each time anew, and tell how long it takes
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub repeat: u32,
}

#[derive(Debug, Args)]
pub struct BenchArguments {
    #[command(flatten)]
    pub subject: SubjectArguments,
    /// Calls to measure, each in a fresh instance
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(5..=100_000))]
    pub calls: u32,
}

const CALL_CODES: &str = "Exit codes: 0 it gave a result; 1 it failed, broke, could not judge, or made other host \
                          calls than were recorded; 2 it was not called: bad input.";

#[derive(Debug, Args)]
pub struct BuildArguments {
    /// The packages to build [default: every tool-*, verifier-* and user-* of the folder]
    pub packages: Vec<String>,
    /// The folder of a cargo workspace or package
    #[arg(long, default_value = ".")]
    pub manifest: PathBuf,
    /// Where the components go
    #[arg(long, default_value = "target/plugins")]
    pub out: PathBuf,
    /// Where a compiler for guests is kept, where this machine has none of its own
    #[arg(long, default_value = "target/guest-toolchain")]
    pub toolchain: PathBuf,
    /// Cargo's target folder for guests
    #[arg(long, default_value = "target/guest")]
    pub guests: PathBuf,
    /// Where the tools are kept that make components of Python and JavaScript
    #[arg(long, default_value = "target/toolchains")]
    pub toolchains: PathBuf,
}

#[derive(Debug, Args)]
pub struct ImportArguments {
    /// The folder of schemas and questions, or a SQLite file
    pub source: PathBuf,
    /// The questions about a SQLite file [default: questions.csv beside it, if any]
    #[arg(long)]
    pub questions: Option<PathBuf>,
    /// Where the suite goes
    #[arg(long)]
    pub out: PathBuf,
    /// What `now` is in the suite
    #[arg(long, default_value = "2025-06-30")]
    pub clock: String,
    /// Replace a suite that is there
    #[arg(long)]
    pub force: bool,
    /// Print JSON for machines instead of text for people
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ReportArguments {
    /// The run folder
    pub run: PathBuf,
    /// Print JSON for machines instead of text for people
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = EVALUATE_CODES)]
pub struct EvaluateArguments {
    /// The run folder of the candidate
    #[arg(required_unless_present = "print_protocol")]
    pub run: Option<PathBuf>,
    /// The run folder of the baseline [default: the candidate's]
    #[arg(long, value_name = "RUN", required_unless_present_any = ["against_policy", "print_protocol"])]
    pub against: Option<PathBuf>,
    /// Which policy of the run is the candidate [default: its only one]
    #[arg(long, value_name = "NAME")]
    pub policy: Option<String>,
    /// Which policy is the baseline [default: the only one of its run]
    #[arg(long, value_name = "NAME")]
    pub against_policy: Option<String>,
    /// A run of the candidate as it will be served: sampling, precision, timeouts
    #[arg(long, value_name = "RUN")]
    pub recheck: Option<PathBuf>,
    /// Which policy of the recheck [default: its only one, or the candidate's name]
    #[arg(long, value_name = "NAME", requires = "recheck")]
    pub recheck_policy: Option<String>,
    /// When a candidate ships: a protocol file [default: see --print-protocol]
    #[arg(long, value_name = "FILE")]
    pub protocol: Option<PathBuf>,
    /// Print the protocol that is used where none is given, and do nothing else
    #[arg(long, exclusive = true)]
    pub print_protocol: bool,
    /// Show the biased plug-in estimates of pass^k too, by that name
    #[arg(long)]
    pub plug_in: bool,
    /// Write the page without links to traces: for a page that is kept where they are not
    #[arg(long)]
    pub no_links: bool,
    /// A folder with the updates.jsonl of a training, for its curves
    #[arg(long, value_name = "FOLDER")]
    pub training: Option<PathBuf>,
    /// Where evaluation.html and evaluation.json go [default: the candidate's run folder]
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
    /// Print JSON for machines instead of text for people
    #[arg(long, conflicts_with = "markdown")]
    pub json: bool,
    /// Print Markdown instead of tables for a terminal
    #[arg(long)]
    pub markdown: bool,
}

const EVALUATE_CODES: &str =
    "Exit codes: 0 ship; 1 no ship: a clause fails or cannot be decided; 2 not decided: bad input.";

#[derive(Debug, Args)]
pub struct CompileWorkerArguments {
    /// What the parent added: seconds and bytes
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub limits: Vec<std::ffi::OsString>,
}
