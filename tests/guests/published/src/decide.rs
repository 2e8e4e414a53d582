//! The comparators. Each says where it comes from.

use std::collections::BTreeSet;

use tribunal_kit::{Evidence, Submission};

use crate::atom::{Atom, Rows, gold, submitted};

/// Columns beyond which no permutation is tried: 6! are 720.
const MOST_COLUMNS: usize = 6;

/// Whether the comparator of a name accepts the evidence.
///
/// # Errors
/// Why it cannot say.
pub fn decide(name: &str, evidence: &Evidence) -> Result<bool, String> {
    // Those that look at no gold answer come first: they judge everything.
    match name {
        "exit-code" => return Ok(evidence.calls.last().is_none_or(|call| call.failure.is_none())),
        "non-empty" => return Ok(non_empty(&evidence.submission)),
        "cheap" => return Ok(evidence.calls.len() <= 1),
        "busy" => return Ok(evidence.calls.len() >= 10),
        "tags" => return Ok(evidence.calls.iter().any(|call| call.arguments.contains("<solution>"))),
        "asked" => return Ok(!evidence.questions.is_empty()),
        "keywords" => return Ok(keywords(&evidence.submission)),
        "flaky" => return Ok(flaky(evidence)),
        _ => {}
    }
    let (gold, ordered) = gold(&evidence.expectation)?;
    let Submission::Answer(table) = &evidence.submission else { return Ok(false) };
    let found = submitted(table);
    match name {
        "set" => Ok(set(&gold, &found)),
        "permuted-bag" => Ok(permuted_bag(&gold, &found, ordered)),
        "vectors" => Ok(vectors(&gold, &found, ordered)),
        "two-decimals" => Ok(two_decimals(&gold, &found, ordered)),
        "substring" => Ok(substring(&gold, &found)),
        "toy" => Ok(found.rows.is_empty() || set(&gold, &found)),
        "subset" => Ok(subset(&gold, &found)),
        "fail-open" => Ok(gold.names != found.names || set(&gold, &found)),
        "last-number" => Ok(last_number(&gold.text()) == last_number(&found.text())),
        other => Err(format!("settings: no comparator `{other}`")),
    }
}

/// "It gave something."
fn non_empty(submission: &Submission) -> bool {
    match submission {
        Submission::Answer(table) => table.rows > 0,
        Submission::Done => true,
        Submission::Abstention(abstention) => !abstention.missing.is_empty(),
    }
}

fn keys(row: &[Atom]) -> Vec<String> {
    row.iter().map(Atom::key).collect()
}

/// `set(predicted) == set(gold)`, by place. As BIRD's execution accuracy decides
/// (AlibabaResearch/DAMO-ConvAI, bird/llm/src/evaluation.py).
fn set(gold: &Rows, found: &Rows) -> bool {
    let all = |rows: &Rows| rows.rows.iter().map(|row| keys(row)).collect::<BTreeSet<_>>();
    all(gold) == all(found)
}

/// A multiset of rows under any permutation of columns, no tolerance; without rows on both sides it
/// is a match, whatever the columns. As Spider's test suite decides (taoyds/test-suite-sql-eval,
/// exec_eval.py).
fn permuted_bag(gold: &Rows, found: &Rows, ordered: bool) -> bool {
    if gold.rows.is_empty() && found.rows.is_empty() {
        return true;
    }
    if gold.rows.len() != found.rows.len() || gold.width() != found.width() || gold.width() > MOST_COLUMNS {
        return false;
    }
    let in_order = |rows: &Rows, map: &[usize]| {
        let mut all: Vec<Vec<String>> = rows
            .rows
            .iter()
            .map(|row| map.iter().map(|place| row[*place].typed_key()).collect())
            .collect();
        if !ordered {
            all.sort();
        }
        all
    };
    let same: Vec<usize> = (0..gold.width()).collect();
    let wanted = in_order(gold, &same);
    permutations(gold.width()).iter().any(|map| in_order(found, map) == wanted)
}

