//! Two policies whose attempts are laid down: what a comparison must say of them.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]
#![allow(dead_code, reason = "a test uses a part of the samples")]

mod graded;
mod html;
mod sample;

use graded::{Ending, Place, Templates, arm, endings};
use tribunal_evaluate::comparison::{By, CompareError, Comparison, Spent, Telling, compare};
use tribunal_evaluate::metrics::Measure;
use tribunal_evaluate::release::{CostItem, DEFAULT_PROTOCOL, Protocol};
use tribunal_evaluate::{EpisodeId, RunInfo, Training, comparison_page};
use tribunal_protocol::event::Event;
use tribunal_protocol::task::Split;

fn protocol() -> Protocol {
    Protocol::read(DEFAULT_PROTOCOL).unwrap()
}

fn places() -> [Place; 4] {
    [("s.a", "sales-v1"), ("s.b", "sales-v1"), ("t.a", "trips-v1"), ("t.b", "trips-v1")]
        .map(|(task, schema)| Place::new(task, schema, Split::NewSchema))
}

/// One policy over the four places, with so many passed of four each.
fn scored(name: &str, passed: [usize; 4]) -> Vec<Vec<Event>> {
    let templates = Templates::new();
    let of = |(place, passed): (&Place, usize)| templates.attempts(name, place, &endings(passed, 4 - passed, 0));
    places().iter().zip(passed).flat_map(of).collect()
}

fn compared(candidate: &[Vec<Event>], baseline: &[Vec<Event>]) -> Comparison {
    compare(arm("new", candidate), arm("old", baseline), None, &protocol(), false).unwrap()
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-12, "{found}, {expected} expected");
}

#[test]
fn scores_and_gains_are_those_counted_by_hand() {
    let found = compared(&scored("new", [3, 4, 0, 2]), &scored("old", [1, 2, 0, 4]));
    let group = found.decisive().unwrap();
    assert_eq!((group.tasks, group.schemas, group.candidate.passed, group.baseline.judged), (4, 2, 9, 16));
    for (measure, new, old) in [
        (Measure::PassAt(1), 9.0 / 16.0, 7.0 / 16.0),
        // Pairs of four attempts: 3 passed 3 of 6, 4: 6, 2: 1; so (3 + 6 + 0 + 1) / 24.
        (Measure::PassHat(2), 10.0 / 24.0, 7.0 / 24.0),
        // Pairs with at least one: 3 passed 6 of 6, 1: 3, 2: 5; so (6 + 6 + 0 + 5) / 24.
        (Measure::PassAt(2), 17.0 / 24.0, 14.0 / 24.0),
        (Measure::PassHat(4), 0.25, 0.25),
        (Measure::EveryTime, 0.25, 0.25),
    ] {
        let score = group.score(measure).unwrap();
        close(score.candidate.unwrap().value, new);
        close(score.baseline.unwrap().value, old);
        close(score.gain.unwrap().value, new - old);
    }
    assert_eq!((group.candidate_every_time, group.baseline_every_time), (1, 1));
    // Gains by schema: 1/2 and -1/4; their mean's standard error is (3/4 / sqrt 2) / sqrt 2.
    let score = group.score(Measure::PassAt(1)).unwrap();
    assert!((score.gain.unwrap().standard_error - 0.375).abs() < 0.01, "{score:?}");
    close(score.smallest_effect.unwrap(), 2.8 * score.gain.unwrap().standard_error);
    let schema = found.groups.iter().find(|group| group.by == By::Schema && group.name == "trips-v1").unwrap();
    close(schema.score(Measure::PassAt(1)).unwrap().gain.unwrap().value, -0.25);
    // The curve: pass@k grows with k, pass^k shrinks, and both begin at pass@1.
    assert_eq!(found.curve.len(), 4);
    close(found.curve[0].candidate_any, 9.0 / 16.0);
    close(found.curve[1].candidate_all, 10.0 / 24.0);
}

