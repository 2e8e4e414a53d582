//! `tribunal import`: a foreign folder into a suite, every question judged.

use anyhow::{Result, bail};
use tribunal_import::{Class, ImportReport, import, import_file};

use crate::args::ImportArguments;
use crate::output;

/// How many notes are shown; the report has all.
const NOTES: usize = 12;

/// Runs the command. The answer is no where engines disagree or the folder has faults.
pub fn run(arguments: &ImportArguments) -> Result<bool> {
    if arguments.out.exists() && !arguments.force {
        bail!("{}: is there already; --force replaces it, --out names another", arguments.out.display());
    }
    let (source, questions) = (&arguments.source, arguments.questions.as_deref());
    let imported = match (source.is_file(), questions) {
        (true, _) => import_file(source, questions, &arguments.clock)?,
        (false, None) => import(source, &arguments.clock)?,
        (false, Some(_)) => bail!(
            "--questions goes with a SQLite file, and {} is none; a folder has its questions.csv in it",
            source.display()
        ),
    };
    imported.suite.write(&arguments.out, &imported.report, imported.licence_text.as_deref(), arguments.force)?;
    if arguments.json {
        output::json(&imported.report)?;
    } else {
        show(&imported.report);
        let tasks = imported.suite.tasks.len();
        let out = arguments.out.display();
        output::line(&format!("suite: {out} ({tasks} tasks); run it with: tribunal run --suite {out} --policy oracle"));
    }
    Ok(imported.report.count(Class::Disagree) == 0 && imported.report.problems.is_empty())
}

fn show(report: &ImportReport) {
    let header = ["question", "schema", "category", "class", "why"].map(str::to_owned);
    let rows: Vec<Vec<String>> = report
        .results
        .iter()
        .map(|result| {
            let class = result.class.name().to_owned();
            vec![result.number.to_string(), result.schema.clone(), result.category.clone(), class, result.why.clone()]
        })
        .collect();
    output::table(&header, &rows);
    for problem in &report.problems {
        output::line(&format!("problem: {} line {}: {}", problem.file, problem.line, problem.what));
    }
    let totals: Vec<String> =
        Class::ALL.iter().map(|class| format!("{} {}", report.count(*class), class.name())).collect();
    for note in report.notes.iter().take(NOTES) {
        output::line(&format!("note: {note}"));
    }
    if let Some(more) = report.notes.len().checked_sub(NOTES + 1) {
        output::line(&format!("note: {} more in report.json", more + 1));
    }
    output::line(&format!("{} questions: {}", report.questions, totals.join(", ")));
}
