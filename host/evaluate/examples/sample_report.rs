//! Writes the page of the sample run to the path that is given: `sample_report PATH.html`.

#[path = "../tests/sample/mod.rs"]
mod sample;

use std::error::Error;

use tribunal_evaluate::{Choice, Summary, page};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("a path expected: sample_report PATH.html")?;
    let episodes = sample::by_id();
    let summary = Summary::of(episodes.values().map(Vec::as_slice)).with_refused(sample::refused());
    let mut choice = Choice::default();
    episodes.values().for_each(|events| choice.add(events));
    let shown: Vec<_> = choice.finish().iter().filter_map(|id| episodes.get(id).cloned()).collect();
    std::fs::write(path, page(&sample::run(), &summary, &shown)?)?;
    Ok(())
}