#[test]
fn voids_count_apart_and_unequal_tasks_are_named() {
    let templates = Templates::new();
    let before = scored("old", [1, 2, 0, 4]);
    let mut after = scored("new", [3, 4, 0, 2]);
    // Two void attempts more at one task: nothing but every-time and the count of voids moves.
    for attempt in [4, 5] {
        after.push(templates.episode("new", &places()[1], attempt, Ending::Void));
    }
    let found = compared(&after, &before);
    let group = found.decisive().unwrap();
    close(group.score(Measure::PassAt(1)).unwrap().candidate.unwrap().value, 9.0 / 16.0);
    assert_eq!((group.candidate_every_time, group.candidate.void, found.candidate.void.count), (0, 2, 2));
    assert!(found.paired.unequal.is_empty() && found.warnings.iter().all(|text| !text.contains("fewer than")));
    // One attempt void instead of failed: that task has three, and is named; pass@1 is 3 of 3 there.
    let mut after = scored("new", [3, 4, 0, 2]);
    after.retain(|events| !matches!(&events[0], Event::Header(h) if h.task == "s.a" && h.attempt == 3));
    after.push(templates.episode("new", &places()[0], 3, Ending::Void));
    let found = compared(&after, &before);
    let group = found.decisive().unwrap();
    close(group.score(Measure::PassAt(1)).unwrap().candidate.unwrap().value, (1.0 + 1.0 + 0.0 + 0.5) / 4.0);
    let whole = group.score(Measure::PassHat(4)).unwrap();
    assert_eq!((whole.too_few, whole.gain.unwrap().tasks), (1, 3));
    assert_eq!(found.paired.unequal[0].task, "s.a");
    assert_eq!((found.paired.attempts, found.paired.fewest), (4, 3));
    assert!(found.warnings.iter().any(|text| text.contains("1 task with fewer than 4 judged attempts")));
}

#[test]
fn the_plug_in_is_there_only_where_it_is_asked_for() {
    let (after, before) = (scored("new", [3, 4, 0, 2]), scored("old", [1, 2, 0, 4]));
    let with = |plug_in| compare(arm("new", &after), arm("old", &before), None, &protocol(), plug_in).unwrap();
    let named = |found: &Comparison| found.markdown().contains("plug-in pass^4");
    assert!(!named(&with(false)) && named(&with(true)));
    let found = with(true);
    let score = found.decisive().unwrap().score(Measure::PlugIn(4)).unwrap();
    close(score.candidate.unwrap().value, (0.75_f64.powi(4) + 1.0 + 0.0 + 0.0625) / 4.0);
}

#[test]
fn neither_the_order_of_episodes_nor_the_day_changes_a_byte() {
    let (mut after, mut before) = (scored("new", [3, 4, 0, 2]), scored("old", [1, 2, 0, 4]));
    let json = |found: &Comparison| serde_json::to_string(found).unwrap();
    let first = compared(&after, &before);
    after.reverse();
    before.rotate_left(7);
    assert_eq!(json(&compared(&after, &before)), json(&first));
    assert_eq!(serde_json::from_str::<Comparison>(&json(&first)).unwrap(), first);
    assert_ne!(json(&compared(&before, &after)), json(&first));
}

#[test]
fn sides_that_do_not_belong_together_are_refused_by_name() {
    let before = scored("old", [1, 2, 0, 4]);
    let refused = |candidate: &[Vec<Event>]| {
        compare(arm("new", candidate), arm("old", &before), None, &protocol(), false).unwrap_err()
    };
    assert!(matches!(refused(&[]), CompareError::Empty { .. }));
    let mut other = scored("new", [3, 4, 0, 2]);
    for events in &mut other {
        if let Event::Header(header) = &mut events[0]
            && header.task == "t.a"
        {
            header.task_digest = tribunal_protocol::Digest::of(b"other");
        }
    }
    let why = refused(&other).to_string();
    assert!(why.starts_with("task t.a is not the same in both: digest "), "{why}");
    let apart = Templates::new().attempts("new", &Place::new("u.a", "units-v1", Split::NewSchema), &endings(1, 1, 0));
    assert!(matches!(refused(&apart), CompareError::Apart { .. }));
    let mut mixed = scored("new", [3, 4, 0, 2]);
    if let Event::Header(header) = &mut mixed[1][0] {
        header.task_digest = tribunal_protocol::Digest::of(b"other");
    }
    assert!(refused(&mixed).to_string().contains("the episodes of task s.a are about two tasks"));
}

