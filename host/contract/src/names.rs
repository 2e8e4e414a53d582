//! Names that look like another name.

/// Sorts `known` by likeness to `name` (edit distance without case, then by name) and joins the
/// first few: for the hint in an error.
#[must_use]
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted = name.to_lowercase();
    let mut ranked: Vec<(usize, &str)> =
        known.into_iter().map(|candidate| (distance(&wanted, &candidate.to_lowercase()), candidate)).collect();
    ranked.sort_unstable();
    ranked.into_iter().map(|(_, candidate)| candidate).collect()
}

/// Up to eight names, the nearest first, with a count of the rest.
pub(crate) fn listed<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    const SHOWN: usize = 8;
    let ranked = nearest(name, known);
    match ranked.len() {
        0 => "none".to_owned(),
        count if count <= SHOWN => ranked.join(", "),
        count => format!("{} and {} more", ranked[..SHOWN].join(", "), count - SHOWN),
    }
}

/// Levenshtein's distance between two texts, by characters.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.chars().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, right) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(left != *right);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_known_by_hand() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("invoices", "invoices"), 0);
        assert_eq!(nearest("invoice", ["users", "Invoices"]), ["Invoices", "users"]);
    }
}
