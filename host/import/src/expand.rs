//! Gold as a question's author writes it: alternatives separated by `;`, and `{a, b}` for columns
//! of which any non-empty subset is accepted.
//!
//! The meaning is that of defog's sql-eval (`get_all_minimal_queries`): subsets by size, then in
//! the order of writing; `GROUP BY {}` takes the chosen columns. Where that evaluator is naive,
//! this one keeps its meaning: `;`, `{` and `,` inside literals and parentheses do not count,
//! an alias (`{a AS b}`) does not reach GROUP BY, and further pairs of braces are expanded, too.

use crate::token::{Lexer, Token};

/// Alternatives of one question, at most: columns double them.
pub const MAX_ALTERNATIVES: usize = 255;

/// Why gold could not be expanded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExpandError {
    /// The gold is not SQL as far as its quotes and braces go.
    Malformed(String),
    /// It stands for too many alternatives to judge.
    TooMany,
}

/// All alternatives that a question's gold stands for, in order, each once.
///
/// # Errors
/// Unfinished quotes or braces, nothing at all, or more than [`MAX_ALTERNATIVES`].
pub fn expand(gold: &str) -> Result<Vec<String>, ExpandError> {
    let tokens = Lexer::all(gold).map_err(|error| ExpandError::Malformed(error.what.to_owned()))?;
    let mut alternatives: Vec<String> = Vec::new();
    for statement in tokens.split(|token| token.is_symbol(";")) {
        let (Some(first), Some(last)) = (statement.first(), statement.last()) else {
            continue;
        };
        let text = gold.get(first.start..last.end).unwrap_or("").to_owned();
        let mut found = Vec::new();
        expand_braces(text, &mut found)?;
        for alternative in found {
            if !alternatives.contains(&alternative) {
                alternatives.push(alternative);
            }
        }
        if alternatives.len() > MAX_ALTERNATIVES {
            return Err(ExpandError::TooMany);
        }
    }
    match alternatives.is_empty() {
        true => Err(ExpandError::Malformed("no query given".to_owned())),
        false => Ok(alternatives),
    }
}

/// Expands the first pair of braces with something in it, and what comes of that again.
fn expand_braces(text: String, found: &mut Vec<String>) -> Result<(), ExpandError> {
    let malformed = |what: &str| ExpandError::Malformed(what.to_owned());
    let tokens = Lexer::all(&text).map_err(|error| malformed(error.what))?;
    let Some(open) = tokens.iter().position(|token| token.is_symbol("{")) else {
        if tokens.iter().any(|token| token.is_symbol("}")) {
            return Err(malformed("`}` without `{`"));
        }
        found.push(text);
        return Ok(());
    };
    let length = tokens.iter().skip(open).position(|token| token.is_symbol("}"));
    let close = open + length.ok_or_else(|| malformed("`{` without `}`"))?;
    let columns = columns(&text, tokens.get(open + 1..close).unwrap_or(&[]));
    if columns.is_empty() {
        return Err(malformed("`{}` that no `{..}` before it fills"));
    }
    let (before, after) = match (tokens.get(open), tokens.get(close)) {
        (Some(open), Some(close)) => (open.start, close.end),
        _ => return Err(malformed("`{` without `}`")),
    };
    for subset in subsets(columns.len())? {
        let chosen: Vec<&Column<'_>> = subset.iter().filter_map(|i| columns.get(*i)).collect();
        let list = |part: fn(&Column<'_>) -> String| chosen.iter().map(|c| part(c)).collect::<Vec<_>>().join(", ");
        let tail = fill_group(text.get(after..).unwrap_or(""), &list(|c| c.bare.to_owned())).map_err(malformed)?;
        let whole = list(|c| c.whole.to_owned());
        let head = text.get(..before).unwrap_or("");
        expand_braces(format!("{head}{whole}{tail}"), found)?;
        if found.len() > MAX_ALTERNATIVES {
            return Err(ExpandError::TooMany);
        }
    }
    Ok(())
}

/// One column between braces: with its alias, and without.
struct Column<'t> {
    whole: &'t str,
    bare: &'t str,
}

