//! What the tests and benches of the whole share. Not part of the product.

#[cfg(feature = "differential")]
pub mod random_queries;
pub mod tool;
