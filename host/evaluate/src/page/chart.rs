//! Lines over a labelled plane, laid out here and drawn by a template.

use serde::Serialize;

use crate::estimate::ratio;

/// The most points of one line; a longer one is drawn as means of neighbours.
const POINTS: usize = 240;

/// A line to draw.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub name: String,
    /// How it looks: classes of the style sheet.
    pub class: &'static str,
    pub points: Vec<(f64, f64)>,
}

/// How large a chart is, in units of its own; text is 12 units high.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub width: f64,
    pub height: f64,
    /// Room for the names of lines, on the right; without it they are not written.
    pub names: f64,
}

/// A chart as the template draws it: every number a text.
#[derive(Debug, Serialize)]
pub(crate) struct ChartView {
    title: String,
    label: String,
    x_label: String,
    y_label: String,
    width: String,
    height: String,
    left: String,
    right: String,
    top: String,
    bottom: String,
    x_middle: String,
    y_middle: String,
    x_ticks: Vec<Tick>,
    /// Places on the way that have a name.
    marks: Vec<Tick>,
    y_ticks: Vec<Tick>,
    lines: Vec<LineView>,
}

#[derive(Debug, Serialize)]
struct Tick {
    at: String,
    text: String,
}

#[derive(Debug, Serialize)]
struct LineView {
    class: &'static str,
    path: String,
    /// The ends of short lines, so that a line of one point is seen.
    dots: Vec<(String, String)>,
    name: String,
    name_x: String,
    name_y: String,
}

/// What a chart shows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Axes<'a> {
    pub title: &'a str,
    pub x: &'a str,
    pub y: &'a str,
    /// Whether the upward axis is a share, from 0 to 100 %.
    pub share: bool,
    /// Places on the way that have a name.
    pub marks: &'a [(f64, String)],
}

/// Room for the figures of the upward axis, and for its name where it has one.
const LEFT: f64 = 48.0;
const Y_NAME: f64 = 14.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 40.0;
/// The least distance between the names of two lines.
const APART: f64 = 15.0;

impl ChartView {
    /// None where no line has a point.
    pub(crate) fn of(axes: Axes<'_>, lines: &[Line], size: Size) -> Option<ChartView> {
        let lines: Vec<Line> = lines.iter().map(thinned).filter(|line| !line.points.is_empty()).collect();
        let xs = || lines.iter().flat_map(|line| line.points.iter().map(|point| point.0));
        let ys = || lines.iter().flat_map(|line| line.points.iter().map(|point| point.1));
        let (x_low, x_high) = ends(xs())?;
        let (y_low, y_high) = if axes.share { (0.0, 1.0) } else { ends(ys())? };
        let y_ticks = ticks(y_low, y_high, if size.height < 180.0 { 3.0 } else { 5.0 });
        // The upward axis ends on ticks, so that every line lies between two of them.
        let (y_low, y_high) = (y_ticks.first().copied()?.min(y_low), y_ticks.last().copied()?.max(y_high));
        let (right, bottom) = (size.width - size.names - 10.0, size.height - BOTTOM);
        let left = if axes.y.is_empty() { LEFT } else { LEFT + Y_NAME };
        let x_at = |x: f64| left + (x - x_low) / (x_high - x_low) * (right - left);
        let y_at = |y: f64| bottom - (y - y_low) / (y_high - y_low) * (bottom - TOP);
        let named = size.names > 0.0;
        let mut views: Vec<LineView> = lines.iter().map(|line| view(line, &x_at, &y_at, named)).collect();
        if named {
            part(&mut views, TOP + 4.0, bottom + 4.0);
        }
        let mut x_ticks = ticks(x_low, x_high, ((right - left) / 70.0).max(3.0));
        x_ticks.retain(|x| (x_low..=x_high).contains(x));
        // Where the first line starts is worth a figure, if there is room for it.
        if x_ticks.first().is_none_or(|first| x_at(*first) - left > 24.0) {
            x_ticks.insert(0, x_low);
        }
        let marks = axes.marks.iter().filter(|(x, _)| *x > x_low && *x <= x_high);
        Some(ChartView {
            title: axes.title.to_owned(),
            label: label(axes, &lines),
            x_label: axes.x.to_owned(),
            y_label: axes.y.to_owned(),
            width: number(size.width),
            height: number(size.height),
            left: number(left),
            right: number(right),
            top: number(TOP),
            bottom: number(bottom),
            x_middle: number(f64::midpoint(left, right)),
            y_middle: number(f64::midpoint(TOP, bottom)),
            x_ticks: x_ticks.iter().map(|x| Tick { at: number(x_at(*x)), text: tick_text(*x) }).collect(),
            marks: marks.map(|(x, name)| Tick { at: number(x_at(*x)), text: name.clone() }).collect(),
            y_ticks: y_ticks.iter().map(|y| Tick { at: number(y_at(*y)), text: value_text(*y, axes.share) }).collect(),
            lines: views,
        })
    }
}

