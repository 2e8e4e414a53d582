//! Forward passes: a step of many tokens is computed in parts, which bounds its memory.

/// Tokens of one forward pass.
const PASS_TOKENS: usize = 4_096;

/// Runs of items that fit one pass; an item that does not has a pass of its own.
pub(crate) fn passes<T>(items: &[T], tokens_of: impl Fn(&T) -> usize) -> Vec<&[T]> {
    let mut passes = Vec::new();
    let (mut start, mut tokens) = (0, 0);
    for (place, item) in items.iter().enumerate() {
        let more = tokens_of(item);
        if tokens + more > PASS_TOKENS && place > start {
            passes.push(&items[start..place]);
            (start, tokens) = (place, 0);
        }
        tokens += more;
    }
    if start < items.len() {
        passes.push(&items[start..]);
    }
    passes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_share_a_pass_while_they_fit() {
        let cut =
            |items: &[usize]| passes(items, |tokens| *tokens).into_iter().map(<[usize]>::to_vec).collect::<Vec<_>>();
        assert_eq!(cut(&[4_000, 96, 1, 5_000, 10]), [vec![4_000, 96], vec![1], vec![5_000], vec![10]]);
        assert!(cut(&[]).is_empty());
    }
}