#[test]
fn cost_is_compared_over_what_both_did_right_and_compliantly() {
    // Only s.b and t.b were done right by both. The oracle takes the same steps everywhere.
    let (mut after, before) = (scored("new", [3, 4, 0, 2]), scored("old", [0, 2, 0, 4]));
    let found = compared(&after, &before);
    assert_eq!(found.cost.tasks, 2);
    let steps = |found: &Comparison| found.cost.lines.iter().find(|line| line.item == CostItem::ToolCalls).copied();
    let line = steps(&found).unwrap();
    assert_eq!((line.candidate.value, line.baseline.value, line.ratio), (4.0, 4.0, Some(1.0)));
    // A failed attempt may cost what it will; an attempt that was stopped is not counted either.
    let mut touched = 0;
    for events in &mut after {
        let wanted = matches!(&events[0], Event::Header(h) if h.task == "s.b" && h.attempt < 3 || h.task == "t.a");
        if let (true, Some(Event::End(end))) = (wanted, events.last_mut()) {
            end.usage.rows_scanned += 1_000_000;
            end.violations = 1;
            touched += 1;
        }
    }
    assert_eq!(touched, 7);
    let stopped = compared(&after, &before);
    assert_eq!(stopped.cost.lines, found.cost.lines);
    // Its twin: without the violation it counts.
    for events in &mut after {
        if let Some(Event::End(end)) = events.last_mut() {
            end.violations = 0;
        }
    }
    assert_ne!(compared(&after, &before).cost.lines, found.cost.lines);
}

#[test]
fn tokens_and_prices_make_an_estimate_per_success() {
    let text = format!(
        "{DEFAULT_PROTOCOL}\n[prices]\ncurrency = \"EUR\"\nmillion_tokens_written = 2.0\nmillion_tokens_cached = 0.5\n"
    );
    let protocol = Protocol::read(&text).unwrap();
    let spends = |label: &str, episodes: &[Vec<Event>], written: u64, all: bool| {
        let mut arm = arm(label, &[]);
        for (index, events) in episodes.iter().enumerate() {
            let Event::Header(header) = &events[0] else { panic!("a header expected") };
            let spent = Spent {
                policy: header.policy.clone(),
                task: header.task.clone(),
                attempt: header.attempt,
                tokens_read: 0,
                tokens_cached: 1_000,
                tokens_written: written,
                milliseconds: None,
            };
            arm.add(events, (all || index > 0).then_some(spent));
        }
        arm
    };
    let (after, before) = (scored("new", [3, 4, 0, 1]), scored("old", [1, 1, 0, 2]));
    let candidate = spends("new", &after, 100, true);
    let found = compare(candidate, spends("old", &before, 200, true), None, &protocol, false).unwrap();
    let estimated = found.cost.estimated.clone().unwrap();
    // 16 attempts of 100 tokens at 2 a million, and 1,000 at 0.5: 16 * 0.0007; over 8 successes.
    close(estimated.success[0].unwrap(), 16.0 * 0.0007 / 8.0);
    close(estimated.success[1].unwrap(), 16.0 * 0.0009 / 4.0);
    close(estimated.reliable_task[0].unwrap(), 16.0 * 0.0007);
    assert_eq!(estimated.reliable_task[1], None);
    assert!(found.markdown().contains("prices in EUR: 0.5 a million tokens cached, 2 a million tokens written"));
    let written = found.cost.lines.iter().find(|line| line.item == CostItem::TokensWritten).unwrap();
    assert_eq!(written.ratio, Some(0.5));
    // Its twin: where one episode does not say, the sum is unknown and not smaller.
    let candidate = spends("new", &after, 100, false);
    let found = compare(candidate, spends("old", &before, 200, true), None, &protocol, false).unwrap();
    assert_eq!(found.cost.estimated.unwrap().success[0], None);
    assert!(!found.cost.lines.iter().any(|line| line.item == CostItem::TokensWritten));
}

#[test]
fn three_telling_pairs_are_chosen_by_the_rule() {
    // s.a gains most (+3 of 4) before s.b (+2), t.b loses (-2), t.a is passed by nobody.
    let found = compared(&scored("new", [3, 4, 0, 2]), &scored("old", [0, 2, 0, 4]));
    let shown: Vec<_> = found.shown.iter().map(|s| (s.tells, s.candidate.task.as_str())).collect();
    assert_eq!(shown, [(Telling::Gained, "s.a"), (Telling::Lost, "t.b"), (Telling::BothFail, "t.a")]);
    // The first attempt that passed, beside the failed one.
    let pair = &found.shown[1];
    assert_eq!((pair.candidate.attempt, pair.baseline.attempt), (2, 0));
    // Nothing is lost where nothing got worse.
    let better = compared(&scored("new", [4, 4, 4, 4]), &scored("old", [0, 2, 4, 4]));
    assert_eq!(better.shown.iter().map(|s| s.tells).collect::<Vec<_>>(), [Telling::Gained]);
}

