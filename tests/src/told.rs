//! What a test is told from outside: how much to do, and from which seed.

/// The number in a variable of the environment, or `default` where there is none.
#[expect(clippy::disallowed_methods, reason = "how much a test does is told from outside")]
#[must_use]
pub fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}
