//! `tribunal check`: what a plugin could do under a contract, before anything is granted to it.

use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::json;
use tribunal_contract::{Access, Budget, Check, Contract, ContractError, Holder, Reach, check};
use tribunal_protocol::limits::Limits;
use tribunal_protocol::plugin::PluginKind;
use tribunal_protocol::schema::TableSchema;
use tribunal_protocol::task::SchemaRef;

use crate::args::CheckArguments;
use crate::datasets::Opened;
use crate::{output, plugins};

/// More bytes than any contract has.
const CONTRACT_BYTES: u64 = 1 << 20;

/// Runs the command. The answer is no where something is requested and not granted.
pub fn run(arguments: &CheckArguments) -> Result<bool> {
    let at = arguments.contract.display();
    let granted = Contract::parse(&text(&arguments.contract)?).with_context(|| at.to_string())?;
    let opened = Opened::open(&arguments.suite)?;
    let loading = arguments.loading.over(opened.loading());
    let limits = loading.limits(Limits::default());
    let (schema, tables) = schema(arguments, &opened, &granted)?;
    let bytes = plugins::read(&arguments.file, &limits)?;
    let sandbox = plugins::sandbox(arguments.cache.as_deref(), &limits, loading.wasi)?;
    let plugin = sandbox.load(&arguments.file.display().to_string(), &bytes)?;
    let holder = match plugin.kind() {
        PluginKind::Tool => Holder::Tool,
        PluginKind::Verifier => Holder::Verifier,
        PluginKind::User => bail!("{}: a simulated user has no session, so there is nothing to grant", plugin.name()),
    };
    let request = Contract::parse(&plugin.description().contract)
        .with_context(|| format!("{}: the contract that it requests", plugin.name()))?;
    let check = check(&request, &granted, holder, &Budget::most(&limits), &tables)
        .with_context(|| format!("{at} on {schema}"))?;
    if arguments.json {
        output::json(&json!({
            "plugin": plugin.name(),
            "kind": plugin.kind(),
            "schema": schema.to_string(),
            "check": check,
        }))?;
    } else {
        output::line(&format!("{} {} under contract {:?}, on {schema}", plugin.kind(), plugin.name(), check.granted));
        show(&check);
    }
    Ok(check.refusals.is_empty())
}

/// The text of a contract file.
pub fn text(path: &Path) -> Result<String> {
    let size = std::fs::metadata(path).with_context(|| format!("cannot read {}", path.display()))?.len();
    if size > CONTRACT_BYTES {
        bail!("{}: {size} bytes; a contract has {CONTRACT_BYTES} at most", path.display());
    }
    std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

/// The schema that was named, or the one that the contract fits.
fn schema(arguments: &CheckArguments, opened: &Opened, granted: &Contract) -> Result<(SchemaRef, Vec<TableSchema>)> {
    let all = opened.schemas();
    let listed = |schemas: &[SchemaRef]| schemas.iter().map(SchemaRef::to_string).collect::<Vec<_>>().join(", ");
    if let Some(named) = &arguments.schema {
        let Some(schema) = all.iter().find(|schema| schema.to_string() == *named) else {
            bail!("--schema {named}: suite {} has no such schema; it has {}", arguments.suite, listed(&all));
        };
        return Ok((schema.clone(), opened.tables(schema)?));
    }
    let mut fitting = Vec::new();
    let mut misfit: Option<(SchemaRef, ContractError)> = None;
    for schema in &all {
        let tables = opened.tables(schema)?;
        match granted.resolve(&tables) {
            Ok(_) => fitting.push((schema.clone(), tables)),
            Err(why) => drop(misfit.get_or_insert((schema.clone(), why))),
        }
    }
    match (fitting.len(), misfit) {
        (1, _) => Ok(fitting.remove(0)),
        (0, Some((schema, why))) => {
            bail!("{}: it fits no schema of {}; on {schema}, {why}", arguments.contract.display(), arguments.suite)
        }
        (0, None) => bail!("suite {}: it has no schema", arguments.suite),
        _ => {
            let names: Vec<SchemaRef> = fitting.into_iter().map(|(schema, _)| schema).collect();
            bail!("{}: it fits {}; name one with --schema", arguments.contract.display(), listed(&names))
        }
    }
}

fn show(check: &Check) {
    let reach = |reach: &Option<Reach>| reach.as_ref().map_or("–".to_owned(), shown);
    let row = |access: &Access| {
        let mut parts = [&access.requested, &access.granted, &access.effective].map(reach);
        if access.requested.is_some() && (access.open.table || access.open.columns) {
            parts[0] = star(access);
        }
        [vec![access.table.clone(), access.verb.name().to_owned()], parts.to_vec()].concat()
    };
    let header = ["table", "verb", "requested", "granted", "effective"].map(str::to_owned);
    output::table(&header, &check.access.iter().map(row).collect::<Vec<_>>());
    let amount = |amount: Option<u64>| amount.map_or("–".to_owned(), |amount| amount.to_string());
    let budget = check.budget.iter().map(|part| {
        let amounts = [part.requested, part.granted, part.effective].map(amount);
        [vec![part.name.to_owned()], amounts.to_vec()].concat()
    });
    output::table(&["budget", "requested", "granted", "effective"].map(str::to_owned), &budget.collect::<Vec<_>>());
    for refusal in &check.refusals {
        output::line(&format!("refused   {}", refusal.what));
        output::line(&format!("          granted: {}", refusal.granted));
        output::line(&format!("          {}", refusal.remedy));
    }
    match check.refusals.len() {
        0 => output::line("all that is requested is granted"),
        count => output::line(&format!("{count} refused")),
    }
    if let Some(digest) = check.digest {
        output::line(&format!("effective contract {}", digest.short()));
    }
}

/// A request that says `*` asks for what is granted.
fn star(access: &Access) -> String {
    let rows = access.requested.as_ref().and_then(|reach| reach.rows.as_deref());
    let rows = rows.map_or(String::new(), |rows| format!(" where {rows}"));
    let columns = access.requested.as_ref().map(|reach| reach.columns.join(", ")).unwrap_or_default();
    let columns = if access.open.columns || columns.is_empty() { "*".to_owned() } else { columns };
    let what = if access.open.table { "what is granted of any table" } else { "the columns that are granted" };
    format!("{columns}{rows} ({what})")
}

fn shown(reach: &Reach) -> String {
    let line = reach.to_line();
    if line.is_empty() { "all rows".to_owned() } else { line }
}
