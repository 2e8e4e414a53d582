//! `tribunal trainings`: several trainings in one table, and on one page.

use std::path::Path;

use anyhow::{Context, Result};
use tribunal_evaluate::trainings::{Trained, Trainings};
use tribunal_train::Recipe;

use super::evaluate;
use crate::args::TrainingsArguments;
use crate::{folder, output};

/// Runs the command.
pub fn run(arguments: &TrainingsArguments) -> Result<bool> {
    let trained = arguments.trainings.iter().map(|path| read(path)).collect::<Result<Vec<Trained>>>()?;
    let found = Trainings::new(&trained, arguments.group.as_deref())?;
    if let Some(path) = &arguments.page {
        folder::write(path, found.page(&trained)?.as_bytes())?;
    }
    if arguments.json {
        output::json(&found)?;
    } else if arguments.markdown {
        output::line(found.grid().markdown().trim_end());
    } else {
        let grid = found.grid();
        output::line(&grid.title);
        output::table(&grid.header, &grid.rows);
    }
    if let Some(path) = &arguments.page {
        output::note(&format!("page: {}", path.display()));
    }
    Ok(true)
}

/// Reads what a training left in its folder.
fn read(path: &Path) -> Result<Trained> {
    let file = path.join("recipe.toml");
    let text = std::fs::read_to_string(&file)
        .with_context(|| format!("cannot read {}; the folder of a training expected", file.display()))?;
    let recipe = Recipe::parse(&text).with_context(|| file.display().to_string())?;
    let file = path.join("evaluation").join("evaluation.json");
    let text = std::fs::read_to_string(&file).with_context(|| {
        format!(
            "cannot read {}; `tribunal train` writes it where a recipe has [grpo], else `tribunal evaluate` against \
             another training's evaluation",
            file.display()
        )
    })?;
    let comparison = serde_json::from_str(&text).with_context(|| format!("{}: not a comparison", file.display()))?;
    let training = evaluate::training(path)?;
    Ok(Trained { name: training.name.clone(), recipe: serde_json::to_value(&recipe)?, comparison, training })
}
