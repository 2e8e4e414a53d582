//! Writes the page of a made-up comparison to the path that is given: `sample_comparison PATH.html`.

#![allow(dead_code, reason = "the tests use more of the samples")]

#[path = "../tests/graded/mod.rs"]
mod graded;
#[path = "../tests/sample/mod.rs"]
mod sample;

use std::error::Error;
use std::fmt::Write as _;

use tribunal_evaluate::comparison::compare;
use tribunal_evaluate::release::{DEFAULT_PROTOCOL, Protocol};
use tribunal_evaluate::{RunInfo, Training, comparison_page};
use tribunal_protocol::event::Event;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("a path expected: sample_comparison PATH.html")?;
    let templates = graded::Templates::new();
    let gain = |place: &graded::Place| if place.family == "refund" { -0.12 } else { 0.16 };
    let before = graded::policy(&templates, "sft", 20, 0.45, |_| 0.0);
    let after = graded::policy(&templates, "grpo", 20, 0.45, gain);
    let protocol = Protocol::read(DEFAULT_PROTOCOL)?;
    let found = compare(graded::arm("grpo", &after), graded::arm("sft", &before), None, &protocol, false)?;
    let mut shown: Vec<Vec<Event>> = Vec::new();
    for pair in &found.shown {
        for (id, episodes) in [(&pair.baseline, &before), (&pair.candidate, &after)] {
            let wanted = |events: &&Vec<Event>| {
                matches!(events.first(), Some(Event::Header(header))
                if header.task == id.task && header.attempt == id.attempt)
            };
            shown.extend(episodes.iter().find(wanted).cloned());
        }
    }
    let run = RunInfo { name: "grpo against sft".to_owned(), suite: "analytics@1".to_owned(), ..RunInfo::default() };
    let training = Training::read("quick", &updates())?;
    std::fs::write(path, comparison_page(&run, &found, &shown, Some(&training))?)?;
    Ok(())
}

/// Figures like those of a training, by hand.
fn updates() -> String {
    let mut text = String::new();
    for update in 1..=60_u32 {
        let x = f64::from(update);
        let wave = (x * 1.7).sin() * 0.03;
        let _ = write!(
            text,
            "{{\"update\":{update},\"phase\":\"{}\",\"reward\":{:.4},\"entropy\":{:.4}",
            if update <= 20 { "sft" } else { "grpo" },
            0.7 - 0.4 / (1.0 + x / 12.0) + wave,
            1.2 / (1.0 + x / 30.0)
        );
        if update % 10 == 0 {
            let _ = write!(text, ",\"held_out_pass_at_1\":{:.4}", 0.62 - 0.2 / (1.0 + x / 15.0));
        }
        let _ = writeln!(
            text,
            ",\"kl\":{:.5},\"clip_high\":{:.4},\"informative_groups\":{:.3},\"tokens\":{}}}",
            x / 900.0,
            0.02 + wave.abs() / 2.0,
            0.8 - x / 200.0,
            18_000 + update * 40
        );
    }
    text
}
