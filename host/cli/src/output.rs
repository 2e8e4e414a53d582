//! Everything that is printed.

use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};

use anyhow::Context as _;
use comfy_table::{ContentArrangement, Table, presets};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

/// A message of more lines than this is a log that somebody must read as it is.
const LINES_TO_JOIN: usize = 8;

/// One line for what went wrong, causes included.
pub fn error(error: &anyhow::Error) {
    let text = format!("{error:#}");
    let text = if text.lines().count() <= LINES_TO_JOIN {
        text.replace(":\n- ", ": ").replace("\n- ", "; ").replace('\n', "; ")
    } else {
        text
    };
    let _ = writeln!(std::io::stderr(), "tribunal: {text}");
}

/// A line for people, on standard error, so that standard output stays for results.
pub fn note(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// The first line of the result that could not be written.
static LOST: Mutex<Option<std::io::Error>> = Mutex::new(None);

/// A line of the result. One that cannot be written is reported at the end, by [`finish`].
pub fn line(text: &str) {
    keep(writeln!(std::io::stdout(), "{text}"));
}

fn keep(written: std::io::Result<()>) {
    match written {
        // Whoever closed the pipe has seen enough: no error of ours.
        Err(why) if why.kind() != ErrorKind::BrokenPipe => {
            LOST.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why);
        }
        _ => {}
    }
}

/// Whether all of the result was written. A part of a result must not pass for the whole.
pub fn finish() -> anyhow::Result<()> {
    keep(std::io::stdout().flush());
    match LOST.lock().unwrap_or_else(PoisonError::into_inner).take() {
        None => Ok(()),
        Some(why) => Err(why).context("cannot write the result to standard output; is the disk full?"),
    }
}

/// The result as JSON.
pub fn json<T: Serialize>(value: &T) -> anyhow::Result<()> {
    line(&serde_json::to_string_pretty(value)?);
    Ok(())
}

/// How wide a table is where nobody says how wide the screen is.
const LINE_WIDTH: u16 = 150;

/// Fewer steps than this are over before anybody reads of them.
const WORTH_A_LINE: u64 = 20;

/// A table for people.
pub fn table(header: &[String], rows: &[Vec<String>]) {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED).set_content_arrangement(ContentArrangement::Dynamic);
    if !std::io::stdout().is_terminal() {
        table.set_width(LINE_WIDTH);
    }
    table.set_header(header);
    for row in rows {
        table.add_row(row);
    }
    line(&table.to_string());
}

/// A bar that shows how far something is; where nobody looks, a line now and then instead.
pub fn progress(what: &str, total: u64) -> Progress {
    let hidden = !std::io::stderr().is_terminal();
    let target = if hidden { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let bar = ProgressBar::with_draw_target(Some(total), target);
    if let Ok(style) = ProgressStyle::with_template("{prefix:>16} {bar:32} {pos}/{len} {msg} {per_sec} eta {eta}") {
        bar.set_style(style);
    }
    bar.set_prefix(what.to_owned());
    Progress { bar, what: what.to_owned(), total, hidden }
}

/// A progress bar, or its lines.
pub struct Progress {
    bar: ProgressBar,
    what: String,
    total: u64,
    hidden: bool,
}

impl Progress {
    /// One more is done.
    pub fn step(&self) {
        self.bar.inc(1);
        let done = self.bar.position();
        let tenth = (self.total / 10).max(1);
        if self.hidden && self.total >= WORTH_A_LINE && (done.is_multiple_of(tenth) || done == self.total) {
            let said = self.bar.message();
            let said = if said.is_empty() { said } else { format!(" ({said})") };
            note(&format!("{}: {done} of {}{said}", self.what, self.total));
        }
    }

    /// So many were done before.
    pub fn start_at(&self, done: u64) {
        self.bar.set_position(done);
        self.bar.reset_eta();
    }

    /// What there is to say of the latest, beside the bar; where nobody looks, with its lines.
    pub fn say(&self, text: &str) {
        self.bar.set_message(text.to_owned());
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
