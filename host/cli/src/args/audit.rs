//! The arguments of `tribunal audit`.

use std::path::PathBuf;

use clap::Args;

use super::PlaceArguments;

#[derive(Debug, Args)]
#[command(after_help = AUDIT_CODES)]
pub struct AuditArguments {
    /// The component file of the verifier; it is run sealed, and never trusted
    pub file: PathBuf,
    #[command(flatten)]
    pub place: PlaceArguments,
    /// The suite's verifier that it stands in for [default: the one of its own name]
    #[arg(long, value_name = "NAME")]
    pub in_place_of: Option<String>,
    /// Settings pinned for it, a JSON object [default: those that the suite pins]
    #[arg(long, value_name = "JSON")]
    pub settings: Option<String>,
    /// Experts' labels: lines of CASE,accept or CASE,reject
    #[arg(long, value_name = "FILE")]
    pub labels: Option<PathBuf>,
    /// Where audit.html, audit.json and cases.jsonl go [default: runs/audit-NAME]
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
}

const AUDIT_CODES: &str = "Exit codes: 0 nothing wrong was found; 1 something was; 2 not tried: bad input.";
