//! The line format, its reader and its writer.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tribunal_protocol::digest::{Digest, Hasher};
use tribunal_protocol::event::{Event, Header};

/// The version that this crate writes, as `major.minor`. A reader takes any minor of a major
/// that it knows and refuses a newer major.
pub const FORMAT_VERSION: &str = "1.1";
const FORMAT_NAME: &str = "tribunal-trace";
const MAJOR: u32 = 1;

/// Why some bytes are not a trace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    /// The first line is not the format's.
    #[error(
        "not a trace: the first line must read {{\"format\":\"{FORMAT_NAME}\",\"version\":\"{FORMAT_VERSION}\"}}, found `{0}`"
    )]
    Format(String),
    /// A newer format.
    #[error(
        "trace format {0} is newer than {FORMAT_VERSION}, the newest that this build reads; read it with a newer tribunal"
    )]
    Newer(String),
    /// An event's line is damaged.
    #[error(
        "event {number}: {problem}; the trace was altered or damaged there, and nothing from that event on can be trusted"
    )]
    Broken {
        /// Which event, from 0.
        number: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// The trace stops early.
    #[error("the trace ends after event {last} without its end event; the episode was cut off: run it again")]
    Unfinished {
        /// The last event there is.
        last: usize,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Preamble {
    format: String,
    version: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line<'a> {
    n: usize,
    #[serde(borrow)]
    event: &'a RawValue,
    hash: String,
}

fn preamble() -> String {
    format!("{{\"format\":\"{FORMAT_NAME}\",\"version\":\"{FORMAT_VERSION}\"}}")
}

fn chain(before: &Digest, number: usize, event: &str) -> Digest {
    let mut hasher = Hasher::new("tribunal trace 1");
    hasher.bytes(before.to_string().as_bytes());
    hasher.number(number as u64);
    hasher.bytes(event.as_bytes());
    hasher.finish()
}

fn line(number: usize, event: &str, hash: &Digest) -> String {
    format!("{{\"n\":{number},\"event\":{event},\"hash\":\"{hash}\"}}")
}

/// The bytes of a trace.
///
/// # Errors
/// An event that JSON cannot hold, which no event of ours is.
pub fn write(events: &[Event]) -> Result<Vec<u8>, serde_json::Error> {
    let mut text = preamble();
    let mut hash = Digest::of(text.as_bytes());
    text.push('\n');
    for (number, event) in events.iter().enumerate() {
        let event = serde_json::to_string(event)?;
        hash = chain(&hash, number, &event);
        text.push_str(&line(number, &event, &hash));
        text.push('\n');
    }
    Ok(text.into_bytes())
}

/// Reads a whole trace and checks its chain.
///
/// # Errors
/// The first event whose bytes, number or hash is not what was written, or a missing end.
pub fn read(bytes: &[u8]) -> Result<Vec<Event>, TraceError> {
    let mut lines = bytes.split_inclusive(|byte| *byte == b'\n');
    let first = lines.next().unwrap_or_default();
    let mut hash = check_preamble(first)?;
    let mut events = Vec::new();
    for raw in lines {
        let number = events.len();
        let broken = |problem: String| TraceError::Broken { number, problem };
        let (event, next) = read_line(raw, number, &hash).map_err(broken)?;
        hash = next;
        if matches!(events.last(), Some(Event::End(_))) {
            return Err(broken("it comes after the end event".to_owned()));
        }
        if matches!(event, Event::Header(_)) != (number == 0) {
            return Err(broken("the header must be event 0 and only that".to_owned()));
        }
        events.push(event);
    }
    match events.last() {
        Some(Event::End(_)) => Ok(events),
        _ => Err(TraceError::Unfinished { last: events.len().saturating_sub(1) }),
    }
}

fn check_preamble(raw: &[u8]) -> Result<Digest, TraceError> {
    let text = String::from_utf8_lossy(raw);
    let text = text.trim_end_matches('\n');
    let wrong = || TraceError::Format(text.chars().take(80).collect());
    let preamble: Preamble = serde_json::from_str(text).map_err(|_| wrong())?;
    let major = preamble.version.split('.').next().and_then(|major| major.parse::<u32>().ok());
    match major {
        Some(major) if preamble.format == FORMAT_NAME && major > MAJOR => Err(TraceError::Newer(preamble.version)),
        Some(MAJOR) if preamble.format == FORMAT_NAME => Ok(Digest::of(text.as_bytes())),
        _ => Err(wrong()),
    }
}

fn read_line(raw: &[u8], number: usize, before: &Digest) -> Result<(Event, Digest), String> {
    let text = std::str::from_utf8(raw).map_err(|_| "not UTF-8".to_owned())?;
    let text = text.strip_suffix('\n').ok_or("its line is cut off")?;
    let parsed: Line<'_> = serde_json::from_str(text).map_err(|why| format!("not an event line: {why}"))?;
    let hash = chain(before, number, parsed.event.get());
    if parsed.n != number || parsed.hash != hash.to_string() {
        return Err("its hash does not fit its content".to_owned());
    }
    if line(number, parsed.event.get(), &hash) != text {
        return Err("its line is not written as this format writes it".to_owned());
    }
    let event = serde_json::from_str(parsed.event.get()).map_err(|why| format!("unknown content: {why}"))?;
    Ok((event, hash))
}

/// The header of a trace's events.
#[must_use]
pub fn header(events: &[Event]) -> Option<&Header> {
    match events.first() {
        Some(Event::Header(header)) => Some(header),
        _ => None,
    }
}
