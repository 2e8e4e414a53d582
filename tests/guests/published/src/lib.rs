//! Verifiers that decide as published comparators do. Which one stands in the settings:
//! `{"decides": "set"}`. Each is written from a description of its rules (the sources stand beside
//! the rules below), faults included; none is meant to be used.

mod atom;
mod decide;

use serde_json::Value as Json;
use tribunal_kit::{Description, Evidence, Host, Verdict, Verifier};

/// The plugin.
#[derive(Debug)]
pub struct Published;

impl Verifier for Published {
    fn describe() -> Description {
        Description::new("verifier-published", env!("CARGO_PKG_VERSION"))
    }

    fn verify<H: Host>(host: &H, evidence: Evidence) -> Verdict {
        let settings: Json = serde_json::from_str(&host.settings()).unwrap_or_default();
        let name = settings.get("decides").and_then(Json::as_str).unwrap_or("nothing");
        match decide::decide(name, &evidence) {
            Ok(true) => Verdict::pass(),
            Ok(false) => Verdict::fail("mismatch", None),
            Err(why) => Verdict::Ungradable(why),
        }
    }
}

tribunal_kit::verifier!(Published);
