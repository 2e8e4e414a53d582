//! `make bench`: measures what the design promises, beside yardsticks of the same run, and prints
//! one table.
//!
//! ```text
//! cargo bench --profile dev --workspace --bench figures -- [FILTER..] [--json FILE]
//! ```
//! A filter is the start of a section's name, such as `fork` or `episode`.
#![expect(clippy::disallowed_methods, reason = "a bench reads the clock")]
#![expect(clippy::print_stdout, reason = "a bench prints")]
#![expect(clippy::print_stderr, reason = "a bench says on the side what it is at")]

mod bare;
mod breakdown;
mod call;
mod clock;
mod copies;
mod data;
mod episode;
mod figure;
mod fork;
mod guest;
mod machine;
mod memory;
mod play;
mod python;
mod query;
mod rivals;
mod sales;
mod task;
mod transfer;

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};

use crate::figure::Section;
use crate::machine::Load;

type Measure = fn() -> Result<Vec<Section>>;

/// Name and work of each section, in the order of the table.
const SECTIONS: [(&str, Measure); 7] = [
    ("fork", fork::measure),
    ("memory", memory::measure),
    ("query", query::measure),
    ("call", call::measure),
    ("transfer", transfer::measure),
    ("episode", episode::measure),
    ("breakdown", breakdown::measure),
];

struct Arguments {
    filters: Vec<String>,
    json: Option<PathBuf>,
}

fn arguments() -> Result<Arguments> {
    let mut found = Arguments { filters: Vec::new(), json: None };
    let mut given = std::env::args().skip(1);
    while let Some(argument) = given.next() {
        match argument.as_str() {
            // Cargo says that this is a bench.
            "--bench" => {}
            "--json" => found.json = Some(given.next().context("--json: a file expected")?.into()),
            flag if flag.starts_with('-') => bail!("`{flag}`: only `--json FILE` and names of sections are known"),
            _ => found.filters.push(argument),
        }
    }
    let names = SECTIONS.map(|(name, _)| name);
    if let Some(filter) = found.filters.iter().find(|filter| !names.iter().any(|name| name.starts_with(*filter))) {
        bail!("no section starts with `{filter}`; there are {}", names.join(", "));
    }
    Ok(found)
}

fn main() -> Result<()> {
    // Before SQLite is used as a yardstick in this process.
    tribunal_sqlite::count_memory()?;
    if std::env::args().any(|argument| argument == memory::CHILD) {
        return memory::child();
    }
    let Arguments { filters, json } = arguments()?;
    let chosen = |name: &str| filters.is_empty() || filters.iter().any(|filter| name.starts_with(filter));
    let before = Load::now();
    let mut sections = Vec::new();
    for (name, measure) in SECTIONS.into_iter().filter(|(name, _)| chosen(name)) {
        eprintln!("measuring: {name}");
        sections.extend(measure().with_context(|| format!("section {name}"))?);
    }
    let load = before.until_now();
    print!("{}", figure::table(&sections, &load));
    if let Some(path) = json {
        std::fs::write(&path, figure::json(&sections, &load)?).with_context(|| path.display().to_string())?;
    }
    Ok(())
}