fn view(line: &Line, x_at: &impl Fn(f64) -> f64, y_at: &impl Fn(f64) -> f64, named: bool) -> LineView {
    let at: Vec<(String, String)> = line.points.iter().map(|(x, y)| (number(x_at(*x)), number(y_at(*y)))).collect();
    let mut path = String::new();
    for (index, (x, y)) in at.iter().enumerate() {
        path.push_str(&format!("{}{x} {y}", if index == 0 { "M" } else { "L" }));
    }
    let last = line.points.last().copied().unwrap_or_default();
    LineView {
        class: line.class,
        path,
        dots: if at.len() <= 30 { at } else { Vec::new() },
        name: if named { line.name.clone() } else { String::new() },
        name_x: number(x_at(last.0) + 8.0),
        name_y: number(y_at(last.1) + 4.0),
    }
}

/// Moves names apart where lines end close to each other, and keeps them on the chart.
fn part(lines: &mut [LineView], top: f64, bottom: f64) {
    let mut places: Vec<(f64, usize)> =
        lines.iter().enumerate().map(|(index, line)| (line.name_y.parse().unwrap_or(top), index)).collect();
    places.sort_by(|a, b| a.0.total_cmp(&b.0));
    for index in 1..places.len() {
        places[index].0 = places[index].0.max(places[index - 1].0 + APART);
    }
    let mut most = bottom;
    for place in places.iter_mut().rev() {
        place.0 = place.0.min(most);
        most = place.0 - APART;
    }
    for (y, index) in places {
        lines[index].name_y = number(y.max(top - APART));
    }
}

/// For who cannot see the chart: where every line starts and ends.
fn label(axes: Axes<'_>, lines: &[Line]) -> String {
    let said = |line: &Line| {
        let text = |point: Option<&(f64, f64)>| {
            point.map_or_else(String::new, |(x, y)| {
                format!("{} at {} {}", value_text(*y, axes.share), axes.x, tick_text(*x))
            })
        };
        format!("{}: {}, {}", line.name, text(line.points.first()), text(line.points.last()))
    };
    let said: Vec<String> = lines.iter().map(said).collect();
    format!("{}. {}", axes.title, said.join("; "))
}

fn thinned(line: &Line) -> Line {
    let step = line.points.len().div_ceil(POINTS).max(1);
    let mean = |points: &[(f64, f64)]| {
        let n = ratio(points.len() as u64, 1);
        let sum = points.iter().fold((0.0, 0.0), |sum, point| (sum.0 + point.0, sum.1 + point.1));
        (sum.0 / n, sum.1 / n)
    };
    Line { points: line.points.chunks(step).map(mean).collect(), ..line.clone() }
}

/// The least and the largest, made to differ; none of nothing.
fn ends(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let found = values.fold(None, |ends: Option<(f64, f64)>, value| {
        Some(ends.map_or((value, value), |(low, high)| (low.min(value), high.max(value))))
    });
    found.map(|(low, high)| {
        if high > low {
            return (low, high);
        }
        let room = if low == 0.0 { 1.0 } else { low.abs() / 2.0 };
        (low - room, high + room)
    })
}

/// About so many round numbers that hold `low` and `high` between them.
fn ticks(low: f64, high: f64, about: f64) -> Vec<f64> {
    let rough = (high - low) / about.max(1.0);
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|unit| unit * power).into_iter().find(|step| *step >= rough * 0.999);
    let step = step.unwrap_or(10.0 * power);
    let (first, last) = ((low / step + 1e-9).floor(), (high / step - 1e-9).ceil());
    let mut found = Vec::new();
    let mut at = first;
    while at <= last && found.len() < 30 {
        found.push(at * step);
        at += 1.0;
    }
    found
}

/// A coordinate with one decimal: enough for a pixel, and the same bytes everywhere.
fn number(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

fn tick_text(value: f64) -> String {
    let size = value.abs();
    let text = match size {
        _ if size >= 1e6 || (size > 0.0 && size < 1e-4) => format!("{value:.0e}"),
        _ if size >= 100.0 => format!("{value:.0}"),
        _ => format!("{value:.5}"),
    };
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    if text == "-0" { "0".to_owned() } else { text.replace('-', "−") }
}

fn value_text(value: f64, share: bool) -> String {
    if share { format!("{:.0}%", 100.0 * value) } else { tick_text(value) }
}

#[cfg(test)]
mod tests;
