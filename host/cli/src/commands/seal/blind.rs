//! `tribunal verify-seal` of a blind evaluation's result: who signed it, and whether the files that are at hand
//! are those that went into it.

use std::path::Path;

use anyhow::{Context, Result};
use serde::Serialize;
use serde_json::Value as Json;
use tribunal_protocol::Digest;
use tribunal_seal::{DISCLOSED_TYPE, Envelope, PublicKey, SealError, Statement, Subject};

use super::verify::{Problem, whose};
use crate::args::VerifySealArguments;
use crate::commands::blind::{BlindPredicate, show};
use crate::output;

/// What came of it.
#[derive(Debug, Serialize)]
struct Checked {
    holds: bool,
    keyid: String,
    trusted: bool,
    /// Files that were compared, and those that are named and not at hand.
    compared: Vec<String>,
    absent: Vec<String>,
    problems: Vec<Problem>,
    result: Option<BlindPredicate>,
}

/// Whether an envelope says that it is the result of a blind evaluation.
pub(super) fn is_result(envelope: &Envelope) -> bool {
    let payload = envelope.unverified().ok().and_then(|bytes| serde_json::from_slice::<Json>(&bytes).ok());
    payload.is_some_and(|payload| payload["predicateType"] == DISCLOSED_TYPE)
}

/// Checks a result; says whether it holds.
pub(super) fn verify(arguments: &VerifySealArguments, envelope: &Envelope, key: Option<PublicKey>) -> Result<bool> {
    let named = || arguments.seal.display().to_string();
    let trusted = key.is_some();
    let own = || {
        let statement: Statement<BlindPredicate> = Statement::read(&envelope.unverified()?, DISCLOSED_TYPE)?;
        PublicKey::from_pem(&statement.predicate.public_key)
    };
    let key = key.map_or_else(own, Ok).with_context(named)?;
    let mut checked = Checked {
        holds: false,
        keyid: key.id(),
        trusted,
        compared: Vec::new(),
        absent: Vec::new(),
        problems: Vec::new(),
        result: None,
    };
    match Statement::<BlindPredicate>::open(envelope, &key, DISCLOSED_TYPE) {
        Ok(statement) => {
            compare(arguments.run.as_deref(), &statement.subject, &mut checked)?;
            checked.result = Some(statement.predicate);
        }
        Err(why @ (SealError::Forged(_) | SealError::KeyId { .. })) => {
            checked.problems.push(Problem { name: named(), problem: why.to_string() });
        }
        Err(why) => return Err(why).with_context(named),
    }
    checked.holds = checked.problems.is_empty();
    if arguments.machine.json {
        output::json(&checked)?
    } else {
        print(&checked)
    }
    Ok(checked.holds)
}

/// Holds the files of a folder against the digests that were signed.
fn compare(folder: Option<&Path>, subjects: &[Subject], checked: &mut Checked) -> Result<()> {
    for subject in subjects {
        let path = folder.map(|folder| folder.join(&subject.name)).filter(|path| path.is_file());
        let Some(path) = path else {
            checked.absent.push(subject.name.clone());
            continue;
        };
        let bytes = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        if subject.sha256() != Some(Digest::of(&bytes)) {
            let problem = "altered: another file than the one that went in".to_owned();
            checked.problems.push(Problem { name: subject.name.clone(), problem });
        }
        checked.compared.push(subject.name.clone());
    }
    Ok(())
}

fn print(checked: &Checked) {
    for problem in &checked.problems {
        output::line(&format!("{}: {}", problem.name, problem.problem));
    }
    if let Some(result) = &checked.result {
        show(result);
    }
    output::line(&format!("keyid     {} ({})", checked.keyid, whose(checked.trusted)));
    for (what, files) in [("compared", &checked.compared), ("not here", &checked.absent)] {
        if !files.is_empty() {
            output::line(&format!("{what:<9} {}", files.join(", ")));
        }
    }
    output::line(match checked.holds {
        true => "the result is as it was signed",
        false => "the result does not hold",
    });
}
