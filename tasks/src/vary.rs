//! Variants of a schema: the same shape, said in other words. `words.toml` beside a schema names
//! the words that are replaced, wherever they stand whole or as a part of a name, in all of the
//! schema's files; what replaces them is drawn from the lists of `words.toml` in the folder of the
//! schemas (those of its role, or the long one of words for anything), or made up: short lists alone
//! would be learned by heart, and a name that nobody has seen would still be strange. Variant 7 of `sales` is the schema `sales~7`, and is the same
//! whatever else is made.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use tribunal_protocol::task::SchemaRef;

use crate::error::TasksError;
use crate::random::Stream;
use crate::shape::Shape;

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

/// Where the words of a variant come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum From {
    /// The list of each word's role.
    Lists,
    /// The list of words for anything, whatever the role.
    Anything,
    /// None: they are made up.
    MadeUp,
}

impl From {
    /// Where those of a training schema's variant come from: each source in its turn, words for
    /// anything twice.
    pub(crate) fn of(number: u32) -> From {
        match number % 4 {
            0 => From::Lists,
            1 => From::MadeUp,
            _ => From::Anything,
        }
    }
}

/// The name of the list of words for anything.
const ANYTHING: &str = "any";

/// A word for anything, now and then of two.
fn anything(stream: &mut Stream, all: &[Vec<String>]) -> String {
    let mut word = || all.get(stream.index(all.len())).and_then(|entry| entry.first()).cloned().unwrap_or_default();
    let (first, second) = (word(), word());
    if stream.index(6) == 0 { format!("{first}_{second}") } else { first }
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
    from: From,
) -> Result<BTreeMap<String, String>, TasksError> {
    let mut taken: BTreeSet<&str> = BTreeSet::new();
    let mut before = BTreeSet::new();
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
        let other = match from {
            From::Lists => None,
            From::Anything => lists.get(ANYTHING).map(|all| anything(&mut stream, all)),
            From::MadeUp => Some(invented(&mut stream)),
        };
        // A word that is taken already is drawn again from the list.
        let other = other.filter(|word| before.insert(word.clone()) && !taken.contains(word.as_str()));
        let forms = |word: String| [word.clone(), format!("{word}s")].into_iter().take(draw.forms.len()).collect();
        let entry = other.map_or_else(|| entry.clone(), forms);
        replaced.extend(draw.forms.iter().cloned().zip(entry));
    }
    Ok(replaced)
}

/// Puts the columns of every table into another order, the first (its number) apart: where a column
/// stands must be read too.
pub(crate) fn shuffle_columns(shape: &mut Shape, schema: &SchemaRef, number: u32) {
    for (place, table) in shape.tables.iter_mut().enumerate() {
        let parts = ["columns", &schema.to_string(), &number.to_string(), &place.to_string()];
        let mut stream = Stream::new(0, &parts);
        for last in (2..table.columns.len()).rev() {
            table.columns.swap(last, 1 + stream.index(last));
        }
    }
}

/// What made-up words are put together from: the beginnings and endings of English syllables, so that
/// the letters of a word that nobody has seen still stand together as they do in words.
const ONSETS: &str = "b bl br c ch cl cr d dr f fl fr g gl gr h j k kn l m n p ph pl pr qu r s sc sh sk sl sm sn sp st \
str sw t th tr tw v w wh y z";
const RHYMES: &str = "a e i o u ab ack ade ag ail ain ake al am an and ane ap ar ard are ark art ash ast at ate ave aw \
ay each ead eam ean ear ed ee eel een eet ell em en end ent er ern est et ew ice ick id ide ife ight ike ill im in ind \
ine ing ink int ip ire is ish ist it ite ive ob ock od oke ol old om on one ong ood ook ool oon oot op or ord ore ork \
orm ort ose ot ough ound our ous out ow oy ub uck ud ue ug ull um un ump une ung ur ure urn us ush ust ut y";

/// One of the words of a list.
fn part<'a>(stream: &mut Stream, list: &'a str) -> &'a str {
    let words: Vec<&str> = list.split(' ').collect();
    words[stream.index(words.len())]
}

/// Words of SQL, which no name should be.
const RESERVED: &str = "between case cast cross date desc distinct else exists false from full group having inner \
integer into join left like limit null offset order outer right select table text then true union using values when \
where with";

/// The letters, each as often as in a hundred letters of English or so.
const LETTERS: &str =
    "aaaaaaaabbccccddddeeeeeeeeeeeeffgghhhhhiiiiiiijkllllmmmnnnnnnnoooooooppqrrrrrrssssssttttttttuuuvwwxyyz";

/// A word of one to three syllables, or of letters in any order (what stands beside what in words
/// must not be learned instead of reading), now and then of two parts.
fn invented(stream: &mut Stream) -> String {
    loop {
        let mut word = String::new();
        for syllable in 0..1 + stream.index(3) {
            if syllable == 1 && stream.index(6) == 0 {
                word.push('_');
            }
            if stream.index(2) == 0 {
                word.push_str(part(stream, ONSETS));
                word.push_str(part(stream, RHYMES));
            } else {
                let letters = LETTERS.as_bytes();
                (0..2 + stream.index(3)).for_each(|_| word.push(char::from(letters[stream.index(letters.len())])));
            }
        }
        if (4..=11).contains(&word.len()) && !RESERVED.split(' ').any(|other| other == word) {
            return word;
        }
    }
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
        let drawn: Vec<_> =
            (0..20).map(|number| draw("f", &two, &lists, &schema, number, From::Lists).unwrap()).collect();
        assert!(drawn.iter().all(|words| words["a"] != words["b"]));
        // Both orders come up, and asking again gives the same.
        assert!(drawn.iter().any(|words| words["a"] == "x") && drawn.iter().any(|words| words["a"] == "y"));
        assert_eq!(draw("f", &two, &lists, &schema, 3, From::Lists).unwrap(), drawn[3]);
        // Made-up words: the same again, and none twice in a schema.
        let made_up = draw("f", &two, &lists, &schema, 3, From::MadeUp).unwrap();
        assert_eq!(draw("f", &two, &lists, &schema, 3, From::MadeUp).unwrap(), made_up);
        assert!(made_up["a"] != made_up["b"] && made_up["a"].len() >= 4, "{made_up:?}");
        let three = file(&[("l", &["a"]), ("l", &["b"]), ("l", &["c"])]);
        let fault = draw("f", &three, &lists, &schema, 0, From::Lists).unwrap_err().to_string();
        assert!(fault.contains("no free entry of 1 forms is left"), "{fault}");
        let fault = draw("f", &file(&[("m", &["a"])]), &lists, &schema, 0, From::Lists).unwrap_err().to_string();
        assert!(fault.contains("no list `m`"), "{fault}");
    }
}
