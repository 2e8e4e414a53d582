//! What the tests and benches of the whole share. Not part of the product.

pub mod analytics;
pub mod audit_page;
pub mod hacks;
pub mod interference;
pub mod mutants;
pub mod mutate;
pub mod random_queries;
pub mod random_text;
pub mod told;
pub mod tool;
pub mod trial;
