//! `tribunal lock`: which plugins a suite is used with, and what they may ask for.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use serde::Serialize;
use tribunal_protocol::Digest;
use tribunal_protocol::limits::Limits;

use crate::args::LockArguments;
use crate::datasets::Opened;
use crate::lock::{self, Judgement, Lock};
use crate::{output, plugins};

#[derive(Serialize)]
struct Row {
    plugin: String,
    digest: Option<Digest>,
    locked: bool,
    what: String,
}

/// Runs the command; says whether every plugin of the folder is locked as it is.
pub fn run(arguments: &LockArguments) -> Result<bool> {
    let loading = Opened::open(&arguments.suite)?.loading();
    let limits = loading.limits(Limits::default());
    let folder = plugins::folder(arguments.plugins.as_deref())?;
    let cache = plugins::cache(arguments.cache.as_deref(), &folder);
    let path = lock::place(&arguments.suite, &folder);
    let is_new = !path.exists();
    let mut lock = Lock::at(&path, &cache)?;
    let sandbox = plugins::sandbox(Some(&cache), &limits, loading.wasi)?;
    let mut components = BTreeMap::new();
    let mut rows = Vec::new();
    for file in plugins::components(&folder)? {
        let loaded = plugins::read(&file, &limits).and_then(|bytes| {
            let plugin = sandbox.load(&file.display().to_string(), &bytes)?;
            let entry = lock::entry(&plugin, &file)?;
            components.insert(plugin.digest(), bytes);
            Ok((plugin.name().to_owned(), entry))
        });
        rows.push(match loaded {
            Err(why) if is_new || lock.of_file(&file).is_none() => return Err(why),
            Err(why) => {
                let plugin = lock.of_file(&file).cloned().unwrap_or_default();
                Row { plugin, digest: None, locked: false, what: format!("refused, the old one stays: {why:#}") }
            }
            Ok((name, entry)) => {
                let granted = is_new || arguments.grant.contains(&name);
                let judged = lock.judge(&name, &entry)?;
                let (locked, what) = said(&judged, granted, is_new);
                let digest = Some(entry.digest);
                if locked {
                    lock.plugins.insert(name.clone(), entry);
                }
                Row { plugin: name, digest, locked, what }
            }
        });
    }
    if let Some(name) = arguments.grant.iter().find(|name| !rows.iter().any(|row| row.plugin == **name)) {
        bail!("--grant {name}: no plugin of that name in {}", folder.display());
    }
    lock.write(&components)?;
    show(&rows, &lock, arguments.json)?;
    Ok(rows.iter().all(|row| row.locked))
}

fn said(judged: &Judgement, granted: bool, is_new: bool) -> (bool, String) {
    match judged {
        Judgement::AsLocked => (true, "as locked".to_owned()),
        Judgement::Upgrade => (true, "upgraded: it asks for nothing new".to_owned()),
        Judgement::NewPowers(_) if is_new => (true, "locked".to_owned()),
        Judgement::NewPowers(powers) if granted => (true, format!("granted: {}", powers.join("; "))),
        Judgement::NewPowers(powers) => (false, format!("refused, not granted: {}", powers.join("; "))),
    }
}

fn show(rows: &[Row], lock: &Lock, json: bool) -> Result<()> {
    if json {
        return output::json(&rows);
    }
    for row in rows {
        let digest = row.digest.map_or_else(|| "-".repeat(12), |digest| digest.short());
        output::line(&format!("{:<18} {digest}  {}", row.plugin, row.what));
    }
    output::line(&format!("lock file: {}", lock.path().display()));
    if let Some(row) = rows.iter().find(|row| !row.locked && row.digest.is_some()) {
        output::line(&format!("to grant: tribunal lock --grant {}", row.plugin));
    }
    Ok(())
}
