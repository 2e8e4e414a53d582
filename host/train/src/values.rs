//! Other values for keys of a recipe, as a command line gives them.

use crate::error::TrainError;

/// A recipe's text with other values for some keys, each as `KEY=VALUE`. What is no value of TOML is a
/// text, so that `grpo.advantage=standardised` needs no quotes. Whether a key is one, and what it may
/// be, is told by the reader of recipes, as for a file.
///
/// # Errors
/// [`TrainError::Recipe`] for a text that is no TOML, and what is not `KEY=VALUE`.
pub fn with_values(text: &str, set: &[String]) -> Result<String, TrainError> {
    if set.is_empty() {
        return Ok(text.to_owned());
    }
    let mut recipe: toml::Table = toml::from_str(text).map_err(|why| TrainError::recipe("whole", why.to_string()))?;
    for one in set {
        put(&mut recipe, one)?;
    }
    toml::to_string(&recipe).map_err(|why| TrainError::recipe("whole", why.to_string()))
}

fn put(recipe: &mut toml::Table, one: &str) -> Result<(), TrainError> {
    let Some((key, value)) = one.split_once('=') else {
        return Err(TrainError::recipe(one, "KEY=VALUE expected, such as grpo.kl=0.01"));
    };
    let parsed = toml::from_str::<toml::Table>(&format!("value = {value}")).ok();
    let value = parsed.and_then(|mut table| table.remove("value")).unwrap_or_else(|| value.trim().into());
    let mut parts: Vec<&str> = key.trim().split('.').collect();
    let last = parts.pop().unwrap_or_default();
    let mut table = recipe;
    for part in parts {
        let inner = table.entry(part).or_insert_with(|| toml::Value::Table(toml::Table::new()));
        let Some(inner) = inner.as_table_mut() else {
            return Err(TrainError::recipe(key, format!("{part} is a value, not a section")));
        };
        table = inner;
    }
    table.insert(last.to_owned(), value);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Advantage, Recipe};

    const QUICK: &str = include_str!("../../../policies/recipes/quick.toml");

    fn set(values: &[&str]) -> Result<Recipe, TrainError> {
        Recipe::parse(&with_values(QUICK, &values.iter().map(|value| (*value).to_owned()).collect::<Vec<_>>())?)
    }

    #[test]
    fn values_are_put_by_their_path() {
        let recipe =
            set(&["grpo.advantage=standardised", "rollout.grammar = false", "seed=7", "grpo.kl=0.5", "pool.tasks=30"])
                .unwrap();
        let grpo = recipe.grpo.unwrap();
        assert_eq!((recipe.seed, recipe.rollout.grammar, recipe.pool.tasks, grpo.kl), (7, false, 30, 0.5));
        assert_eq!(grpo.advantage, Advantage::Standardised);
        assert_eq!(set(&[]).unwrap(), Recipe::parse(QUICK).unwrap());
    }

    #[test]
    fn what_is_no_value_of_a_recipe_is_named() {
        for (value, expected) in [
            ("grpo", "KEY=VALUE expected"),
            ("seed.x=1", "seed is a value, not a section"),
            ("grpo.klx=1", "klx"),
            ("grpo.kl=much", "invalid type: string \"much\""),
        ] {
            let why = set(&[value]).unwrap_err().to_string();
            assert!(why.contains(expected), "{value}: {why}");
        }
    }
}