/// The columns between braces, cut at commas outside parentheses.
fn columns<'t>(text: &'t str, tokens: &[Token<'_>]) -> Vec<Column<'t>> {
    let mut depth = 0_i32;
    let parts = tokens.split(|token| {
        depth += i32::from(token.is_symbol("(")) - i32::from(token.is_symbol(")"));
        depth == 0 && token.is_symbol(",")
    });
    let column = |part: &[Token<'_>]| {
        let (first, last) = (part.first()?, part.last()?);
        let mut depth = 0_i32;
        let alias = part.iter().position(|token| {
            depth += i32::from(token.is_symbol("(")) - i32::from(token.is_symbol(")"));
            depth == 0 && token.is_word("as")
        });
        let bare_end = match alias {
            Some(at) if at > 0 => part.get(at - 1).map_or(last.end, |token| token.end),
            _ => last.end,
        };
        Some(Column { whole: text.get(first.start..last.end)?, bare: text.get(first.start..bare_end)? })
    };
    parts.filter_map(column).collect()
}

/// `GROUP BY {}` takes the chosen columns.
fn fill_group(tail: &str, columns: &str) -> Result<String, &'static str> {
    let tokens = Lexer::all(tail).map_err(|error| error.what)?;
    let mut filled = String::with_capacity(tail.len());
    let mut copied = 0;
    for window in tokens.windows(4) {
        if let [group, by, open, close] = window
            && group.is_word("group")
            && by.is_word("by")
            && open.is_symbol("{")
            && close.is_symbol("}")
        {
            filled.push_str(tail.get(copied..open.start).unwrap_or(""));
            filled.push_str(columns);
            copied = close.end;
        }
    }
    filled.push_str(tail.get(copied..).unwrap_or(""));
    Ok(filled)
}

/// All non-empty subsets of `0..count`, by size, then in order.
fn subsets(count: usize) -> Result<Vec<Vec<usize>>, ExpandError> {
    if count > 8 {
        return Err(ExpandError::TooMany);
    }
    let of_mask = |mask: u32| -> Vec<usize> { (0..count).filter(|i| mask >> i & 1 == 1).collect() };
    let mut all: Vec<Vec<usize>> = (1..1_u32 << count).map(of_mask).collect();
    all.sort_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_stand_for_every_subset_by_size() {
        let found = expand("SELECT {u.id, u.name, x}, n FROM u;").unwrap();
        let lists = ["u.id", "u.name", "x", "u.id, u.name", "u.id, x", "u.name, x", "u.id, u.name, x"];
        let expected: Vec<_> = lists.iter().map(|l| format!("SELECT {l}, n FROM u")).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn group_by_takes_the_chosen_columns_without_their_alias() {
        let found = expand("SELECT {a AS x, b}, COUNT(*) FROM t GROUP BY {} ORDER BY 2").unwrap();
        let expected = [
            "SELECT a AS x, COUNT(*) FROM t GROUP BY a ORDER BY 2",
            "SELECT b, COUNT(*) FROM t GROUP BY b ORDER BY 2",
            "SELECT a AS x, b, COUNT(*) FROM t GROUP BY a, b ORDER BY 2",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn literals_and_parentheses_hide_what_separates() {
        let found = expand("SELECT 'a;b{c}' ; SELECT {f(a, b), CAST(c AS INT)} FROM t;;").unwrap();
        let expected = [
            "SELECT 'a;b{c}'",
            "SELECT f(a, b) FROM t",
            "SELECT CAST(c AS INT) FROM t",
            "SELECT f(a, b), CAST(c AS INT) FROM t",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn two_pairs_multiply_and_repeats_count_once() {
        let found = expand("SELECT {a} FROM (SELECT {b, c} FROM t) AS s").unwrap();
        assert_eq!(found.len(), 3);
        assert_eq!(expand("SELECT 1;SELECT 1; SELECT 1").unwrap(), ["SELECT 1"]);
    }

    #[test]
    fn what_explodes_or_breaks_is_refused() {
        let eight = "SELECT {a,b,c,d,e,f,g,h} FROM t";
        assert_eq!(expand(eight).unwrap().len(), 255);
        let nine = "SELECT {a,b,c,d,e,f,g,h,i} FROM t";
        assert_eq!(expand(nine), Err(ExpandError::TooMany));
        let pairs = "SELECT {a,b,c,d,e}, {f,g,h,i,j} FROM t";
        assert_eq!(expand(pairs), Err(ExpandError::TooMany));
        for wrong in ["", " ; ", "SELECT {a FROM t", "SELECT a} FROM t", "SELECT 'a", "SELECT {}"] {
            assert!(matches!(expand(wrong), Err(ExpandError::Malformed(_))), "{wrong}");
        }
    }
}
