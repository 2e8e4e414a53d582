//! Plain words for the codes that Tribunal's own parts use. A code of somebody else's verifier
//! stands for itself.

/// The codes, by name, and what they say.
const CODES: &[(&str, &str)] = &[
    ("arity", "another number of columns than asked for"),
    ("column-extra", "a column that was not asked for"),
    ("column-mismatch", "columns that cannot be told apart or matched"),
    ("column-missing", "a column that was asked for is not there"),
    ("duplicate", "the right rows, but some too often or too seldom"),
    ("empty", "no rows where some were expected"),
    ("fuel", "a plugin used up its fuel"),
    ("host", "the host broke: our fault"),
    ("limit", "a plugin went past one of its limits"),
    ("malformed", "a plugin answered in a form that the interface does not allow"),
    ("match", "as expected on every instance of the data"),
    ("no-submission", "the agent stopped without handing anything in"),
    ("null", "right but for NULLs"),
    ("order", "the right rows in the wrong order"),
    ("policy", "the policy itself broke"),
    ("row-count", "another number of rows than expected"),
    ("row-mismatch", "rows that differ from those expected"),
    ("step-limit", "the agent used up its steps"),
    ("time", "a plugin ran past the wall-clock backstop"),
    ("tolerance", "numbers outside their tolerance"),
    ("top-k", "not the rows that the cut keeps"),
    ("trap", "a plugin crashed"),
    ("type", "a column of the wrong type"),
    ("ungradable", "the verifier says that it cannot judge this"),
];

/// What a code says; empty where it is not one of ours.
pub(crate) fn meaning(code: &str) -> &'static str {
    let known = CODES.binary_search_by(|(name, _)| (*name).cmp(code));
    known.ok().and_then(|place| CODES.get(place)).map_or("", |(_, meaning)| *meaning)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_found_by_its_name() {
        for (name, words) in CODES {
            assert_eq!(meaning(name), *words);
        }
        assert_eq!(meaning("somebody-elses"), "");
    }
}