/// The page of a comparison, with all that it shows.
fn page_of(found: &Comparison, after: &[Vec<Event>], before: &[Vec<Event>], training: Option<&Training>) -> String {
    let find = |episodes: &[Vec<Event>], id: &EpisodeId| {
        let wanted =
            |e: &&Vec<Event>| matches!(&e[0], Event::Header(h) if h.task == id.task && h.attempt == id.attempt);
        episodes.iter().find(wanted).unwrap().clone()
    };
    let pairs = found.shown.iter();
    let shown: Vec<_> = pairs.flat_map(|pair| [find(before, &pair.baseline), find(after, &pair.candidate)]).collect();
    let id = EpisodeId { policy: "new".to_owned(), task: "s.a".to_owned(), attempt: 0 };
    let traces = [(id, "traces/new/s.a.0.jsonl".to_owned())].into();
    let run = RunInfo { name: "new against old".to_owned(), traces, ..RunInfo::default() };
    comparison_page(&run, found, &shown, training).unwrap()
}

#[test]
fn the_page_is_whole_the_same_twice_and_reaches_for_nothing_outside() {
    let (after, before) = (scored("new", [3, 4, 0, 2]), scored("old", [1, 2, 0, 4]));
    let training =
        Training::read("quick", "{\"update\":1,\"reward\":0.2,\"kl\":0}\n{\"update\":2,\"reward\":0.4}").unwrap();
    let found = compared(&after, &before);
    let page = page_of(&found, &after, &before, Some(&training));
    let again = page_of(&compared(&after, &before), &after, &before, Some(&training));
    assert_eq!(page, again);
    let tags = html::tags(&page);
    html::balanced(&tags);
    html::anchors_lead_somewhere(&tags);
    for outside in ["http:", "https:", "<script", "<link", "<iframe", "<img", "url(", "@import"] {
        assert!(!page.contains(outside), "{outside}");
    }
    // The decision comes before every score; curves have both axes named.
    let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text} is not there"));
    assert!(place("No ship") < place("clause by clause"));
    assert!(place("clause by clause") < place("id=\"scores\""));
    for text in [
        "k, attempts at one task",
        "share of tasks",
        "pass^k new",
        "pass@k old",
        ">update<",
        "both fail",
        ".&#x2f;traces&#x2f;new",
    ] {
        place(text);
    }
    assert!(!page_of(&found, &after, &before, None).contains("How it was learned"));
}

const POISON: &str = "'\"><script>alert(1)</script><img src=x onerror=alert(2)>{{ 6*7 }}{% raw %}";

#[test]
fn nothing_from_tasks_agents_or_labels_comes_out_raw() {
    let poisoned = |name: &str| {
        let mut episodes = scored(name, [3, 1, 0, 2]);
        for events in &mut episodes {
            for event in events.iter_mut() {
                match event {
                    Event::Header(header) => {
                        header.family.push_str(POISON);
                        header.schema.name.push_str(POISON);
                        header.briefing.instruction.push_str(POISON);
                    }
                    Event::Step(step) => step.action.tool.push_str(POISON),
                    Event::End(end) => {
                        if let tribunal_protocol::Verdict::Scored(score) = &mut end.verdict {
                            score.reason.push_str(POISON);
                        }
                    }
                    Event::Judgement(_) => {}
                }
            }
        }
        episodes
    };
    let (after, before) = (poisoned("new"), poisoned("old"));
    let label = |name: &str| format!("{name}{POISON}");
    let found = compare(arm(&label("new"), &after), arm(&label("old"), &before), None, &protocol(), false).unwrap();
    let training = Training::read(POISON, &serde_json::json!({POISON: 1.0}).to_string()).unwrap();
    let page = page_of(&found, &after, &before, Some(&training));
    assert!(page.matches("&lt;script&gt;alert(1)").count() > 50, "the poison must be there");
    assert!(!page.contains("<script") && !page.contains("<img") && !page.contains("'\"><"));
    let tags = html::tags(&page);
    html::balanced(&tags);
    let harmless = compared(&scored("new", [3, 1, 0, 2]), &scored("old", [3, 1, 0, 2]));
    let known = page_of(&harmless, &scored("new", [3, 1, 0, 2]), &scored("old", [3, 1, 0, 2]), Some(&training));
    let mut more = html::names(&tags);
    more.retain(|name| !html::names(&html::tags(&known)).contains(name));
    assert_eq!(more, Default::default());
    // Nor does Markdown show markup of theirs.
    let markdown = found.markdown();
    assert!(markdown.contains("\\<script\\>"));
    assert_eq!(markdown.matches('<').count(), markdown.matches("\\<").count());
}