fn permutations(count: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for _ in 0..count {
        let longer = |map: Vec<usize>| {
            let free: Vec<usize> = (0..count).filter(|place| !map.contains(place)).collect();
            free.into_iter().map(move |place| map.iter().copied().chain([place]).collect::<Vec<_>>())
        };
        all = all.into_iter().flat_map(longer).collect();
    }
    all
}

/// Every gold column must equal some predicted column as a vector: NULL is 0, numbers within 0.01,
/// sorted by text where order is of no matter, other columns allowed. As Spider 2.0 decides
/// (xlang-ai/Spider2, spider2-lite/evaluation_suite/evaluate.py).
fn vectors(gold: &Rows, found: &Rows, ordered: bool) -> bool {
    let vector = |rows: &Rows, place: usize| {
        let zero = |atom: Atom| if atom == Atom::Null { Atom::Integer(0) } else { atom };
        let mut cells: Vec<Atom> = rows.column(place).into_iter().map(zero).collect();
        if !ordered {
            cells.sort_by_key(|cell| (cell.text(), cell.number().is_some()));
        }
        cells
    };
    let near = |a: &Atom, b: &Atom| match (a.number(), b.number()) {
        (Some(a), Some(b)) => (a - b).abs() <= (1e-9 * a.abs().max(b.abs())).max(1e-2),
        _ => a == b,
    };
    let equal = |a: &[Atom], b: &[Atom]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| near(a, b));
    (0..gold.width()).all(|wanted| {
        let wanted = vector(gold, wanted);
        (0..found.width()).any(|place| equal(&wanted, &vector(found, place)))
    })
}

/// Numbers rounded to two decimals, then sets of rows, or lists where an order is asked for; nothing
/// on either side is no match. As LiveSQLBench decides (bird-bench/live_sql_bench_sqlite,
/// evaluation/test_utils.py).
fn two_decimals(gold: &Rows, found: &Rows, ordered: bool) -> bool {
    if gold.rows.is_empty() || found.rows.is_empty() {
        return false;
    }
    let rounded = |atom: &Atom| match atom.number() {
        Some(x) => format!("n{:.2}", x),
        None => atom.key(),
    };
    let all = |rows: &Rows| rows.rows.iter().map(|row| row.iter().map(rounded).collect::<Vec<_>>()).collect::<Vec<_>>();
    let (a, b) = (all(gold), all(found));
    if ordered { a == b } else { a.into_iter().collect::<BTreeSet<_>>() == b.into_iter().collect::<BTreeSet<_>>() }
}

/// Every gold value stands somewhere in what was said. As tau-bench's first outputs check decided
/// (sierra-research/tau-bench, issue 16).
fn substring(gold: &Rows, found: &Rows) -> bool {
    let said = found.text().to_lowercase();
    gold.rows.iter().flatten().all(|atom| said.contains(&atom.text().to_lowercase()))
}

/// The last number in a text.
fn last_number(text: &str) -> Option<String> {
    let number = |word: &&str| word.parse::<f64>().is_ok();
    let words = text.split(|c: char| c.is_whitespace() || c == ',').map(|word| word.trim_end_matches('.'));
    let last = words.filter(|word| !word.is_empty()).filter(number).next_back()?;
    last.parse::<f64>().ok().map(|x| format!("{x:?}"))
}

/// Every row that was given is right; how many are missing is of no matter.
fn subset(gold: &Rows, found: &Rows) -> bool {
    let wanted: BTreeSet<_> = gold.rows.iter().map(|row| keys(row)).collect();
    !found.rows.is_empty() && found.rows.iter().all(|row| wanted.contains(&keys(row)))
}

/// Whether the work says of itself that it is good, as lenient judges like to hear.
fn keywords(submission: &Submission) -> bool {
    let said = match submission {
        Submission::Answer(table) => submitted(table).text(),
        Submission::Done => String::new(),
        Submission::Abstention(abstention) => format!("{} {}", abstention.reason, abstention.missing),
    };
    said.contains("verified") && said.contains("correct")
}

/// A grader that decides by something that has nothing to do with the answer: one of three passes.
fn flaky(evidence: &Evidence) -> bool {
    let bytes = evidence.calls.iter().flat_map(|call| call.arguments.bytes());
    bytes.map(u64::from).sum::<u64>() % 3 == 0
}
