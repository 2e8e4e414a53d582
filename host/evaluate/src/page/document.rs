//! A page of tables and notes, for reports that are neither a run nor a comparison.

use serde::Serialize;

use super::chart::{Axes, ChartView, Line, Size};
use super::{ReportError, render};
use crate::grid::Grid;
use crate::text::shown;

/// A page: what was found on top, then sections of tables and notes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    /// What kind of page it is, in a word: `audit`.
    pub what: String,
    /// Its title.
    pub title: String,
    /// What was found, in a word or two.
    pub word: String,
    /// Whether that is good.
    pub good: bool,
    /// What was found, in a sentence.
    pub lead: String,
    /// Names and values.
    pub facts: Vec<(String, String)>,
    /// The sections, in order.
    pub sections: Vec<Section>,
    /// What all this rests on.
    pub foot: String,
}

/// A section of a [`Document`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// Its anchor: lower-case letters.
    pub id: String,
    /// Its title.
    pub title: String,
    /// What it shows, in a sentence or two.
    pub about: String,
    /// Tables.
    pub grids: Vec<Grid>,
    /// Charts.
    pub charts: Vec<Chart>,
    /// Texts as they are, each under a heading.
    pub notes: Vec<(String, String)>,
}

/// Lines over a plane; the first is drawn whole, the others dashed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// What runs to the right.
    pub x: String,
    /// Whether what runs upwards is a share, from 0 to 100 %.
    pub share: bool,
    /// Lines by their names.
    pub lines: Vec<Named>,
}

/// A line by its name: points from left to right.
pub type Named = (String, Vec<(f64, f64)>);

#[derive(Serialize)]
struct View<'d> {
    d: DocumentView<'d>,
}

#[derive(Serialize)]
struct DocumentView<'d> {
    what: &'d str,
    title: &'d str,
    word: &'d str,
    good: bool,
    lead: &'d str,
    facts: &'d [(String, String)],
    sections: Vec<SectionView<'d>>,
    foot: &'d str,
}

#[derive(Serialize)]
struct SectionView<'d> {
    id: &'d str,
    title: &'d str,
    about: &'d str,
    grids: Vec<GridView<'d>>,
    charts: Vec<PlotView<'d>>,
    notes: &'d [(String, String)],
}

#[derive(Serialize)]
struct PlotView<'d> {
    title: &'d str,
    plot: ChartView,
}

#[derive(Serialize)]
struct GridView<'d> {
    title: &'d str,
    header: &'d [String],
    rows: &'d [Vec<String>],
    /// How many columns are words.
    lead: usize,
}

impl<'d> GridView<'d> {
    fn of(grid: &'d Grid) -> GridView<'d> {
        GridView { title: &grid.title, header: &grid.header, rows: &grid.rows, lead: 2 }
    }
}

const PLOT: Size = Size { width: 470.0, height: 240.0, names: 70.0 };

impl<'d> PlotView<'d> {
    /// None where no line has a point.
    fn of(chart: &'d Chart) -> Option<PlotView<'d>> {
        let classes = std::iter::once("line candidate").chain(std::iter::repeat("line baseline dashed"));
        let line = |((name, points), class): (&Named, &'static str)| Line {
            name: shown(name, 24),
            class,
            points: points.clone(),
        };
        let lines: Vec<Line> = chart.lines.iter().zip(classes).map(line).collect();
        let axes = Axes { title: &chart.title, x: &chart.x, y: "", share: chart.share, marks: &[] };
        Some(PlotView { title: &chart.title, plot: ChartView::of(axes, &lines, PLOT)? })
    }
}

impl Document {
    /// The page, self-contained and without scripts; the same document gives the same bytes.
    ///
    /// # Errors
    /// [`ReportError::Template`], which is always our fault.
    pub fn page(&self) -> Result<String, ReportError> {
        let sections = self.sections.iter().map(|section| SectionView {
            id: &section.id,
            title: &section.title,
            about: &section.about,
            grids: section.grids.iter().map(GridView::of).collect(),
            charts: section.charts.iter().filter_map(PlotView::of).collect(),
            notes: &section.notes,
        });
        let view = DocumentView {
            what: &self.what,
            title: &self.title,
            word: &self.word,
            good: self.good,
            lead: &self.lead,
            facts: &self.facts,
            sections: sections.collect(),
            foot: &self.foot,
        };
        render("document.html", &View { d: view })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_document_becomes_markup() {
        let evil = "<script>alert(1)</script>".to_owned();
        let grid = Grid { title: evil.clone(), header: vec![evil.clone()], rows: vec![vec![evil.clone()]] };
        let section = Section {
            id: "a".to_owned(),
            grids: vec![grid],
            charts: vec![Chart {
                title: evil.clone(),
                x: evil.clone(),
                share: false,
                lines: vec![(evil.clone(), vec![(1.0, 2.0), (2.0, 3.0)])],
            }],
            notes: vec![(evil.clone(), evil.clone())],
            ..Section::default()
        };
        let document = Document {
            title: evil.clone(),
            lead: evil.clone(),
            facts: vec![(evil.clone(), evil.clone())],
            sections: vec![section],
            ..Document::default()
        };
        let page = document.page().unwrap();
        assert!(!page.contains("<script"), "{page}");
        assert!(page.matches("&lt;script&gt;").count() >= 8);
        assert_eq!(page, document.page().unwrap());
    }
}
