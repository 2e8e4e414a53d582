//! The summary, the tables and the page of a run made by hand.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod html;
mod sample;

use std::collections::BTreeMap;

use tribunal_evaluate::{
    Choice, Collector, EpisodeId, Grid, Outcome, PolicySummary, Refused, RunInfo, Summary, Tally, page,
};
use tribunal_protocol::Digest;
use tribunal_protocol::event::{Event, Header};
use tribunal_protocol::task::{Split, TaskKind};

fn summary(episodes: &[Vec<Event>]) -> Summary {
    Summary::of(episodes.iter().map(Vec::as_slice)).with_refused(sample::refused())
}

fn policy<'a>(summary: &'a Summary, name: &str) -> &'a PolicySummary {
    summary.policies.iter().find(|policy| policy.policy == name).unwrap()
}

fn chosen(episodes: &[Vec<Event>]) -> Vec<EpisodeId> {
    let mut choice = Choice::default();
    episodes.iter().for_each(|events| choice.add(events));
    choice.finish()
}

fn sample_page(episodes: &[Vec<Event>]) -> String {
    let by_id = sample::by_id();
    let shown: Vec<_> = chosen(episodes).iter().map(|id| by_id[id].clone()).collect();
    page(&sample::run(), &summary(episodes), &shown).unwrap()
}

fn header(events: &mut [Event]) -> &mut Header {
    match &mut events[0] {
        Event::Header(header) => header,
        other => panic!("a header expected, {other:?} found"),
    }
}

fn json(summary: &Summary) -> String {
    serde_json::to_string_pretty(summary).unwrap()
}

#[test]
fn the_summary_holds_what_was_counted_by_hand() {
    let summary = summary(&sample::episodes());
    assert_eq!((summary.episodes, summary.tasks), (48, 6));
    let tally = |passed, zero, invalid, void| Tally { passed, partial: 0, zero, invalid, void };
    for (name, expected) in [
        ("guesser", tally(0, 12, 0, 0)),
        ("no-op", tally(0, 0, 12, 0)),
        ("oracle", tally(12, 0, 0, 0)),
        ("small-model", tally(2, 6, 2, 2)),
    ] {
        assert_eq!(policy(&summary, name).total, expected, "{name}");
    }
    // Five tasks were judged; two of them passed once in two attempts: (0 + .5 + 0 + .5 + 0) / 5.
    let small = policy(&summary, "small-model");
    let estimate = small.pass_at_1.unwrap();
    assert!((estimate.value - 0.2).abs() < 1e-15);
    assert_eq!(estimate.tasks, 5);
    // At least one of two: those two tasks of five. All of two: none.
    assert!((small.pass[1].at_least_one - 0.4).abs() < 1e-15);
    assert_eq!((small.pass[1].k, small.pass[1].all, small.pass[1].tasks), (2, 0.0, 5));
    assert_eq!((small.tasks_passed_every_time, small.wrong_on_hidden_data), (0, 2));
    assert_eq!(policy(&summary, "oracle").tasks_passed_every_time, 6);
    assert_eq!(small.cell(Split::Train, TaskKind::State), Some(tally(1, 1, 0, 0)));
    assert_eq!(small.cell(Split::Train, TaskKind::Answer), None);
    // The oracle's steps are 4 + 3 + 2 + 3 + 2 + 3, twice.
    let cost = policy(&summary, "oracle").cost;
    assert_eq!((cost.episodes, cost.steps, cost.usage.rows_written), (12, 34, 2));
    insta::assert_snapshot!("summary", json(&summary));
}

#[test]
fn every_episode_has_its_reason() {
    let summary = summary(&sample::episodes());
    for policy in &summary.policies {
        for (outcome, expected) in [
            (Outcome::Passed, policy.total.passed),
            (Outcome::Zero, policy.total.zero),
            (Outcome::Invalid, policy.total.invalid),
            (Outcome::Void, policy.total.void),
        ] {
            let reasons = policy.reasons.iter().filter(|reason| reason.outcome == outcome);
            assert_eq!(reasons.map(|reason| reason.episodes).sum::<u64>(), expected);
        }
    }
    let rows = summary.reason_grid().rows;
    for text in ["no-submission", "step-limit", "fuel", "top-k", "did-not-ask"] {
        assert!(rows.iter().any(|row| row[2] == text), "{text}");
    }
    assert!(!rows.iter().any(|row| row[2] == "match"));
    for refused in sample::refused() {
        assert!(rows.iter().any(|row| row[4] == refused.task && row[5] == refused.reason));
    }
    assert_eq!(summary.voids.len(), 2);
    assert!(summary.voids[0].message.contains("out of fuel after 200000000 units"));
}

