//! Variants of a schema: the same shape, said in other words. `words.toml` beside a schema names
//! the words that are replaced, wherever they stand whole or as a part of a name, in all of the
//! schema's files; what replaces them is drawn from the lists of `words.toml` in the folder of the
//! schemas, or made up of syllables: lists alone would be learned by heart, and a name that nobody
//! has seen would still be strange. Variant 7 of `sales` is the schema `sales~7`, and is the same
//! whatever else is made.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use tribunal_protocol::task::SchemaRef;

use crate::error::TasksError;
use crate::random::Stream;

/// Lists of words: each entry holds the forms of one word.
pub(crate) type WordLists = BTreeMap<String, Vec<Vec<String>>>;

/// `schemas/<name>/v<N>/words.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WordsFile {
    /// The version of this format: 1.
    pub(crate) format: u32,
    /// What is replaced.
    pub(crate) draws: Vec<WordDraw>,
}

/// One word that is replaced, in all its forms.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WordDraw {
    /// The list that its replacement is drawn from.
    pub(crate) list: String,
    /// Its forms, as they stand in the schema's files.
    pub(crate) forms: Vec<String>,
}

/// The name of a schema's variant.
pub(crate) fn variant(of: &SchemaRef, number: u32) -> SchemaRef {
    SchemaRef { name: format!("{}~{number}", of.name), version: of.version }
}

/// The schema that a variant is of, and its number, by its name; none where it is no variant's.
pub(crate) fn number_of(variant: &SchemaRef) -> Option<(SchemaRef, u32)> {
    let (name, number) = variant.name.split_once('~')?;
    // Written in one way only: no sign, no zero in front.
    let read = number.parse().ok().filter(|read: &u32| *read > 0 && read.to_string() == number)?;
    Some((SchemaRef { name: name.to_owned(), version: variant.version }, read))
}

/// Draws what replaces each form in one variant, no word twice: from the lists, or made up.
///
/// # Errors
/// A list that does not exist, has no entry of as many forms, or is used up.
pub(crate) fn draw(
    file: &str,
    words: &WordsFile,
    lists: &WordLists,
    schema: &SchemaRef,
    number: u32,
    made_up: bool,
) -> Result<BTreeMap<String, String>, TasksError> {
    let mut taken: BTreeSet<&str> = BTreeSet::new();
    let mut invented_before = BTreeSet::new();
    let mut replaced = BTreeMap::new();
    for (place, draw) in words.draws.iter().enumerate() {
        let fault = |why: String| TasksError::invalid(file, format!("draws, {}", draw.forms.join("/")), why);
        let list = lists.get(&draw.list).ok_or_else(|| {
            let known: Vec<_> = lists.keys().map(String::as_str).collect();
            fault(format!("no list `{}` in words.toml; there are: {}", draw.list, known.join(", ")))
        })?;
        let free = |entry: &&Vec<String>| {
            entry.len() == draw.forms.len() && entry.iter().all(|word| !taken.contains(word.as_str()))
        };
        let free: Vec<&Vec<String>> = list.iter().filter(free).collect();
        let parts = ["variant", &schema.to_string(), &number.to_string(), &place.to_string()];
        let mut stream = Stream::new(0, &parts);
        let entry = stream.pick(&free).copied().ok_or_else(|| {
            fault(format!("no free entry of {} forms is left in the list `{}`", draw.forms.len(), draw.list))
        })?;
        taken.extend(entry.iter().map(String::as_str));
        let made_up = made_up.then(|| invented(&mut stream, &mut invented_before, draw.forms.len())).flatten();
        let entry = made_up.unwrap_or_else(|| entry.clone());
        replaced.extend(draw.forms.iter().cloned().zip(entry));
    }
    Ok(replaced)
}

/// Syllables of made-up words: a beginning and an ending that English puts together now and then.
const ONSETS: [&str; 22] =
    ["b", "br", "c", "d", "dr", "f", "g", "gl", "h", "j", "k", "l", "m", "n", "p", "pl", "r", "s", "t", "tr", "v", "z"];
