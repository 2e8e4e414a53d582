//! Traces: spoiled bytes are never read, and spoiled content under a chain that was forged anew is
//! read back as what it says or refused.

use std::sync::LazyLock;

use tribunal_protocol::digest::{Digest, Hasher};
use tribunal_tests::mutate::mutated;
use tribunal_trace::{read, write};

use super::{at_least, each};
use crate::world::WORLD;

static GOOD: LazyLock<Vec<u8>> = LazyLock::new(|| WORLD.honest_trace());

const WORDS: [&[u8]; 8] =
    [b"\n", b"{\"n\":0,", b"\"event\":", b"null", b"\"header\"", b"\"end\"", b"1e400", b"\\ud800"];

#[test]
fn trace() {
    let good = &*GOOD;
    let events = read(good).unwrap();
    let counts = each(5, 20_000, |dice| {
        let bytes = mutated(good, good, &WORDS, dice);
        match read(&bytes) {
            Ok(read) => {
                assert!(bytes == *good && read == events, "an altered trace was read");
                "unchanged"
            }
            Err(fault) => {
                assert!(!fault.to_string().is_empty());
                "refused"
            }
        }
    });
    at_least(&counts, "refused", 2);
}

/// The chain as the format's description has it, written here a second time.
fn forged(events: &[String]) -> Vec<u8> {
    let mut text = r#"{"format":"tribunal-trace","version":"1.1"}"#.to_owned();
    let mut hash = Digest::of(text.as_bytes());
    text.push('\n');
    for (number, event) in events.iter().enumerate() {
        let mut hasher = Hasher::new("tribunal trace 1");
        hasher.bytes(hash.to_string().as_bytes());
        hasher.number(number as u64);
        hasher.bytes(event.as_bytes());
        hash = hasher.finish();
        text.push_str(&format!("{{\"n\":{number},\"event\":{event},\"hash\":\"{hash}\"}}\n"));
    }
    text.into_bytes()
}

/// The events of a trace as they stand in it.
fn parts(trace: &[u8]) -> Vec<String> {
    let lines = std::str::from_utf8(trace).unwrap().lines().skip(1);
    let event = |line: &str| {
        let from = line.find("\"event\":").unwrap() + "\"event\":".len();
        line[from..line.rfind(",\"hash\":").unwrap()].to_owned()
    };
    lines.map(event).collect()
}

#[test]
fn trace_forged() {
    let events = parts(&GOOD);
    assert!(forged(&events) == *GOOD, "the format is not as this test has it");
    let counts = each(6, 8_000, |dice| {
        let mut events = events.clone();
        let place = dice.below(events.len());
        let bytes = mutated(events[place].as_bytes(), events[dice.below(events.len())].as_bytes(), &WORDS, dice);
        events[place] = String::from_utf8_lossy(&bytes).into_owned();
        match read(&forged(&events)) {
            Ok(content) => {
                assert_eq!(read(&write(&content).unwrap()).unwrap(), content);
                "read"
            }
            Err(fault) => {
                assert!(!fault.to_string().is_empty());
                "refused"
            }
        }
    });
    at_least(&counts, "refused", 10);
    at_least(&counts, "read", 50);
}
