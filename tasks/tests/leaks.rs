//! What an instruction must say, and what it must not: it names every column of the answer, and
//! tells nothing that only the data could have told it.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use tribunal_protocol::value::Value;
use tribunal_sqlite::SqliteCopy;
use tribunal_tasks::{Draft, ExpectationPlan, Suite};

/// The gold query and the comparison contract of a draft that has them.
fn gold(draft: &Draft) -> Option<(&str, String)> {
    match &draft.expectation {
        ExpectationPlan::Result { query, contract } | ExpectationPlan::Clarify { query, contract, .. } => {
            Some((query, contract.to_string()))
        }
        ExpectationPlan::State { .. } | ExpectationPlan::Abstain { .. } => None,
    }
}

fn drafts(suite: &Suite) -> Vec<Draft> {
    suite.drafts(&suite.quotas(), 1).unwrap()
}

/// The words of a text: letters, digits and `_`, and a point between digits.
fn words(text: &str) -> BTreeSet<String> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let words = text.split(|c: char| !is_part(c)).map(|word| word.trim_matches('.').to_lowercase());
    words.filter(|word| !word.is_empty()).collect()
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// A text without its days, months and years: a period is a parameter, drawn from the calendar.
fn without_dates(text: &str) -> String {
    let is_number = |word: &str| word.chars().all(|c| c.is_ascii_digit());
    let words: Vec<&str> = text.split(' ').collect();
    let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric() && c != '-').to_owned();
    let is_month =
        |at: Option<usize>| at.and_then(|at| words.get(at)).is_some_and(|word| MONTHS.contains(&&*bare(word)));
    let is_date = |at: usize, word: &str| {
        let iso = word.len() == 10 && word.split('-').map(str::len).eq([4, 2, 2]) && is_number(&word.replace('-', ""));
        let day = is_number(word) && word.len() <= 2 && is_month(Some(at + 1));
        let year = is_number(word) && word.len() == 4 && (word.starts_with("202"));
        iso || day || year
    };
    let kept = words.iter().enumerate().filter(|(at, word)| !is_date(*at, &bare(word))).map(|(_, word)| *word);
    kept.collect::<Vec<_>>().join(" ")
}

/// What is known without the data: the words of the family's and the schema's files, those of the
/// gold query and its contract (which hold the parameters, and were written before any row was
/// looked at), the calendar, and the sentences that this crate puts around column names.
struct Known(BTreeMap<String, BTreeSet<String>>);

impl Known {
    fn read() -> Known {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut files = BTreeMap::new();
        for entry in fs::read_dir(root.join("families")).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            files.insert(name, words(&fs::read_to_string(path).unwrap()));
        }
        for schema in Suite::embedded("analytics").unwrap().schemas() {
            let path = root.join(format!("schemas/{}/v{}/terms.toml", schema.name, schema.version));
            files.insert(schema.to_string(), words(&fs::read_to_string(path).unwrap()));
        }
        let own = "return the columns and the result has exactly these columns give me a table with columns wanted \
                   first second third fourth quarter half year of to";
        let calendar = format!("{own} {}", MONTHS.join(" "));
        files.insert("calendar".to_owned(), words(&calendar));
        Known(files)
    }

    /// The words of an instruction that nothing but the data could have told.
    fn unexplained(&self, draft: &Draft, instruction: &str) -> Vec<String> {
        let task = &draft.task;
        let base = task.family.strip_prefix("flaky-");
        let base = base.map(|base| base.replace("totals", "invoice-totals").replace("distinct", "distinct-counts"));
        let (query, contract) = gold(draft).unwrap();
        let parameters = words(&format!("{query} {contract}"));
        let schema = task.schema.to_string();
        let sources = [Some(&task.family), base.as_ref(), Some(&schema), Some(&"calendar".to_owned())]
            .into_iter()
            .flatten()
            .map(|name| &self.0[name])
            .chain([&parameters])
            .collect::<Vec<_>>();
        let told = words(&without_dates(instruction));
        told.into_iter().filter(|word| !sources.iter().any(|source| source.contains(word))).collect()
    }
}

#[test]
fn an_instruction_knows_nothing_of_the_data() {
    let suite = Suite::embedded("analytics").unwrap();
    let known = Known::read();
    let mut checked = 0;
    for draft in drafts(&suite).iter().filter(|draft| gold(draft).is_some()) {
        checked += 1;
        let unexplained = known.unexplained(draft, &draft.task.instruction);
        assert!(unexplained.is_empty(), "{}: {unexplained:?} in: {}", draft.task.id, draft.task.instruction);
    }
    assert!(checked > 150, "{checked}");
}

/// The cells themselves, on every instance. Those that an instruction may hold are names: of
/// groups that the schema's terms list (`android, ios or web`), of months of the period, of a
/// value that the question is about. Those that it never holds are what was measured. A number of
/// one or two digits is left to the test above: a day or a k may equal a count by chance.
#[test]
fn no_measured_value_stands_in_an_instruction() {
    let suite = Suite::embedded("analytics").unwrap();
    let known = Known::read();
    let (mut cells, mut caught, mut leaky) = (0, 0, 0);
    for draft in drafts(&suite) {
        let task = &draft.task;
        let Some((query, _)) = gold(&draft) else { continue };
        let told = words(&without_dates(&task.instruction));
        for instance in &task.instances {
            let copy = SqliteCopy::load(&suite.dataset(&task.schema, instance.seed).unwrap()).unwrap();
            let kinds: Vec<_> = task.answer.iter().map(|column| Some(column.kind)).collect();
            let table = copy.query_ours(query, &kinds).unwrap();
            let is_measured =
                |cell: &Value| !matches!(cell, Value::Null | Value::Text(_)) && cell.to_string().len() > 2;
            for cell in table.to_rows().iter().flatten().filter(|cell| is_measured(cell)) {
                cells += 1;
                assert!(!told.contains(&cell.to_string()), "{}: {cell} in: {}", task.id, task.instruction);
                // The twin: an instruction that gives it away is found out by where it is from.
                leaky += 1;
                let given_away = format!("{} I expect {cell}.", task.instruction);
                caught += usize::from(known.unexplained(&draft, &given_away).contains(&cell.to_string()));
            }
        }
    }
    assert!(cells > 5_000, "{cells}");
    // Some counts stand in the files by chance (`100`, `1000`).
    assert!(caught * 100 > leaky * 95, "{caught} of {leaky}");
}

/// Whether a name stands in a text whole: `total` does not stand in `total_amount`.
fn stands_in(text: &str, name: &str) -> bool {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        !is_part(before.chars().next_back()) && !is_part(after.chars().next())
    })
}

#[test]
fn every_column_of_the_answer_is_named_in_the_instruction() {
    let suite = Suite::embedded("analytics").unwrap();
    let mut columns = 0;
    for draft in drafts(&suite) {
        let task = &draft.task;
        assert_eq!(task.answer.is_empty(), gold(&draft).is_none(), "{}", task.id);
        for column in &task.answer {
            columns += 1;
            assert!(
                stands_in(&task.instruction, &column.name),
                "{}: {} in: {}",
                task.id,
                column.name,
                task.instruction
            );
        }
    }
    assert!(columns > 300, "{columns}");
    assert!(stands_in("Columns wanted: total, n.", "n") && stands_in("n", "n"));
    assert!(!stands_in("Columns wanted: total_amount, on.", "total") && !stands_in("only", "on"));
}