#[test]
fn neither_summary_nor_page_depends_on_the_order_of_episodes_or_on_when_it_is_made() {
    let episodes = sample::episodes();
    let mut reversed = episodes.clone();
    reversed.reverse();
    let mut rotated = episodes.clone();
    rotated.rotate_left(17);
    let page = sample_page(&episodes);
    assert_eq!(page, sample_page(&episodes));
    for other in [reversed, rotated] {
        assert_eq!(json(&summary(&other)), json(&summary(&episodes)));
        assert_eq!(sample_page(&other), page);
    }
}

#[test]
fn what_is_no_whole_episode_is_left_out_and_named() {
    let mut episodes = sample::episodes();
    let whole = summary(&episodes);
    episodes.push(episodes[0].clone());
    let mut cut = episodes[1].clone();
    cut.pop();
    header(&mut cut).attempt = 7;
    episodes.push(cut);
    episodes.push(episodes[2][1..].to_vec());
    episodes.push([episodes[3].clone(), episodes[4].clone()].concat());
    episodes.push(Vec::new());
    let found = summary(&episodes);
    let expected = Summary { left_out: found.left_out.clone(), ..whole };
    assert_eq!(found, expected);
    let reasons: Vec<_> = found.left_out.iter().map(|left| left.reason.as_str()).collect();
    assert_eq!(reasons.len(), 5);
    for reason in ["no header", "no end", "more than one header", "a second record"] {
        assert!(reasons.iter().any(|found| found.starts_with(reason)), "{reason}: {reasons:?}");
    }
    let page = page(&sample::run(), &found, &[]).unwrap();
    assert!(page.contains("Traces left out"));
    assert!(!sample_page(&sample::episodes()).contains("Traces left out"));
}

#[test]
fn episodes_that_do_not_belong_together_are_warned_of() {
    let alter: [fn(&mut Header); 5] = [
        |header| header.tribunal = "0.2.0".to_owned(),
        |header| header.suite = "analytics@2".to_owned(),
        |header| header.fingerprint = Digest::of(b"other"),
        |header| header.task_digest = Digest::of(b"other"),
        |header| {
            let plugin = header.plugins.values_mut().next();
            plugin.into_iter().for_each(|digest| *digest = Digest::of(b"other"));
        },
    ];
    assert_eq!(summary(&sample::episodes()).warnings, Vec::<String>::new());
    for alter in alter {
        let mut episodes = sample::episodes();
        alter(header(&mut episodes[0]));
        let found = summary(&episodes);
        assert_eq!(found.warnings.len(), 1, "{:?}", found.warnings);
        assert!(page(&sample::run(), &found, &[]).unwrap().contains("Read this first"));
    }
}

#[test]
fn cost_is_told_of_correct_and_compliant_episodes_only() {
    let episodes = sample::episodes();
    let before = policy(&summary(&episodes), "oracle").cost;
    let mut stopped = episodes;
    for event in &mut stopped[0] {
        match event {
            Event::Step(step) => step.violation = true,
            Event::End(end) => end.violations = 4,
            Event::Header(_) | Event::Judgement(_) => {}
        }
    }
    let summary = summary(&stopped);
    let oracle = policy(&summary, "oracle");
    assert_eq!(oracle.total.passed, 12);
    assert_eq!((oracle.cost.episodes, oracle.cost.steps), (11, before.steps - 4));
    assert_eq!((oracle.episodes_with_violations, oracle.violation_steps()), (1, 4));
}

#[test]
fn the_summary_reads_back_and_another_format_is_refused() {
    let summary = summary(&sample::episodes());
    assert_eq!(Summary::from_json(&json(&summary)).unwrap(), summary);
    let newer = json(&summary).replacen("tribunal-summary@1", "tribunal-summary@2", 1);
    let why = Summary::from_json(&newer).unwrap_err();
    assert!(why.contains("tribunal-summary@1 expected, tribunal-summary@2 found"), "{why}");
    assert!(Summary::from_json("{}").is_err());
}

#[test]
fn the_grids_are_even_and_their_totals_add_up() {
    let summary = summary(&sample::episodes());
    let grids = summary.split_grids().into_iter();
    let grids: Vec<Grid> = grids.chain([summary.policy_grid(), summary.reason_grid()]).collect();
    for grid in &grids {
        assert!(grid.rows.iter().all(|row| row.len() == grid.header.len()), "{}", grid.title);
    }
    let small = grids.iter().find(|grid| grid.title.starts_with("small-model")).unwrap();
    assert_eq!(small.header, ["split", "answer", "state", "clarify", "impossible", "recover", "all"]);
    assert_eq!(small.rows.last().unwrap(), &["all", "0/4", "1/2", "1/2", "0/2", "0/0 +2 void", "2/10 +2 void"]);
    assert_eq!(small.rows[0], ["train", "–", "1/2", "–", "–", "–", "1/2"]);
}

