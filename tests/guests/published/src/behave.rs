//! Ways to misbehave, whatever is decided: each breaks one check of an audit.

use tribunal_kit::{Database as _, Evidence, Host, Scored, Submission, Verdict};

/// The verdict of a verifier that misbehaves in a way; none where the name is of no such way.
pub fn misbehave<H: Host>(name: &str, host: &H, evidence: &Evidence, right: bool) -> Option<Verdict> {
    let scored = |reward: f64, reason: &str| {
        Some(Verdict::Scored(Scored { reward, reason: reason.to_owned(), difference: None }))
    };
    let verdict = || if right { scored(1.0, "match") } else { scored(0.0, "mismatch") };
    match name {
        "writes" => {
            if let Ok(session) = host.open("last") {
                let _ = session.change("DELETE FROM accounts", &[]);
            }
            verdict()
        }
        "pries" => {
            if let Ok(session) = host.open("first") {
                let _ = session.query("SELECT * FROM accounts", &[]);
            }
            verdict()
        }
        "one-reason" => scored(if right { 1.0 } else { 0.0 }, "judged"),
        "out-of-range" => scored(if right { 1.0 } else { -1.0 }, "judged"),
        "loops" => {
            let rows = match &evidence.submission {
                Submission::Answer(table) => table.rows,
                Submission::Done | Submission::Abstention(_) => 0,
            };
            // Fuel ends this, not the clock.
            let mut sum = rows;
            while rows == 0 {
                sum = std::hint::black_box(sum.wrapping_add(1));
            }
            verdict()
        }
        "shrugs" if !right => Some(Verdict::Ungradable("this is not what I expected".to_owned())),
        "shrugs" => verdict(),
        _ => None,
    }
}
