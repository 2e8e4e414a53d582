//! The page: one self-contained HTML file without scripts. Every text of tasks, agents and data
//! reaches it through the templates' escaping; nothing is written past it.

mod chart;
mod compare;
mod document;
mod episode;
mod heat;
mod overview;
mod reasons;
mod table;

use std::collections::BTreeMap;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior};
use serde::Serialize;
use tribunal_protocol::event::Event;

use crate::episode::{EpisodeId, NotWhole};
use crate::summary::Summary;

pub use compare::comparison_page;
pub use document::{Chart, Document, Section};

/// What the run says of itself. Nothing here depends on the machine or on how many jobs it used,
/// so that the same run gives the same bytes anywhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunInfo {
    /// The run's name, as its folder is called.
    pub name: String,
    /// The suite, as `name@version`.
    pub suite: String,
    /// The seed of the run.
    pub seed: u64,
    /// How many attempts at each task were asked for.
    pub attempts: u32,
    /// The trace of every episode, as a path relative to the page with `/` between its parts;
    /// an episode that is not here has no link.
    pub traces: BTreeMap<EpisodeId, String>,
}

impl RunInfo {
    /// A trace as a link: every part percent-encoded, and never anything but a relative path.
    pub(crate) fn href(&self, id: &EpisodeId) -> String {
        self.traces.get(id).map_or_else(String::new, |path| {
            let mut href = "./".to_owned();
            for byte in path.bytes() {
                match byte {
                    b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b'/' => {
                        href.push(char::from(byte));
                    }
                    _ => href.push_str(&format!("%{byte:02X}")),
                }
            }
            href
        })
    }

    /// The command that runs an episode again, ready for a shell.
    pub(crate) fn replay(&self, id: &EpisodeId) -> String {
        let path = self.traces.get(id).map_or("TRACE", String::as_str);
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./@+=,".contains(c);
        if path.chars().all(plain) && !path.starts_with('-') {
            format!("tribunal replay {path}")
        } else {
            format!("tribunal replay -- '{}'", path.replace('\'', r"'\''"))
        }
    }
}

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// An episode that was to be shown is not whole.
    #[error("episode {index} of those to show: {reason}; show whole episodes only")]
    Episode {
        /// Which, from 0.
        index: usize,
        /// What is missing.
        reason: String,
    },
    /// A template of ours does not fit its data: always our fault.
    #[error("the page's template")]
    Template(#[from] minijinja::Error),
}

const TEMPLATES: [(&str, &str); 13] = [
    ("frame.html", include_str!("templates/frame.html")),
    ("page.html", include_str!("templates/page.html")),
    ("style.css", include_str!("templates/style.css")),
    ("scores.html", include_str!("templates/scores.html")),
    ("splits.html", include_str!("templates/splits.html")),
    ("reasons.html", include_str!("templates/reasons.html")),
    ("episode.html", include_str!("templates/episode.html")),
    ("table.html", include_str!("templates/table.html")),
    ("words.html", include_str!("templates/words.html")),
    ("compare.html", include_str!("templates/compare.html")),
    ("gains.html", include_str!("templates/gains.html")),
    ("document.html", include_str!("templates/document.html")),
    ("chart.html", include_str!("templates/chart.html")),
];

/// All that the templates know.
#[derive(Serialize)]
struct View {
    run: overview::Overview,
    cases: Vec<episode::Case>,
}

/// Writes the page of a run: its summary, and some episodes step by step, those of one task side
/// by side ([`Choice`](crate::Choice) picks good ones).
///
/// # Errors
/// An episode that is not whole, by its place.
pub fn page(run: &RunInfo, summary: &Summary, shown: &[Vec<Event>]) -> Result<String, ReportError> {
    let cases = episode::cases(run, shown)
        .map_err(|(index, why): (usize, NotWhole)| ReportError::Episode { index, reason: why.to_string() })?;
    render("page.html", &View { run: overview::Overview::of(run, summary), cases })
}

/// Fills a template.
fn render<T: Serialize>(name: &str, view: &T) -> Result<String, ReportError> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    let mut syntax = SyntaxConfig::builder();
    environment.set_syntax(syntax.trim_blocks(true).lstrip_blocks(true).build()?);
    for (name, source) in TEMPLATES {
        environment.add_template(name, source)?;
    }
    let template = environment.get_template(name)?;
    Ok(template.render(Serde(view))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(path: &str) -> (RunInfo, EpisodeId) {
        let id = EpisodeId { policy: "p".to_owned(), task: "t".to_owned(), attempt: 0 };
        let traces = BTreeMap::from([(id.clone(), path.to_owned())]);
        let run = RunInfo { traces, ..RunInfo::default() };
        (run, id)
    }

    #[test]
    fn a_link_is_a_relative_path_whatever_the_file_is_called() {
        for (path, href) in [
            ("traces/a-0.jsonl", "./traces/a-0.jsonl"),
            ("javascript:alert(1)", "./javascript%3Aalert%281%29"),
            ("a b/é\"", "./a%20b/%C3%A9%22"),
        ] {
            let (run, id) = run(path);
            assert_eq!(run.href(&id), href);
        }
    }

    #[test]
    fn the_replay_command_survives_a_shell() {
        for (path, command) in [
            ("traces/a-0.jsonl", "tribunal replay traces/a-0.jsonl"),
            ("-x", "tribunal replay -- '-x'"),
            ("it's $(x)", r"tribunal replay -- 'it'\''s $(x)'"),
        ] {
            let (run, id) = run(path);
            assert_eq!(run.replay(&id), command);
        }
        let (_, id) = run("x");
        assert_eq!(RunInfo::default().replay(&id), "tribunal replay TRACE");
        assert_eq!(RunInfo::default().href(&id), "");
    }
}