#[test]
fn the_most_telling_episodes_are_chosen() {
    let ids = chosen(&sample::episodes());
    let ids: Vec<_> = ids.iter().map(|id| (id.task.as_str(), id.policy.as_str(), id.attempt)).collect();
    let expected = [
        ("billing-v1-invoice-totals-0007", "small-model", 0),
        ("billing-v1-invoice-totals-0007", "oracle", 0),
        ("billing-v1-refund-right-account-0002", "small-model", 1),
        ("billing-v1-refund-right-account-0002", "oracle", 0),
        ("support-v1-answer-rate-0001", "small-model", 1),
        ("support-v1-answer-rate-0001", "oracle", 0),
        ("logistics-v2-late-by-carrier-0005", "guesser", 0),
        ("logistics-v2-late-by-carrier-0005", "oracle", 0),
        ("logistics-v2-late-by-carrier-0005", "small-model", 0),
        ("clinic-v1-no-show-cost-0003", "guesser", 0),
        ("clinic-v1-no-show-cost-0003", "oracle", 0),
        ("clinic-v1-no-show-cost-0003", "small-model", 0),
        ("weborders-v2-top-returns-0004", "small-model", 0),
    ];
    assert_eq!(ids, expected);
}

#[test]
fn the_page_is_whole_and_reaches_for_nothing_outside() {
    let page = sample_page(&sample::episodes());
    let tags = html::tags(&page);
    html::balanced(&tags);
    html::anchors_lead_somewhere(&tags);
    for outside in ["http:", "https:", "<script", "<link", "<iframe", "<img", "url(", "@import"] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert!(page.contains("prefers-color-scheme:dark"));
    // The differing cell, and no other, is marked in each answer that is shown.
    assert_eq!(page.matches("<mark").count(), 2);
    assert!(page.contains(">1237.05</mark>"));
    assert!(page.contains(">Kettle, 1.7 l</mark>"));
    // Of the twelve steps that the small model took in vain, the first five and last two.
    assert_eq!(page.matches("5 steps not shown: see the trace").count(), 1);
}

#[test]
fn a_run_without_episodes_has_a_page_too() {
    let empty = Collector::default().finish();
    let page = page(&RunInfo::default(), &empty, &[]).unwrap();
    html::balanced(&html::tags(&page));
    assert!(page.contains("No episode was judged."));
    let cut = &sample::episodes()[0][..2];
    let why = tribunal_evaluate::page(&RunInfo::default(), &empty, &[cut.to_vec()]).unwrap_err();
    assert!(why.to_string().starts_with("episode 0 of those to show: no end"), "{why}");
}

const POISON: &str = "'\"><script>alert(1)</script><img src=x onerror=alert(2)>{{ 6*7 }}{% raw %}";

/// Puts the poison behind every text that may be any text, and into every free key.
fn poison(event: &Event) -> Event {
    let json = serde_json::to_value(event).unwrap();
    let mut paths = Vec::new();
    html::text_paths(&json, &mut Vec::new(), &mut paths);
    let mut best = json;
    for path in paths {
        let mut next = best.clone();
        html::poison_at(&mut next, &path, POISON);
        if serde_json::from_value::<Event>(next.clone()).is_ok() {
            best = next;
        }
    }
    serde_json::from_value(best).unwrap()
}

#[test]
fn nothing_from_tasks_agents_or_data_comes_out_raw() {
    let episodes: Vec<Vec<Event>> =
        sample::episodes().iter().map(|events| events.iter().map(poison).collect()).collect();
    let poisoned = |text: &str| format!("{text}{POISON}");
    let ids = episodes.iter().map(|events| match &events[0] {
        Event::Header(header) => EpisodeId::of(header),
        other => panic!("a header expected, {other:?} found"),
    });
    let traces: BTreeMap<_, _> = ids.map(|id| (id, poisoned("traces/x"))).collect();
    let run = RunInfo { name: poisoned("name"), suite: poisoned("suite"), seed: 1, attempts: 2, traces };
    let refused = Refused { task: poisoned("task"), reason: poisoned("reason") };
    let mut collector = Collector::default();
    episodes.iter().for_each(|events| collector.add(events));
    collector.leave_out(poisoned("trace"), poisoned("reason"));
    let mut summary = collector.finish().with_refused(vec![refused]);
    summary.warnings.push(poisoned("warning"));
    let page = page(&run, &summary, &episodes).unwrap();

    assert!(page.matches("&lt;script&gt;alert(1)").count() > 500, "the poison must be there");
    assert!(page.contains("{{ 6*7 }}{% raw %}"), "and no template syntax is read in it");
    assert!(!page.contains("<script") && !page.contains("<img") && !page.contains("'\"><"));
    let tags = html::tags(&page);
    html::balanced(&tags);
    // Not one element or attribute that the harmless page could not have.
    let known = html::names(&html::tags(&sample_page(&sample::episodes())));
    let mut more = html::names(&tags);
    let lists = ["div class", "div role", "h2", "ul", "li"];
    more.retain(|name| !known.contains(name) && !lists.contains(&name.as_str()));
    assert_eq!(more, Default::default());
}
