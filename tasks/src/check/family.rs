//! Families: whether each has what its kind of task is made of.

use tribunal_protocol::task::TaskKind;

use super::Checked;
use crate::error::TasksError;
use crate::family::Family;

/// Refuses a family that lacks a part. `base` is the family that it is like.
pub(crate) fn family(own: &Family, base: Option<&Family>, file: &str) -> Result<(), TasksError> {
    let fault = |(key, why): (String, String)| TasksError::invalid(file, key, why);
    if let Some(further) = base.and_then(|base| base.like.as_ref()) {
        let like = own.like.as_deref().unwrap_or_default();
        let why = format!("{like} is itself like {further}; name {further} here, for only one step is taken");
        return Err(fault(("like".to_owned(), why)));
    }
    let whole = base.map_or_else(|| own.clone(), |base| own.over(base));
    parts(&whole).and_then(|()| mutants(&whole)).map_err(fault)
}

fn parts(family: &Family) -> Checked {
    let kind = family.kind;
    let wanted = |is_there: bool, key: &str, what: &str| match is_there {
        true => Ok(()),
        false => Err((key.to_owned(), format!("a family of kind {kind} expects {what}"))),
    };
    wanted(!family.instructions.is_empty(), "instructions", "at least one")?;
    let answers = match kind {
        TaskKind::Answer | TaskKind::Recover => true,
        TaskKind::Clarify => {
            wanted(family.clarify.is_some(), "clarify", "what must be asked, and the reply")?;
            true
        }
        TaskKind::State => {
            wanted(!family.oracle.is_empty(), "oracle", "the right actions: no query says them")?;
            false
        }
        TaskKind::Impossible => {
            wanted(!family.oracle.is_empty(), "oracle", "the right actions: no query says them")?;
            wanted(!family.missing.is_empty(), "missing", "words for what is missing")?;
            false
        }
    };
    if kind == TaskKind::Recover {
        wanted(!family.failures.is_empty(), "failures", "at least one that the host plays")?;
    }
    if answers {
        wanted(family.query.is_some(), "query", "the gold query")?;
        wanted(!family.columns.is_empty(), "columns", "the columns of the answer")?;
    }
    let places = 1..=family.columns.len() as u64;
    let keys = family.compare.iter().flat_map(|compare| &compare.order);
    match keys.copied().find(|key| !places.contains(&key.unsigned_abs())) {
        None => Ok(()),
        Some(key) => {
            let why = format!("{key}: a column's place expected, 1 to {}, negative where descending", places.end());
            Err(("compare.order".to_owned(), why))
        }
    }
}

fn mutants(family: &Family) -> Checked {
    let does_nothing =
        |form: &&crate::family::MutantForm| form.with.is_empty() && form.query.is_none() && form.actions.is_empty();
    match family.mutants.iter().find(does_nothing) {
        None => Ok(()),
        Some(form) => {
            let why = "`with` (other terms or parts), `query` or `actions` expected: it is the right way itself";
            Err((format!("mutant {}", form.fault), why.to_owned()))
        }
    }
}
