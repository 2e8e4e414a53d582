//! `docs/audit.md`: what the audit finds of verifiers whose faults are known, of our own, of mutants of
//! our own, and of the catalogue of hacks.

use std::fmt::Write as _;

use tribunal_audit::{Audit, CaseKind, Expected};
use tribunal_protocol::policy::Policies;

use crate::hacks::Fared;

/// A verifier that was tried, by the name that the page gives it.
pub struct Column {
    /// Its name.
    pub name: String,
    /// What came of it.
    pub audit: Audit,
}

/// A mutant, and what caught it.
pub struct Caught {
    /// What it does.
    pub name: String,
    /// The verifier.
    pub of: String,
    /// The kinds of case, or the checks, that show it; none: it survived.
    pub by: Vec<String>,
}

const HEAD: &str = "# Verifiers on trial

`make audit-page` writes this page from scratch, and `make test` holds that it is what is written. How a
trial goes: [decisions/0008-audits.md](decisions/0008-audits.md).

";

/// The page.
#[must_use]
pub fn page(comparators: &[Column], ours: &[Column], mutants: &[Caught], hacks: &[Fared], tasks: usize) -> String {
    let mut page = HEAD.to_owned();
    let _ = writeln!(page, "## Published comparators\n");
    let _ = writeln!(
        page,
        "Verifiers that decide as published comparators do (`tests/guests/published`), over {tasks} tasks of the \
         suite `analytics`, beside ours. A cell says how many cases of that kind were decided wrongly, of how many; \
         `·` is none. Void counts as wrong.\n"
    );
    matrix(&mut page, comparators, ours);
    let _ = writeln!(page, "## Rates\n\nExact 95 % bounds.\n");
    rates(&mut page, comparators, ours);
    mutant_list(&mut page, mutants);
    hack_list(&mut page, hacks);
    page
}

fn matrix(page: &mut String, comparators: &[Column], ours: &[Column]) {
    let columns: Vec<&Column> = comparators.iter().chain(ours).collect();
    for (title, expected) in [
        ("must be rejected, and was not", Expected::Reject),
        ("must be accepted, and was not", Expected::Accept),
        ("cannot be judged, and was", Expected::Ungradable),
    ] {
        let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        let _ = writeln!(page, "| {title} | {} |\n|---|{}", names.join(" | "), "---|".repeat(names.len()));
        for kind in CaseKind::ALL.iter().filter(|kind| kind.expected() == expected) {
            let cells: Vec<String> = columns.iter().map(|column| cell(&column.audit, *kind)).collect();
            let _ = writeln!(page, "| {kind}: {} | {} |", kind.says(), cells.join(" | "));
        }
        page.push('\n');
    }
}

fn cell(audit: &Audit, kind: CaseKind) -> String {
    match audit.kinds.iter().find(|score| score.kind == kind) {
        None => "–".to_owned(),
        Some(score) if score.right.count == score.right.of => "·".to_owned(),
        Some(score) => format!("{}/{}", score.right.of - score.right.count, score.right.of),
    }
}

fn rates(page: &mut String, comparators: &[Column], ours: &[Column]) {
    let _ =
        writeln!(page, "| verifier | cases | false accepts | false rejects | checks broken |\n|---|---|---|---|---|");
    for Column { name, audit } in comparators.iter().chain(ours) {
        let share = |share: &tribunal_evaluate::metrics::exact::Share| {
            format!("{} of {}, {:.1}–{:.1} %", share.count, share.of, share.low * 100.0, share.high * 100.0)
        };
        let broken = audit.checks.iter().filter(|check| !check.holds).count();
        let (accepts, rejects) = (share(&audit.false_accepts), share(&audit.false_rejects));
        let _ = writeln!(page, "| {name} | {} | {accepts} | {rejects} | {broken} |", audit.cases);
    }
    page.push('\n');
}

fn mutant_list(page: &mut String, mutants: &[Caught]) {
    let caught = mutants.iter().filter(|mutant| !mutant.by.is_empty()).count();
    let _ = writeln!(
        page,
        "## Mutants of ours\n\n{caught} of {} are caught. The list is `tests/guests/mutants.toml`.\n\n| mutant | of | caught by |\n|---|---|---|",
        mutants.len()
    );
    for Caught { name, of, by } in mutants {
        let by = if by.is_empty() { "**survived**".to_owned() } else { by.join(", ") };
        let _ = writeln!(page, "| {name} | {of} | {by} |");
    }
    page.push('\n');
}

fn hack_list(page: &mut String, hacks: &[Fared]) {
    let _ = writeln!(
        page,
        "## Hacks\n\nThe catalogue as scripted policies (`policies/scripted/src/hack.rs`): how many tasks pass under our \
         verifiers, and under a naive one with the fault that the hack is made for.\n\n| hack | under ours | under the naive one | the naive one | its fault |\n|---|---|---|---|---|"
    );
    for Fared { hack, naive, tasks, ours, beaten } in hacks {
        let name = Policies::name(hack);
        let _ = writeln!(
            page,
            "| {} `{name}` | {ours} of {tasks} | {beaten} of {tasks} | `{}` | {} |",
            hack.number(),
            naive.0,
            naive.1
        );
    }
}
