//! A reader of HTML, strict enough for a page of our own, and a poisoner of JSON.

use std::collections::BTreeSet;

use serde_json::Value;

/// One tag: its name, whether it closes, and its attributes.
#[derive(Debug)]
pub struct Tag {
    pub name: String,
    pub closes: bool,
    pub empty: bool,
    pub attributes: Vec<(String, String)>,
}

const EMPTY: [&str; 3] = ["meta", "br", "!doctype"];

/// All tags of a page. Panics on an attribute without quotes and on a `<` that starts no tag.
pub fn tags(page: &str) -> Vec<Tag> {
    let mut tags = Vec::new();
    let mut rest = page;
    while let Some(start) = rest.find('<') {
        rest = &rest[start + 1..];
        let style = rest.starts_with("style>");
        let (tag, tail) = tag(rest);
        tags.push(tag);
        rest = tail;
        if style {
            rest = &rest[rest.find("</style>").unwrap()..];
        }
    }
    tags
}

fn tag(text: &str) -> (Tag, &str) {
    let closes = text.starts_with('/');
    let text = text.strip_prefix('/').unwrap_or(text);
    let end = text.find(|c: char| c.is_whitespace() || c == '>' || c == '/').unwrap();
    let name = text[..end].to_ascii_lowercase();
    assert!(name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '!'), "a stray <: {name}");
    let mut rest = text[end..].trim_start();
    let mut attributes = Vec::new();
    let mut empty = EMPTY.contains(&name.as_str());
    loop {
        if let Some(tail) = rest.strip_prefix('>') {
            let tag = Tag { name, closes, empty, attributes };
            return (tag, tail);
        }
        if let Some(tail) = rest.strip_prefix("/>") {
            empty = true;
            rest = &rest[rest.len() - tail.len() - 1..];
            continue;
        }
        let end = rest.find(['=', '>', ' ']).unwrap();
        let key = rest[..end].to_owned();
        assert!(!key.contains(['"', '\'', '<']), "a quote broke out: {key}");
        rest = &rest[end..];
        let mut value = String::new();
        if let Some(quoted) = rest.strip_prefix("=\"") {
            let end = quoted.find('"').unwrap();
            value = quoted[..end].to_owned();
            rest = &quoted[end + 1..];
        }
        rest = rest.trim_start();
        attributes.push((key, value));
    }
}

/// Panics unless every tag that opens closes, in order.
pub fn balanced(tags: &[Tag]) {
    let mut open = Vec::new();
    for tag in tags.iter().filter(|tag| !tag.empty) {
        if tag.closes {
            assert_eq!(open.pop(), Some(tag.name.as_str()));
        } else {
            open.push(tag.name.as_str());
        }
    }
    assert_eq!(open, Vec::<&str>::new());
}

/// Panics unless every link into the page meets one id, and ids are unique.
pub fn anchors_lead_somewhere(tags: &[Tag]) {
    let all = |key: &'static str| {
        let attributes = tags.iter().flat_map(|tag| &tag.attributes);
        attributes.filter(move |(name, _)| name == key).map(|(_, value)| value.as_str())
    };
    let ids: Vec<_> = all("id").collect();
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len());
    let inside = all("href").filter_map(|href| href.strip_prefix('#'));
    for target in inside.chain(all("aria-labelledby")) {
        assert!(ids.contains(&target), "{target}");
    }
    for href in all("href").filter(|href| !href.starts_with('#')) {
        assert!(href.starts_with(".&#x2f;traces&#x2f;") || href.starts_with("./traces/"), "{href}");
    }
}

/// Every element, and every attribute with its element.
pub fn names(tags: &[Tag]) -> BTreeSet<String> {
    let own = tags.iter().map(|tag| tag.name.clone());
    let attributes = tags.iter().flat_map(|tag| tag.attributes.iter().map(|(key, _)| format!("{} {key}", tag.name)));
    own.chain(attributes).collect()
}

/// A place in a JSON value: a key or an index a step; the last may say that the key is meant.
pub type Path = Vec<Place>;

#[derive(Clone, Debug)]
pub enum Place {
    Key(String),
    Index(usize),
    Name(String),
}

/// All places that hold text: string leaves, and the keys of objects. Deeper keys come first, so
/// that no change of a key moves a place that is still to come.
pub fn text_paths(json: &Value, here: &mut Path, paths: &mut Vec<Path>) {
    let at = |here: &mut Path, place: Place, paths: &mut Vec<Path>, inner: &Value| {
        here.push(place);
        text_paths(inner, here, paths);
        here.pop();
    };
    match json {
        Value::String(_) => paths.push(here.clone()),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                at(here, Place::Index(index), paths, item);
            }
        }
        Value::Object(fields) => {
            for (key, value) in fields {
                at(here, Place::Key(key.clone()), paths, value);
                let mut name = here.clone();
                name.push(Place::Name(key.clone()));
                paths.push(name);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Appends the poison at a place.
pub fn poison_at(json: &mut Value, path: &[Place], poison: &str) {
    match (path, json) {
        ([], Value::String(text)) => text.push_str(poison),
        ([Place::Key(key), rest @ ..], Value::Object(fields)) => {
            poison_at(fields.get_mut(key).unwrap(), rest, poison);
        }
        ([Place::Index(index), rest @ ..], Value::Array(items)) => {
            poison_at(&mut items[*index], rest, poison);
        }
        ([Place::Name(key)], Value::Object(fields)) => {
            let value = fields.remove(key).unwrap();
            fields.insert(format!("{key}{poison}"), value);
        }
        (path, json) => panic!("no place {path:?} in {json}"),
    }
}
