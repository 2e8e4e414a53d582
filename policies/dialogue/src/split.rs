//! Where the tokenizer that we train may not merge across. One regular expression; its parts in
//! the order in which they are tried.

/// The keywords of SQL that take the blanks around them along, so that a name in SQL stands without
/// a leading blank and is spelled by the same tokens as in a description of a table.
const KEYWORDS: &str = "SELECT|FROM|WHERE|AND|OR|NOT|IN|IS|NULL|GROUP|BY|ORDER|HAVING|LIMIT|INNER|LEFT|JOIN|ON|AS|\
CASE|WHEN|THEN|ELSE|END|LIKE|BETWEEN|EXISTS|DISTINCT|DESC|ASC|TRUE|FALSE|DATE|FLOAT|DECIMAL|INTEGER|UNION|ALL|WITH";

/// The expression.
pub(crate) fn pattern() -> String {
    let parts = [
        // The scaffold of a call: `query{"sql":"`, `list_tables{}`, `","about":"`, `"}`.
        r#"[a-z_]+\{(?:\}|"[a-z_]+":"?)"#.to_owned(),
        r#""?,"[a-z_]+":"?"#.to_owned(),
        r#""?\}"#.to_owned(),
        // The signature of a tool: `query(sql,limit?)`.
        r" ?[a-z_]+\((?:[a-z_]+\??,?)*\)".to_owned(),
        // A date in three: year, month, day.
        r" ?(?:19|20)\d\d-(?=[01]\d-[0-3]\d)".to_owned(),
        r"(?<=\d{4}-)[01]\d-(?=[0-3]\d)".to_owned(),
        r"(?<=\d{4}-\d\d-)[0-3]\d".to_owned(),
        // All other digits one by one: numbers are copied, not known by heart.
        r" ?\d".to_owned(),
        // SQL: keywords with what closes before and opens behind them, functions, comparisons,
        // the alias before a column.
        format!(r"[')]* ?\b(?:{KEYWORDS})\b(?: (?:{KEYWORDS})\b)* ?\(?'?"),
        r"[A-Z]{2,}\((?:DISTINCT |CASE WHEN |\*\))?".to_owned(),
        r" (?:=|<>|<=|>=|<|>|\+|-|\*|/) '?".to_owned(),
        r"(?<![A-Za-z_])[a-z]{1,2}\.(?=[a-z_])".to_owned(),
        // Short cells of a table: `|integer|false|`.
        r"\|(?:[a-z]+\|)+".to_owned(),
        // Words, and the parts of a name.
        r" ?[A-Z]?[a-z]+".to_owned(),
        // (A comma joins the end of a name, which are few: `_id, `, `_on, `.)
        r"_[a-z]+(?:, )?".to_owned(),
        r" ?[A-Z]+".to_owned(),
        // Letters of other scripts.
        r" ?\p{L}+".to_owned(),
        // Stops and line breaks.
        r"', '".to_owned(),
        r"[,;:.] ".to_owned(),
        r"\)*\n#?".to_owned(),
        r"\s".to_owned(),
        r"[^\s\p{L}\d]".to_owned(),
    ];
    parts.join("|")
}
