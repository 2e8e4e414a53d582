//! Where two traces part.

use serde_json::Value as Json;
use tribunal_protocol::event::Event;

/// The first event in which two traces differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventDifference {
    /// Which event, from 0.
    pub number: usize,
    /// What it is: `header`, `step 3`, `judgement of instance 0`, `end`.
    pub what: String,
    /// Where in it, as a path of fields.
    pub path: String,
    /// What the recorded trace says there.
    pub recorded: String,
    /// What came this time.
    pub replayed: String,
}

/// Compares a recorded trace with a replayed one.
#[must_use]
pub fn first_difference(recorded: &[Event], replayed: &[Event]) -> Option<EventDifference> {
    let count = recorded.len().max(replayed.len());
    (0..count).find_map(|number| match (recorded.get(number), replayed.get(number)) {
        (Some(a), Some(b)) if a == b => None,
        (a, b) => Some(describe(number, a, b)),
    })
}

fn describe(number: usize, a: Option<&Event>, b: Option<&Event>) -> EventDifference {
    let json = |event: Option<&Event>| event.and_then(|event| serde_json::to_value(event).ok()).unwrap_or(Json::Null);
    let (path, recorded, replayed) = descend(String::new(), &json(a), &json(b));
    let what = a.or(b).map_or_else(String::new, name);
    EventDifference { number, what, path, recorded, replayed }
}

fn name(event: &Event) -> String {
    match event {
        Event::Header(_) => "header".to_owned(),
        Event::Step(step) => format!("step {}", step.number),
        Event::Judgement(judgement) => format!("judgement of instance {}", judgement.instance),
        Event::End(_) => "end".to_owned(),
    }
}

/// Follows the first differing field down to a leaf.
fn descend(path: String, a: &Json, b: &Json) -> (String, String, String) {
    let child = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match (a, b) {
        (Json::Object(x), Json::Object(y)) => {
            let keys = x.keys().chain(y.keys().filter(|key| !x.contains_key(*key)));
            let differing = keys.into_iter().find(|key| x.get(*key) != y.get(*key));
            if let Some(key) = differing {
                let (x, y) = (x.get(key).unwrap_or(&Json::Null), y.get(key).unwrap_or(&Json::Null));
                return descend(child(key), x, y);
            }
        }
        (Json::Array(x), Json::Array(y)) if x.len() == y.len() => {
            if let Some(index) = (0..x.len()).find(|index| x[*index] != y[*index]) {
                return descend(child(&index.to_string()), &x[index], &y[index]);
            }
        }
        _ => {}
    }
    (path, shorten(a), shorten(b))
}

fn shorten(json: &Json) -> String {
    let text = json.to_string();
    match text.char_indices().nth(120) {
        Some((end, _)) => format!("{}..", &text[..end]),
        None => text,
    }
}
