//! The wrong ways that the suite itself names, played as an agent would; for states, all their
//! mutations.

use tribunal_episode::Episode;
use tribunal_protocol::evidence::Submission;

use super::{Form, Maker, Site, played, state};
use crate::kind::CaseKind;
use crate::reference::{Relation, relation};
use crate::sheet::Sheet;

/// Makes a case of every wrong way of the task.
pub(crate) fn make(maker: &mut Maker<'_>) {
    let ground = maker.ground;
    for mutant in &ground.task.mutants {
        let kind = kind_of(&mutant.fault);
        let Some(episode) = played(ground.prepared, &mutant.actions) else { continue };
        let how = format!("the suite's own wrong way `{}`", mutant.fault);
        match first_wrong(maker, &episode) {
            Some((site, sheet)) => {
                if let (Some(gold), Some(sheet)) = (&site.gold, sheet) {
                    maker.answer(kind, site, gold, &sheet, &how);
                } else if let Ok(exhibit) = episode.exhibit(site.instance) {
                    maker.exhibit(kind, site, exhibit, &how);
                }
            }
            None => maker.leave_out(),
        }
    }
}

/// The first instance on which the work is wrong, and its table where that is what is wrong.
fn first_wrong<'g>(maker: &Maker<'g>, episode: &Episode<'_>) -> Option<(&'g Site, Option<Sheet>)> {
    let ground = maker.ground;
    for site in &ground.sites {
        let exhibit = episode.exhibit(site.instance).ok()?;
        if let (Submission::Answer(table), Some(gold)) = (&exhibit.submission, &site.gold) {
            let sheet = Sheet::of(table);
            if relation(gold, &sheet) == Relation::Different {
                return Some((site, (ground.form == Form::Answer).then_some(sheet)));
            }
        }
        if ground.form == Form::State {
            return state::wrong(site, &exhibit, ground.prepared).then_some((site, None));
        }
    }
    // The table is right; what is wrong is something else, and the author's word stands.
    match ground.form {
        Form::Answer if matches!(episode.exhibit(0).ok()?.submission, Submission::Answer(_)) => None,
        _ => ground.sites.first().map(|site| (site, None)),
    }
}

/// The kind of a fault by the name that suites give it.
fn kind_of(fault: &str) -> CaseKind {
    match fault {
        "join-inflation" => CaseKind::JoinInflation,
        "inflation-hidden-by-distinct" | "equal-values-once" => CaseKind::HiddenInflation,
        "wrong-population" | "everybody" | "inverted" => CaseKind::WrongPopulation,
        "missing-filter" | "any-delay" | "all-time" => CaseKind::MissingFilter,
        "null-group-lost" | "null-lost" => CaseKind::ExtraFilter,
        "null-as-zero" => CaseKind::NullAsZero,
        "swapped-columns" => CaseKind::SwappedColumns,
        "truncated-tie" => CaseKind::TieTruncated,
        "last-period" => CaseKind::LastPeriod,
        "unit-error" => CaseKind::UnitError,
        "wrong-grain" => CaseKind::WrongGrain,
        "boundary-overrun" | "off-by-one" | "off-by-one-window" => CaseKind::OffByOne,
        "one-too-many" => CaseKind::ExtraRow,
        "one-too-few" => CaseKind::RowMissing,
        "nothing" => CaseKind::NoOp,
        "one-forgotten" => CaseKind::Half,
        "wrong-status" | "wrong-amount" => CaseKind::StateField,
        "answered-without-asking" => CaseKind::NotAsked,
        "asked-about-the-wrong-thing" => CaseKind::WrongQuestion,
        "abstained" | "answered-anyway" | "gave-up" => CaseKind::WrongSubmission,
        "named-another-thing" => CaseKind::WrongMissing,
        "other-metric" | "count-instead-of-amount" | "rows-counted" | "wrong-denominator" => CaseKind::WrongAggregate,
        _ => CaseKind::OtherFault,
    }
}
