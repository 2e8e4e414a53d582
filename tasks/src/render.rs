//! Fills templates. What a template does not find is an error, never an empty text.

use minijinja::value::Serde;
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior};
use serde_json::Value as Json;

/// Renders templates over a JSON context.
#[derive(Debug)]
pub(crate) struct Renderer(Environment<'static>);

impl Renderer {
    /// A renderer with the filters that templates may use: `sql` (a quoted SQL text literal),
    /// `and_list` (`a, b and c`), `start` (a capital first letter), and minijinja's own.
    pub(crate) fn new() -> Renderer {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
        environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
        environment.add_filter("sql", |text: String| format!("'{}'", text.replace('\'', "''")));
        environment.add_filter("and_list", and_list);
        environment.add_filter("start", capitalized);
        Renderer(environment)
    }

    /// Renders one text.
    ///
    /// # Errors
    /// A fragment with what minijinja says and the template's beginning.
    pub(crate) fn text(&self, template: &str, context: &Json) -> Result<String, String> {
        if !template.contains("{{") && !template.contains("{%") {
            return Ok(template.to_owned());
        }
        self.0
            .render_str(template, Serde(context))
            .map(|text| text.trim().to_owned())
            .map_err(|fault| explain(&fault, template))
    }

    /// Evaluates one expression, keeping its type.
    ///
    /// # Errors
    /// As [`Renderer::text`].
    pub(crate) fn expression(&self, expression: &str, context: &Json) -> Result<Json, String> {
        let compiled = self.0.compile_expression(expression).map_err(|fault| explain(&fault, expression))?;
        let value = compiled.eval(Serde(context)).map_err(|fault| explain(&fault, expression))?;
        if value.is_undefined() {
            return Err(format!("{UNDEFINED} `{expression}`"));
        }
        serde_json::to_value(&value).map_err(|fault| fault.to_string())
    }

    /// Renders every text inside a JSON value. A text that is nothing but one `{{ expression }}`
    /// becomes that expression's value, with its type.
    ///
    /// # Errors
    /// As [`Renderer::text`].
    pub(crate) fn json(&self, template: &Json, context: &Json) -> Result<Json, String> {
        Ok(match template {
            Json::String(text) => match lone_expression(text) {
                Some(expression) => self.expression(expression, context)?,
                None => Json::String(self.text(text, context)?),
            },
            Json::Array(items) => {
                items.iter().map(|item| self.json(item, context)).collect::<Result<Vec<_>, _>>()?.into()
            }
            Json::Object(members) => {
                let rendered = members.iter().map(|(name, item)| Ok((name.clone(), self.json(item, context)?)));
                Json::Object(rendered.collect::<Result<_, String>>()?)
            }
            plain => plain.clone(),
        })
    }
}

impl Renderer {
    /// As [`Renderer::json`], but members whose names are not defined are left out: terms may
    /// use parameters that only some families draw. A family that needs such a term finds it
    /// undefined.
    ///
    /// # Errors
    /// Any other fault of a template.
    pub(crate) fn known(&self, template: &Json, context: &Json) -> Result<Json, String> {
        let Json::Object(members) = template else {
            return self.json(template, context);
        };
        let mut known = serde_json::Map::new();
        for (name, item) in members {
            match self.known(item, context) {
                Ok(item) => {
                    known.insert(name.clone(), item);
                }
                Err(why) if why.starts_with(UNDEFINED) => {}
                Err(why) => return Err(format!("{name}: {why}")),
            }
        }
        Ok(known.into())
    }
}

/// How the fault of an undefined name begins.
const UNDEFINED: &str = "a name is not defined in";

fn lone_expression(text: &str) -> Option<&str> {
    let inner = text.trim().strip_prefix("{{")?.strip_suffix("}}")?;
    (!inner.contains("{{") && !inner.contains("}}")).then(|| inner.trim())
}

fn explain(fault: &Error, template: &str) -> String {
    let start: String = template.trim().chars().take(60).collect();
    let detail = fault.detail().unwrap_or("");
    match fault.kind() {
        ErrorKind::UndefinedError => {
            let line = fault.line().unwrap_or(1).saturating_sub(1);
            let text = template.lines().nth(line).unwrap_or(&start).trim();
            format!("{UNDEFINED} `{text}` {detail}").trim_end().to_owned()
        }
        kind => format!("{kind}: {detail} in `{start}`"),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the shape of a filter")]
fn and_list(items: Serde<Vec<String>>) -> String {
    match items.split_last() {
        None => String::new(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
    }
}

fn capitalized(text: String) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn texts_lists_and_types() {
        let renderer = Renderer::new();
        let context = json!({"name": "O'Neil", "n": 4, "all": ["a", "b", "c"], "one": ["a"]});
        let text = |template| renderer.text(template, &context).unwrap();
        assert_eq!(text("{{ name | sql }}"), "'O''Neil'");
        assert_eq!(text("{{ all | and_list }}"), "a, b and c");
        assert_eq!(text("{{ one | and_list }}"), "a");
        let rendered = renderer.json(&json!({"id": "{{ n }}", "text": "no {{ n }}"}), &context);
        assert_eq!(rendered.unwrap(), json!({"id": 4, "text": "no 4"}));
    }

    #[test]
    fn what_is_missing_is_named() {
        let renderer = Renderer::new();
        let fault = renderer.text("SELECT 1\nFROM {{ absent }}", &json!({})).unwrap_err();
        assert!(fault.contains("FROM {{ absent }}"), "{fault}");
        let fault = renderer.expression("absent.deep", &json!({})).unwrap_err();
        assert!(fault.contains("absent"), "{fault}");
        assert!(renderer.text("{% if %}", &json!({})).is_err());
    }
}
