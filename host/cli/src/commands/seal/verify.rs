//! `tribunal verify-seal`: a seal against a run folder.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Serialize;
use serde_json::Value as Json;
use tribunal_protocol::Digest;
use tribunal_seal::{Envelope, PREDICATE_TYPE, PublicKey, RunPredicate, SealError, Statement, Subject};

use super::{bind, blind, keys};
use crate::args::VerifySealArguments;
use crate::commands::replay::replay_all;
use crate::folder::RunFolder;
use crate::output;

/// One thing that is not as it was sealed.
#[derive(Debug, Serialize)]
pub(super) struct Problem {
    /// The file, or the part of the statement.
    pub(super) name: String,
    /// What is wrong with it.
    pub(super) problem: String,
}

/// What came of it.
#[derive(Debug, Serialize)]
struct Checked {
    holds: bool,
    keyid: String,
    /// Whether the key is one that the caller named.
    trusted: bool,
    files: usize,
    traces: u64,
    /// How many episodes were run again.
    replayed: Option<usize>,
    problems: Vec<Problem>,
}

/// Runs the command; says whether the seal holds.
pub fn run(arguments: &VerifySealArguments) -> Result<bool> {
    let path = &arguments.seal;
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let envelope = Envelope::read(&bytes).with_context(|| path.display().to_string())?;
    let key = arguments.public_key.as_deref().map(keys::public).transpose()?;
    if blind::is_result(&envelope) {
        return blind::verify(arguments, &envelope, key);
    }
    let run =
        arguments.run.as_deref().context("RUN: the folder of the run that was sealed is expected behind the seal")?;
    let folder = RunFolder::open(run)?;
    let trusted = key.is_some();
    let key = key.map_or_else(|| own_key(&envelope), Ok).with_context(|| path.display().to_string())?;
    let mut checked =
        Checked { holds: false, keyid: key.id(), trusted, files: 0, traces: 0, replayed: None, problems: Vec::new() };
    match Statement::open(&envelope, &key, PREDICATE_TYPE) {
        Ok(statement) => compare(arguments, &folder, &key, &statement, &mut checked)?,
        Err(why @ (SealError::Forged(_) | SealError::KeyId { .. })) => {
            checked.problems.push(Problem { name: path.display().to_string(), problem: why.to_string() });
        }
        Err(why) => return Err(why).with_context(|| path.display().to_string()),
    }
    checked.holds = checked.problems.is_empty();
    show(&checked, arguments.machine.json)?;
    Ok(checked.holds)
}

/// The key that a seal says it was signed by.
fn own_key(envelope: &Envelope) -> Result<PublicKey, SealError> {
    let statement: Statement<RunPredicate> = Statement::read(&envelope.unverified()?, PREDICATE_TYPE)?;
    PublicKey::from_pem(&statement.predicate.public_key)
}

fn compare(
    arguments: &VerifySealArguments,
    folder: &RunFolder,
    key: &PublicKey,
    statement: &Statement<RunPredicate>,
    checked: &mut Checked,
) -> Result<()> {
    (checked.files, checked.traces) = (statement.subject.len(), statement.predicate.traces);
    checked.problems = files(folder, &statement.subject)?;
    // Where a file was changed, what the folder says of itself is worth nothing.
    if checked.problems.is_empty() {
        match bind::predicate(folder, key) {
            Ok(found) => checked.problems = differences(&statement.predicate, &found)?,
            Err(why) => {
                let name = folder.path().display().to_string();
                checked.problems.push(Problem { name, problem: format!("{why:#}") });
            }
        }
    }
    checked.problems.extend(protocol(arguments.protocol.as_deref(), &statement.predicate)?);
    if arguments.replay {
        replay(arguments, folder, checked)?;
    }
    Ok(())
}

/// What a replay starts from.
const GROUND: [&str; 2] = ["run.json", "tasks.jsonl"];

/// Runs every episode again, unless what it would start from is not what was sealed.
fn replay(arguments: &VerifySealArguments, folder: &RunFolder, checked: &mut Checked) -> Result<()> {
    if let Some(ground) = checked.problems.iter().find(|problem| GROUND.contains(&problem.name.as_str())) {
        let problem = "not replayed: it was altered or is missing, and replay starts from it".to_owned();
        checked.problems.push(Problem { name: ground.name.clone(), problem });
        return Ok(());
    }
    let outcomes = replay_all(folder, &folder.traces()?, &arguments.machine)?;
    checked.replayed = Some(outcomes.len());
    let differing = outcomes.into_iter().filter_map(|outcome| Some((outcome.trace, outcome.problem?)));
    let named = differing.map(|(name, problem)| Problem { name, problem: format!("replayed: {problem}") });
    checked.problems.extend(named);
    Ok(())
}

