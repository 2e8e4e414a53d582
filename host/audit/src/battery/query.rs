//! Mutations of the task's own query, through its syntax tree, run on the engine as an agent would
//! run them. A mutant counts only where its result differs from gold by the reference; a query of
//! another shape only where both engines agree with gold on all data.

mod edit;

use std::sync::Arc;

use tribunal_contract::{Contract, Effective};
use tribunal_database::DatabaseSession;
use tribunal_protocol::policy::names;
use tribunal_protocol::session::Session;
use tribunal_protocol::usage::Usage;
use tribunal_protocol::value::Kind;
use tribunal_sql::ast::Statement;
use tribunal_sqlite::SqliteCopy;

use super::{Ground, Maker, Site};
use crate::kind::CaseKind;
use crate::reference::{Relation, relation};
use crate::rules::Gold;
use crate::sheet::Sheet;

/// Mutants of one task that are run, at most.
const MUTANTS: usize = 10;

/// Makes all cases that come from another query.
pub(crate) fn make(maker: &mut Maker<'_>) {
    let ground = maker.ground;
    let Some(sql) = solution(ground) else { return };
    let Ok(Statement::Query(query)) = tribunal_sql::parse_query(&sql) else { return };
    let Some(contract) = granted(ground) else { return };
    let mut mutants = edit::mutants(&query);
    maker.dice.shuffle(&mut mutants);
    // One of every kind before a second of any.
    let mut seen = std::collections::BTreeMap::new();
    for mutant in &mut mutants {
        let count = seen.entry(mutant.kind).or_insert(0_usize);
        *count += 1;
        mutant.rank = *count;
    }
    mutants.sort_by_key(|mutant| mutant.rank);
    for mutant in mutants.into_iter().take(MUTANTS) {
        let how = format!("{}: {}", mutant.how, mutant.query);
        match differing(ground, &contract, &mutant.query.to_string()) {
            Some((site, gold, sheet)) => maker.answer(mutant.kind, site, gold, &sheet, &how),
            None => maker.leave_out(),
        }
    }
    second_query(maker, &contract, &edit::same(&query));
}

/// The query whose result the task's solution hands in.
fn solution(ground: &Ground<'_>) -> Option<String> {
    let oracle = &ground.task.oracle;
    let submit = oracle.iter().find(|action| action.tool == names::SUBMIT)?;
    let call = usize::try_from(submit.arguments.get("call")?.as_u64()?).ok()?;
    let action = oracle.get(call.checked_sub(1)?)?;
    action.arguments.get("sql")?.as_str().map(str::to_owned)
}

fn granted(ground: &Ground<'_>) -> Option<Arc<Effective>> {
    let contract = Contract::parse(&ground.task.grant).ok()?;
    contract.resolve(ground.prepared.snapshots().first()?.schemas()).ok().map(Arc::new)
}

fn run(ground: &Ground<'_>, contract: &Arc<Effective>, instance: usize, sql: &str) -> Option<Sheet> {
    let state = ground.prepared.snapshots().get(instance)?.fork();
    let mut session = DatabaseSession::open(state, Arc::clone(contract), Usage::default());
    session.query(sql, &[]).ok().map(|table| Sheet::of(&table))
}

/// The first instance, hidden ones first, on which a query's result is not gold.
fn differing<'g>(ground: &'g Ground<'g>, contract: &Arc<Effective>, sql: &str) -> Option<(&'g Site, &'g Gold, Sheet)> {
    for site in ground.sites.iter().skip(1).take(2).chain(ground.sites.first()) {
        let gold = site.gold.as_ref()?;
        let sheet = run(ground, contract, site.instance, sql)?;
        if relation(gold, &sheet) == Relation::Different {
            return Some((site, gold, sheet));
        }
    }
    None
}

/// The first query of another shape that both engines agree with gold on, on all data.
fn second_query(maker: &mut Maker<'_>, contract: &Arc<Effective>, others: &[edit::Other]) {
    let ground = maker.ground;
    for other in others {
        let sql = other.query.to_string();
        let agreed: Option<Vec<Sheet>> = ground.sites.iter().map(|site| agreed(ground, contract, site, &sql)).collect();
        let Some(sheets) = agreed else {
            maker.leave_out();
            continue;
        };
        let place = maker.dice.below(sheets.len());
        let site = &ground.sites[place];
        if let Some(gold) = &site.gold {
            maker.answer(CaseKind::SecondQuery, site, gold, &sheets[place], &format!("{}: {sql}", other.how));
        }
        return;
    }
}

/// A query's result on one instance, where both engines find it to be gold.
fn agreed(ground: &Ground<'_>, contract: &Arc<Effective>, site: &Site, sql: &str) -> Option<Sheet> {
    let gold = site.gold.as_ref()?;
    let sheet = run(ground, contract, site.instance, sql).filter(|sheet| relation(gold, sheet) == Relation::Same)?;
    let seed = ground.task.instances.get(site.instance)?.seed;
    let (rows, _) = ground.library.rows(&ground.task.schema, seed).ok()?;
    let copy = SqliteCopy::load(&rows).ok()?;
    let kind = |name: &str| ground.task.answer.iter().find(|column| column.name.eq_ignore_ascii_case(name));
    let kinds: Vec<Option<Kind>> =
        sheet.columns.iter().map(|(name, own)| Some(kind(name).map_or(*own, |column| column.kind))).collect();
    let second = Sheet::of(&copy.query_ours(sql, &kinds).ok()?);
    (relation(gold, &second) == Relation::Same).then_some(sheet)
}
