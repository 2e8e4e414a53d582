//! A trace that was altered is never read, and the event that was altered is named.

use proptest::prelude::*;
use serde_json::json;
use tribunal_protocol::digest::Digest;
use tribunal_protocol::event::{End, Event, Header, Step};
use tribunal_protocol::failure::Failure;
use tribunal_protocol::limits::Limits;
use tribunal_protocol::policy::{Action, Briefing, Observation};
use tribunal_protocol::task::{SchemaRef, Split, TaskKind};
use tribunal_protocol::usage::Usage;
use tribunal_protocol::verdict::{Score, Verdict};
use tribunal_trace::{TraceError, first_difference, read, write};

fn sample(steps: u32) -> Vec<Event> {
    let header = Header {
        tribunal: "0.1.0".to_owned(),
        engines: vec!["gluesql-core 0.20.0".to_owned()],
        interface: "1.0.0".to_owned(),
        suite: "analytics@1".to_owned(),
        task: "billing-v1.invoice-totals.0001".to_owned(),
        task_digest: Digest::of(b"task"),
        family: "invoice-totals".to_owned(),
        kind: TaskKind::Answer,
        split: Split::Train,
        schema: SchemaRef { name: "billing".to_owned(), version: 1 },
        fingerprint: Digest::of(b"schema"),
        states: vec![Digest::of(b"state")],
        seeds: vec![7],
        plugins: [("tool-query".to_owned(), Digest::of(b"wasm"))].into(),
        contracts: [("tool-query".to_owned(), Digest::of(b"contract"))].into(),
        limits: Limits::default(),
        policy: "oracle".to_owned(),
        attempt: 0,
        policy_seed: 3,
        briefing: Briefing {
            instruction: "How many? Naïve “quotes”.".to_owned(),
            answer: vec![],
            tools: vec![],
            steps: 9,
        },
    };
    let step = |number| {
        Event::Step(Box::new(Step {
            number,
            action: Action::call("query", json!({"sql": format!("SELECT {number} AS n")})),
            observation: Observation::Failure(Failure::invalid("no such thing")),
            usage: Usage { fuel: 1_000 + u64::from(number), ..Usage::default() },
            violation: false,
            denials: Vec::new(),
            state: None,
        }))
    };
    let score = Score { reward: 1.0, reason: "match".to_owned(), difference: None, instance: 0 };
    let end = End { verdict: Verdict::Scored(score), usage: Usage::default(), violations: 0 };
    let steps = (1..=steps).map(step);
    std::iter::once(Event::Header(Box::new(header))).chain(steps).chain([Event::End(Box::new(end))]).collect()
}

/// Which event a byte of the file belongs to; none for the first line.
fn event_at(bytes: &[u8], at: usize) -> Option<usize> {
    bytes[..at].iter().filter(|byte| **byte == b'\n').count().checked_sub(1)
}

#[test]
fn what_is_written_is_read() {
    for steps in [0, 1, 5] {
        let events = sample(steps);
        assert_eq!(read(&write(&events).unwrap()).unwrap(), events);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn one_altered_byte_is_found_at_its_event(place in 0.0..1.0_f64, to in any::<u8>()) {
        let bytes = write(&sample(4)).unwrap();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "an index")]
        let at = (place * bytes.len() as f64) as usize;
        prop_assume!(bytes[at] != to);
        let mut altered = bytes.clone();
        altered[at] = to;
        let error = read(&altered).expect_err("altered bytes were read");
        match (event_at(&bytes, at), error) {
            (Some(event), TraceError::Broken { number, .. }) => prop_assert_eq!(number, event),
            // The last line break is the end event's own.
            (Some(event), other) => prop_assert!(false, "event {event}: {other}"),
            (None, TraceError::Format(_) | TraceError::Newer(_) | TraceError::Broken { number: 0, .. }) => {}
            (None, other) => prop_assert!(false, "first line: {other}"),
        }
    }

    #[test]
    fn a_cut_trace_is_never_read(keep in 0.0..1.0_f64) {
        let bytes = write(&sample(4)).unwrap();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "an index")]
        let at = (keep * bytes.len() as f64) as usize;
        prop_assert!(read(&bytes[..at]).is_err());
    }
}

#[test]
fn reordered_and_repeated_events_are_found() {
    let text = String::from_utf8(write(&sample(3)).unwrap()).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let joined = |order: &[usize]| order.iter().map(|index| format!("{}\n", lines[*index])).collect::<String>();
    assert!(read(joined(&[0, 1, 2, 3, 4, 5]).as_bytes()).is_ok());
    for order in
        [&[0, 1, 3, 2, 4, 5][..], &[0, 1, 2, 2, 3, 4, 5], &[0, 1, 2, 4, 5], &[0, 1, 2, 3, 4, 5, 5], &[1, 2, 3, 4, 5]]
    {
        assert!(read(joined(order).as_bytes()).is_err(), "{order:?}");
    }
}

#[test]
fn a_newer_major_is_refused_and_a_newer_minor_is_not() {
    let text = String::from_utf8(write(&sample(1)).unwrap()).unwrap();
    let newer = text.replacen("\"1.1\"", "\"2.0\"", 1);
    assert_eq!(read(newer.as_bytes()), Err(TraceError::Newer("2.0".to_owned())));
    // The chain starts from the first line, so another minor needs a chain of its own.
    let minor = text.replacen("\"1.1\"", "\"1.7\"", 1);
    assert!(matches!(read(minor.as_bytes()), Err(TraceError::Broken { number: 0, .. })));
}

#[test]
fn a_difference_names_event_and_field() {
    let recorded = sample(3);
    let mut replayed = recorded.clone();
    if let Event::Step(step) = &mut replayed[2] {
        step.usage.fuel += 1;
    }
    let difference = first_difference(&recorded, &replayed).unwrap();
    assert_eq!((difference.number, difference.what.as_str()), (2, "step 2"));
    assert_eq!(difference.path, "step.usage.fuel");
    assert_eq!((difference.recorded.as_str(), difference.replayed.as_str()), ("1002", "1003"));
    assert_eq!(first_difference(&recorded, &recorded), None);
}