/// Every file that is altered, missing, or was not there.
fn files(folder: &RunFolder, sealed: &[Subject]) -> Result<Vec<Problem>> {
    let mut problems = Vec::new();
    let mut expected: BTreeMap<&str, Option<Digest>> = BTreeMap::new();
    for subject in sealed {
        if expected.insert(&subject.name, subject.sha256()).is_some() {
            problems.push(Problem { name: subject.name.clone(), problem: "named twice in the seal".to_owned() });
        }
    }
    for (name, path) in folder.files()? {
        let bytes = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let problem = match expected.remove(name.as_str()) {
            None => "not in the seal: it was added; take it out of the run folder".to_owned(),
            Some(None) => "the seal states no SHA-256 digest of it".to_owned(),
            Some(Some(digest)) if digest == Digest::of(&bytes) => continue,
            Some(Some(digest)) => altered(&name, &bytes, digest),
        };
        problems.push(Problem { name, problem });
    }
    let missing = expected.into_keys().map(|name| (name, "in the seal, and not in the run folder".to_owned()));
    problems.extend(missing.map(|(name, problem)| Problem { name: name.to_owned(), problem }));
    problems.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(problems)
}

/// What is wrong with a file whose digest is another: for a trace, the event.
fn altered(name: &str, bytes: &[u8], sealed: Digest) -> String {
    if name.starts_with("traces/") {
        return match tribunal_trace::read(bytes) {
            Err(why) => why.to_string(),
            Ok(_) => "a whole trace, and not the one that was sealed; `--replay` shows the event where it is wrong"
                .to_owned(),
        };
    }
    format!("altered: sealed with digest {}, now {}", sealed.short(), Digest::of(bytes).short())
}

/// Where the statement says something else of the run than its files do: whoever signed it was wrong, or lied.
fn differences(sealed: &RunPredicate, found: &RunPredicate) -> Result<Vec<Problem>> {
    let found = RunPredicate { protocol: sealed.protocol.clone(), ..found.clone() };
    let (sealed, found) = (serde_json::to_value(sealed)?, serde_json::to_value(found)?);
    let fields = sealed.as_object().into_iter().flatten();
    let differing = fields.filter_map(|(field, said)| {
        let there = found.get(field).unwrap_or(&Json::Null);
        let problem = || format!("the seal says {said}, the run folder {there}");
        (said != there).then(|| Problem { name: format!("predicate.{field}"), problem: problem() })
    });
    Ok(differing.collect())
}

fn protocol(given: Option<&Path>, sealed: &RunPredicate) -> Result<Option<Problem>> {
    let Some(path) = given else { return Ok(None) };
    let digest = bind::protocol_file(path)?.digest;
    let problem = match &sealed.protocol {
        None => "the seal binds no protocol file".to_owned(),
        Some(bound) if bound.digest == digest => return Ok(None),
        Some(bound) => {
            format!("altered: `{}` was sealed with digest {}, now {}", bound.file, bound.digest.short(), digest.short())
        }
    };
    Ok(Some(Problem { name: path.display().to_string(), problem }))
}

/// Whose word it is that a key is the right one.
pub(super) fn whose(trusted: bool) -> &'static str {
    if trusted { "the key that you named" } else { "the seal's own word; name a key that you trust with --public-key" }
}

fn show(checked: &Checked, json: bool) -> Result<()> {
    if json {
        return output::json(checked);
    }
    for problem in &checked.problems {
        output::line(&format!("{}: {}", problem.name, problem.problem));
    }
    output::line(&format!("keyid     {} ({})", checked.keyid, whose(checked.trusted)));
    if let Some(replayed) = checked.replayed {
        output::line(&format!("replayed  {replayed} episodes"));
    }
    output::line(&match checked.holds {
        true => format!("the seal holds: {} files, {} of them traces", checked.files, checked.traces),
        false => match checked.problems.len() {
            1 => "the seal does not hold: 1 problem".to_owned(),
            problems => format!("the seal does not hold: {problems} problems"),
        },
    });
    Ok(())
}
