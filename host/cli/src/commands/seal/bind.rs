//! What a seal binds: every file of a run folder, and what these files say the run was.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result, bail};
use tribunal_protocol::Digest;
use tribunal_protocol::event::Header;
use tribunal_seal::{PREDICATE_TYPE, ProtocolFile, PublicKey, RunPredicate, Settings, Statement, Subject, SuiteRef};

use crate::commands::report;
use crate::folder::{RunFile, RunFolder};

/// The statement about a run folder as it lies there. A folder that does not fit together is no
/// evidence, and is refused.
pub fn statement(folder: &RunFolder, key: &PublicKey, protocol: Option<&Path>) -> Result<Statement<RunPredicate>> {
    let predicate = RunPredicate { protocol: protocol.map(protocol_file).transpose()?, ..predicate(folder, key)? };
    Ok(Statement::new(subject(folder)?, PREDICATE_TYPE, predicate))
}

/// Every file of the folder with its digest.
pub fn subject(folder: &RunFolder) -> Result<Vec<Subject>> {
    let digest = |(name, path): (String, std::path::PathBuf)| Ok(Subject::new(name, digest(&path)?));
    folder.files()?.into_iter().map(digest).collect()
}

/// The protocol file by its name and digest.
pub fn protocol_file(path: &Path) -> Result<ProtocolFile> {
    let name = path.file_name().with_context(|| format!("--protocol {}: a file expected", path.display()))?;
    Ok(ProtocolFile { file: name.to_string_lossy().into_owned(), digest: digest(path)? })
}

fn digest(path: &Path) -> Result<Digest> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(Digest::of(&bytes))
}

/// What the run was, from `run.json`, the headers of its traces and its results.
pub fn predicate(folder: &RunFolder, key: &PublicKey) -> Result<RunPredicate> {
    let file = folder.run_file()?;
    let results = results(folder)?;
    let mut predicate = empty(&file, key, results);
    for path in folder.traces()? {
        let bytes = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let events = tribunal_trace::read(&bytes).with_context(|| path.display().to_string())?;
        let header = tribunal_trace::header(&events).with_context(|| format!("{}: no header", path.display()))?;
        add(&mut predicate, header).with_context(|| path.display().to_string())?;
    }
    if predicate.traces == 0 {
        bail!("{}: no traces, so there is nothing to seal; `tribunal run` makes them", folder.path().display());
    }
    Ok(predicate)
}

/// The digest of `summary.json`, which must be what the traces give.
fn results(folder: &RunFolder) -> Result<Digest> {
    let path = folder.at("summary.json");
    let advice = || format!("`tribunal report {}` writes it from the traces", folder.path().display());
    let there = std::fs::read(&path).with_context(|| format!("cannot read {}; {}", path.display(), advice()))?;
    if there != report::summary(folder)? {
        bail!("{}: not what the traces of the run give; {}", path.display(), advice());
    }
    Ok(Digest::of(&there))
}

fn empty(file: &RunFile, key: &PublicKey, results: Digest) -> RunPredicate {
    RunPredicate {
        public_key: key.to_pem(),
        tribunal: BTreeSet::from([file.tribunal.clone()]),
        interface: BTreeSet::new(),
        engines: BTreeSet::new(),
        suite: SuiteRef { name: file.suite_version.clone(), digest: file.suite_digest },
        settings: Settings {
            seed: file.seed,
            policies: file.policies.clone(),
            attempts: file.attempts,
            tasks: file.tasks.map(|tasks| tasks as u64),
            variants: file.variants,
            models: file.models.iter().map(|(name, model)| (name.clone(), model.digest)).collect(),
        },
        plugins: file.plugins.iter().map(|(name, digest)| (name.clone(), BTreeSet::from([*digest]))).collect(),
        contracts: std::collections::BTreeMap::new(),
        limits: BTreeSet::new(),
        protocol: None,
        traces: 0,
        results,
    }
}

fn add(predicate: &mut RunPredicate, header: &Header) -> Result<()> {
    predicate.traces += 1;
    predicate.tribunal.insert(header.tribunal.clone());
    predicate.interface.insert(header.interface.clone());
    predicate.engines.extend(header.engines.iter().cloned());
    predicate.limits.insert(Digest::of(&serde_json::to_vec(&header.limits)?));
    for (of, said) in [(&mut predicate.plugins, &header.plugins), (&mut predicate.contracts, &header.contracts)] {
        for (name, digest) in said {
            of.entry(name.clone()).or_default().insert(*digest);
        }
    }
    Ok(())
}