const RHYMES: [&str; 20] =
    ["a", "e", "i", "o", "u", "an", "el", "in", "or", "um", "ar", "en", "is", "on", "al", "er", "ik", "ot", "us", "am"];

/// A word of two or three syllables that was not made up before, in as many forms as are asked for:
/// the word, and its plural.
fn invented(stream: &mut Stream, before: &mut BTreeSet<String>, forms: usize) -> Option<Vec<String>> {
    for _ in 0..16 {
        let mut word = String::new();
        for _ in 0..2 + stream.index(2) {
            word.push_str(ONSETS[stream.index(ONSETS.len())]);
            word.push_str(RHYMES[stream.index(RHYMES.len())]);
        }
        if word.len() >= 4 && before.insert(word.clone()) {
            let plural = format!("{word}s");
            return Some([word, plural].into_iter().take(forms).collect());
        }
    }
    None
}

/// The text with words replaced: a word is a run of ASCII letters, so that `bill` in `bill_id` is one.
pub(crate) fn replace(text: &str, words: &BTreeMap<String, String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let letters = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        let (word, after) = rest.split_at(letters);
        out.push_str(words.get(word).map_or(word, String::as_str));
        let other = after.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(after.len());
        let (between, next) = after.split_at(other);
        out.push_str(between);
        rest = next;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(from, to)| ((*from).to_owned(), (*to).to_owned())).collect()
    }

    #[test]
    fn whole_words_and_parts_of_names_are_replaced_and_nothing_else() {
        let words = words(&[("bill", "trip"), ("bills", "trips")]);
        let text = "bills d, bill_id, billing, a_bill2 'bill' Bill";
        assert_eq!(replace(text, &words), "trips d, trip_id, billing, a_trip2 'trip' Bill");
        assert_eq!(replace("", &words), "");
        assert_eq!(replace("é bill é", &words), "é trip é");
    }

    fn file(draws: &[(&str, &[&str])]) -> WordsFile {
        let draw = |(list, forms): &(&str, &[&str])| WordDraw {
            list: (*list).to_owned(),
            forms: forms.iter().map(|form| (*form).to_owned()).collect(),
        };
        WordsFile { format: 1, draws: draws.iter().map(draw).collect() }
    }

    #[test]
    fn a_variant_is_always_the_same_and_uses_no_word_twice() {
        let lists = WordLists::from([("l".to_owned(), vec![vec!["x".to_owned()], vec!["y".to_owned()]])]);
        let schema = SchemaRef { name: "s".to_owned(), version: 1 };
        let two = file(&[("l", &["a"]), ("l", &["b"])]);
        let drawn: Vec<_> = (0..20).map(|number| draw("f", &two, &lists, &schema, number, false).unwrap()).collect();
        assert!(drawn.iter().all(|words| words["a"] != words["b"]));
        // Both orders come up, and asking again gives the same.
        assert!(drawn.iter().any(|words| words["a"] == "x") && drawn.iter().any(|words| words["a"] == "y"));
        assert_eq!(draw("f", &two, &lists, &schema, 3, false).unwrap(), drawn[3]);
        // Made-up words: the same again, and none twice in a schema.
        let made_up = draw("f", &two, &lists, &schema, 3, true).unwrap();
        assert_eq!(draw("f", &two, &lists, &schema, 3, true).unwrap(), made_up);
        assert!(made_up["a"] != made_up["b"] && made_up["a"].len() >= 4, "{made_up:?}");
        let three = file(&[("l", &["a"]), ("l", &["b"]), ("l", &["c"])]);
        let fault = draw("f", &three, &lists, &schema, 0, false).unwrap_err().to_string();
        assert!(fault.contains("no free entry of 1 forms is left"), "{fault}");
        let fault = draw("f", &file(&[("m", &["a"])]), &lists, &schema, 0, false).unwrap_err().to_string();
        assert!(fault.contains("no list `m`"), "{fault}");
    }
}
