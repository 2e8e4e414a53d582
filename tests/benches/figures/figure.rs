//! Figures, and the table of them.

use std::fmt::Write as _;

use serde::Serialize;

use crate::clock::Timed;
use crate::machine::During;

/// What a value counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) enum Unit {
    /// Microseconds of processor time; less is better.
    #[serde(rename = "µs")]
    Micros,
    /// Episodes for each second of processor time; more is better.
    #[serde(rename = "1/s")]
    PerSecond,
    /// Bytes; less is better.
    #[serde(rename = "B")]
    Bytes,
    /// A ratio of two figures; less is better.
    #[serde(rename = "times")]
    Times,
}

/// Something else that was measured in the same run and in the same unit.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Yardstick {
    pub(crate) name: String,
    pub(crate) value: f64,
    /// How many times better the figure is than this.
    pub(crate) ratio: f64,
}

/// One line of the table.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Figure {
    pub(crate) name: String,
    pub(crate) unit: Unit,
    pub(crate) value: f64,
    /// The best of all samples: what remains when others disturb least.
    pub(crate) best: Option<f64>,
    pub(crate) target: Option<f64>,
    pub(crate) met: Option<bool>,
    pub(crate) yardsticks: Vec<Yardstick>,
}

impl Figure {
    pub(crate) fn micros(name: impl Into<String>, timed: Timed) -> Figure {
        let best = Some(timed.least * 1e6);
        Figure { best, ..Figure::new(name.into(), Unit::Micros, timed.median * 1e6) }
    }

    pub(crate) fn per_second(name: impl Into<String>, timed: Timed) -> Figure {
        let best = Some(1.0 / timed.least);
        Figure { best, ..Figure::new(name.into(), Unit::PerSecond, 1.0 / timed.median) }
    }

    pub(crate) fn bytes(name: impl Into<String>, value: f64) -> Figure {
        Figure::new(name.into(), Unit::Bytes, value)
    }

    pub(crate) fn times(name: impl Into<String>, value: f64) -> Figure {
        Figure::new(name.into(), Unit::Times, value)
    }

    fn new(name: String, unit: Unit, value: f64) -> Figure {
        Figure { name, unit, value, best: None, target: None, met: None, yardsticks: Vec::new() }
    }

    pub(crate) fn target(mut self, target: f64) -> Figure {
        self.target = Some(target);
        self.met = Some(match self.unit {
            Unit::Micros | Unit::Bytes | Unit::Times => self.value < target,
            Unit::PerSecond => self.value >= target,
        });
        self
    }

    /// A yardstick in the figure's own unit.
    pub(crate) fn beside(mut self, name: impl Into<String>, value: f64) -> Figure {
        let ratio = match self.unit {
            Unit::Micros | Unit::Bytes | Unit::Times => value / self.value,
            Unit::PerSecond => self.value / value,
        };
        self.yardsticks.push(Yardstick { name: name.into(), value, ratio });
        self
    }

    /// A yardstick in seconds a call.
    pub(crate) fn beside_timed(self, name: impl Into<String>, timed: Timed) -> Figure {
        let value = match self.unit {
            Unit::Micros | Unit::Bytes | Unit::Times => timed.median * 1e6,
            Unit::PerSecond => 1.0 / timed.median,
        };
        self.beside(name, value)
    }
}

/// Figures that belong together.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Section {
    pub(crate) title: String,
    /// What one must know to read them.
    pub(crate) note: String,
    pub(crate) figures: Vec<Figure>,
}

/// Three significant digits, and no more than two after the point.
fn shown(value: f64) -> String {
    match value.abs() {
        size if !size.is_finite() => "?".to_owned(),
        size if size >= 100.0 => grouped(value),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

fn grouped(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

fn with_unit(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Micros => format!("{} µs", shown(value)),
        Unit::PerSecond => format!("{} /s", shown(value)),
        Unit::Bytes => format!("{} B", shown(value)),
        Unit::Times => format!("{} x", shown(value)),
    }
}

const HEADS: [&str; 7] = ["figure", "value", "best", "yardstick", "ratio", "target", "met"];

/// The cells of a figure: one line, and one more for each further yardstick.
fn lines(figure: &Figure) -> Vec<[String; 7]> {
    let target = figure.target.map_or_else(String::new, |target| {
        let sign = if figure.unit == Unit::PerSecond { "at least" } else { "under" };
        format!("{sign} {}", with_unit(target, figure.unit))
    });
    let met = figure.met.map_or("", |met| if met { "yes" } else { "NO" }).to_owned();
    let best = figure.best.map_or_else(String::new, |best| with_unit(best, figure.unit));
    let beside = |yardstick: &Yardstick| {
        let text = format!("{}: {}", yardstick.name, with_unit(yardstick.value, figure.unit));
        (text, format!("{} x", shown(yardstick.ratio)))
    };
    let (first, ratio) = figure.yardsticks.first().map(beside).unwrap_or_default();
    let mut lines = vec![[figure.name.clone(), with_unit(figure.value, figure.unit), best, first, ratio, target, met]];
    for yardstick in figure.yardsticks.iter().skip(1) {
        let (text, ratio) = beside(yardstick);
        lines.push([String::new(), String::new(), String::new(), text, ratio, String::new(), String::new()]);
    }
    lines
}

fn padded(cells: &[String; 7], widths: &[usize; 7]) -> String {
    let pad = |(place, (cell, width)): (usize, (&String, &usize))| {
        let space = " ".repeat(width.saturating_sub(cell.chars().count()));
        // Numbers stand to the right.
        if matches!(place, 1 | 2 | 4) { format!("{space}{cell}") } else { format!("{cell}{space}") }
    };
    let cells: Vec<_> = cells.iter().zip(widths).enumerate().map(pad).collect();
    cells.join("  ").trim_end().to_owned()
}

/// The whole table as text.
pub(crate) fn table(sections: &[Section], load: &During) -> String {
    let heads = HEADS.map(str::to_owned);
    let all = || sections.iter().flat_map(|section| &section.figures).flat_map(lines);
    let mut widths = heads.clone().map(|head| head.chars().count());
    for line in all() {
        for (width, cell) in widths.iter_mut().zip(&line) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut text = format!("\n{}\n", padded(&heads, &widths));
    for section in sections {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "\n{}\n  {}", section.title, section.note.replace('\n', "\n  "));
        for line in section.figures.iter().flat_map(lines) {
            let _ = writeln!(text, "{}", padded(&line, &widths));
        }
    }
    text + "\n" + &machine(load)
}

fn machine(load: &During) -> String {
    let others = load.others.map_or_else(
        || "how busy others kept it is unknown".to_owned(),
        |others| format!("others kept {others:.2} of its processors busy"),
    );
    let [before, after] = &load.averages;
    let debug = if cfg!(debug_assertions) { "with" } else { "without" };
    format!(
        "Medians of processor time; `ratio`: how many times better than the yardstick.\n\
         {} x {}; {others} during these {:.0} s; load averages {before} before and {after} after.\n\
         Built {debug} debug assertions.\n",
        load.cores, load.processor, load.wall_seconds
    )
}

#[derive(Serialize)]
struct Report<'a> {
    version: u32,
    debug_assertions: bool,
    machine: &'a During,
    sections: &'a [Section],
}

/// The same as JSON.
pub(crate) fn json(sections: &[Section], load: &During) -> Result<String, serde_json::Error> {
    let report = Report { version: 1, debug_assertions: cfg!(debug_assertions), machine: load, sections };
    serde_json::to_string_pretty(&report)
}
