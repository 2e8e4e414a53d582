//! The arguments of `keygen`, `seal` and `verify-seal`.

use std::path::PathBuf;

use clap::Args;

use super::MachineArguments;

#[derive(Debug, Args)]
pub struct KeygenArguments {
    /// Where the signing key goes, for your eyes only; FILE.pub beside it is the public key
    pub file: PathBuf,
    /// Make the key of an evaluating host instead, which files are encrypted to; `age` reads it too
    #[arg(long)]
    pub host: bool,
    /// Print JSON for machines instead of text for people
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct SealArguments {
    /// The run folder
    pub run: PathBuf,
    /// The signing key, in PEM [default: what the variable TRIBUNAL_SIGNING_KEY holds]
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// Where the seal goes: RUN/seal.json, or outside of the run folder [default: RUN/seal.json]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// The protocol file that a release is decided by, to bind it too
    #[arg(long, value_name = "FILE")]
    pub protocol: Option<PathBuf>,
    /// Print JSON for machines instead of text for people
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = VERIFY_CODES)]
pub struct VerifySealArguments {
    /// The seal, or the signed result of a blind evaluation
    pub seal: PathBuf,
    /// The run folder; of a blind evaluation, the folder of the files that went into it, if they are at hand
    pub run: Option<PathBuf>,
    /// The key of whoever you trust, in PEM [default: the one that the seal names, which shows damage and
    /// not who signed]
    #[arg(long, value_name = "FILE")]
    pub public_key: Option<PathBuf>,
    /// The protocol file, to check that it is the one that was bound
    #[arg(long, value_name = "FILE")]
    pub protocol: Option<PathBuf>,
    /// Run every episode again, and compare every event and verdict
    #[arg(long)]
    pub replay: bool,
    #[command(flatten)]
    pub machine: MachineArguments,
}

const VERIFY_CODES: &str = "Exit codes: 0 the seal holds; 1 it does not, and what differs is named; 2 not checked: bad \
                            input, such as a file that is no seal.";
