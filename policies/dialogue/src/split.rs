//! Where the tokenizer that we train may not merge across. One regular expression; its parts in
//! the order in which they are tried.
//!
//! What can be copied (words, parts of names, digits, dates) is a piece of its own without the
//! blanks around it, so that it is spelled by the same tokens in a question, in a catalogue, in a
//! cell and in SQL: a name that was never seen is copied piece by piece. Blanks go to what is never
//! copied: keywords, comparisons, stops and short common words. That costs few tokens in a hundred
//! against blanks that stick to words.

/// Keywords of SQL; they take the blanks around them along.
const KEYWORDS: &str = "SELECT|FROM|WHERE|AND|OR|NOT|IN|IS|NULL|GROUP|BY|ORDER|HAVING|LIMIT|INNER|LEFT|JOIN|ON|AS|\
CASE|WHEN|THEN|ELSE|END|LIKE|BETWEEN|EXISTS|DISTINCT|DESC|ASC|TRUE|FALSE|DATE|FLOAT|DECIMAL|INTEGER|UNION|ALL|WITH";

/// Common words of questions; runs of them take the blanks around them along.
const COMMON: &str = "the|of|in|is|it|a|an|to|and|or|by|for|with|which|that|its|on|from|not|each|one|as|at|be|has|are|\
was|if|this|who|while|there|all|no|any|only|they|their|where|when|were|had|but|than|out|over|both|up|per|through|\
between|have|how|many|what";

/// What stands in short cells of a catalogue.
const SHORT_CELLS: &str = "boolean|integer|float|decimal|text|date|timestamp|true|false";

/// The expression.
pub(crate) fn pattern() -> String {
    let parts = [
        // The scaffold of a call: `query{"sql":"`, `list_tables{}`, `","about":"`, `"}`.
        r#"[a-z_]+\{(?:\}|"[a-z_]+":"?)"#.to_owned(),
        r#""?,"[a-z_]+":"?"#.to_owned(),
        r#""?\}"#.to_owned(),
        // The signature of a tool: `query(sql,limit?)`.
        r" ?[a-z_]+\((?:[a-z_]+\??,?)*\)".to_owned(),
        // A date in three: year, month, day. All other digits one by one.
        r"(?:19|20)\d\d-(?=[01]\d-[0-3]\d)".to_owned(),
        r"(?<=\d{4}-)[01]\d-(?=[0-3]\d)".to_owned(),
        r"(?<=\d{4}-\d\d-)[0-3]\d".to_owned(),
        r"\d".to_owned(),
        // SQL: keywords with what closes before and opens behind them, functions, comparisons,
        // the alias before a column.
        format!(r"[')]* ?\b(?:{KEYWORDS})\b(?: (?:{KEYWORDS})\b)* ?\(?'?"),
        r"[A-Z]{2,}\((?:DISTINCT |CASE WHEN |\*\))?".to_owned(),
        r" (?:=|<>|<=|>=|<|>|\+|-|\*|/) '?".to_owned(),
        r"(?<![A-Za-z_])[a-z]{1,2}\.(?=[a-z_])".to_owned(),
        // Short cells of a table: `|integer|false|`.
        format!(r"\|(?:(?:{SHORT_CELLS})\|)+"),
        // Blanks, with the common words between them; words; the parts of a name.
        format!(" (?:(?:{COMMON}) (?=[a-z]))*"),
        "[A-Z]?[a-z]+".to_owned(),
        "_(?:[a-z]{1,2}(?![a-z]))?".to_owned(),
        "[A-Z]+".to_owned(),
        // Letters of other scripts.
        r"\p{L}+".to_owned(),
        // Stops and line breaks.
        "', '".to_owned(),
        "[,;:.] ".to_owned(),
        r"\)*\n#?".to_owned(),
        r"\s".to_owned(),
        r"[^\s\p{L}\d]".to_owned(),
    ];
    parts.join("|")
}
