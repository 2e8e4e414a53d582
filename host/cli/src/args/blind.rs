//! The arguments of `lock`, `encrypt` and `evaluate-blind`.

use std::path::PathBuf;

use clap::Args;

use super::MachineArguments;

#[derive(Debug, Args)]
pub struct LockArguments {
    /// The suite: the name of an embedded one, or a folder; its lock file is FOLDER/tribunal.lock, or lies
    /// beside the plugins
    #[arg(long, default_value = "analytics")]
    pub suite: String,
    /// Grant what this plugin asks for beyond what is locked; may be given several times
    #[arg(long, value_name = "NAME")]
    pub grant: Vec<String>,
    /// The folder of built plugins [default: beside this program, or target/plugins]
    #[arg(long, env = "TRIBUNAL_PLUGINS")]
    pub plugins: Option<PathBuf>,
    /// The folder of compiled plugins; locked components are kept there too
    #[arg(long, env = "TRIBUNAL_CACHE")]
    pub cache: Option<PathBuf>,
    /// Print JSON for machines instead of text for people
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct EncryptArguments {
    /// The file: the tasks.jsonl of a run folder, or a component; or the folder of a checkpoint, which
    /// becomes one file
    pub file: PathBuf,
    /// The public key of the host that may read it: a file with a line age1..
    #[arg(long, value_name = "FILE")]
    pub to: PathBuf,
    /// Where the encrypted file goes
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}

#[derive(Debug, Args)]
pub struct EvaluateBlindArguments {
    /// The encrypted tasks
    pub tasks: PathBuf,
    /// The suite whose schemas the tasks are about: the name of an embedded one, or a folder
    #[arg(long, default_value = "analytics")]
    pub suite: String,
    /// This host's secret key
    #[arg(long, value_name = "FILE")]
    pub host_key: PathBuf,
    /// What may leave: a disclosure file, or a protocol file with a table [disclosure]
    #[arg(long, value_name = "FILE")]
    pub disclosure: PathBuf,
    /// An encrypted component, which takes the place of the plugin of its name; may be given several times
    #[arg(long, value_name = "FILE")]
    pub plugin: Vec<PathBuf>,
    /// Which scripted policies, separated by commas
    #[arg(long, value_delimiter = ',', default_value = "oracle,no-op,echo,guesser,spammer")]
    pub policy: Vec<String>,
    /// An encrypted checkpoint that plays too, under this name; may be given several times
    #[arg(long, value_name = "NAME=FILE")]
    pub model: Vec<String>,
    /// How often each task is tried
    #[arg(long, default_value_t = 1)]
    pub attempts: u32,
    /// The seed that every policy is made from
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// The key that signs what leaves [default: what the variable TRIBUNAL_SIGNING_KEY holds]
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// Where the signed result goes
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    #[command(flatten)]
    pub machine: MachineArguments,
}
