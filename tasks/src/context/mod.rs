//! The names that templates may use.

pub(crate) mod period;

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json};

use crate::render::Renderer;

/// Builds the context of a question's templates: parameters, then the carry's terms, then the
/// family's parts; each level may use those before it.
pub(crate) fn build(
    renderer: &Renderer,
    drawn: &Json,
    terms: &Json,
    parts: &BTreeMap<String, String>,
) -> Result<Json, String> {
    let mut context = drawn.clone();
    let rendered = renderer.known(terms, &context).map_err(|why| format!("terms: {why}"))?;
    extend(&mut context, rendered);
    let mut named = Map::new();
    for (name, part) in parts {
        let text = renderer.text(part, &context).map_err(|why| format!("part {name}: {why}"))?;
        named.insert(name.clone(), text.into());
    }
    extend(&mut context, Json::Object(named));
    Ok(context)
}

/// The context with some names replaced. A dot goes one level down.
pub(crate) fn replaced(renderer: &Renderer, context: &Json, with: &BTreeMap<String, String>) -> Result<Json, String> {
    let mut other = context.clone();
    for (path, text) in with {
        let text = renderer.text(text, context).map_err(|why| format!("{path}: {why}"))?;
        let target = path.split('.').try_fold(&mut other, |place, step| place.get_mut(step));
        *target.ok_or_else(|| format!("`{path}` is neither a term nor a part"))? = text.into();
    }
    Ok(other)
}

fn extend(context: &mut Json, more: Json) {
    if let (Json::Object(context), Json::Object(more)) = (context, more) {
        context.extend(more);
    }
}
