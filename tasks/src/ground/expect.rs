//! What the verifier will expect, and what the simulated user knows.

use serde_json::{Value as Json, json};
use tribunal_protocol::task::{TaskKind, UserSpec};

use super::Ground;
use crate::contract::{AnswerShape, Arrangement, comparison};
use crate::draft::ExpectationPlan;

impl Ground<'_> {
    pub(super) fn expectation(
        &self,
        context: &Json,
        columns: &[AnswerShape],
        query: Option<&str>,
    ) -> Result<ExpectationPlan, String> {
        let contract = || {
            let compare = self.family.compare.clone().unwrap_or_default();
            let top = match &compare.top {
                Some(expression) => self.renderer.expression(expression, context)?.as_i64(),
                None => None,
            };
            let arrangement = Arrangement { order: compare.order, top, empty_ok: compare.empty_ok };
            comparison(columns, &arrangement)
        };
        let query = || query.map(str::to_owned).ok_or("`query` expected");
        Ok(match self.family.kind {
            TaskKind::Answer | TaskKind::Recover => ExpectationPlan::Result { contract: contract()?, query: query()? },
            TaskKind::State => {
                let mut ignore = self.family.ignore.clone();
                ignore.extend(self.carry.ignore.clone());
                ExpectationPlan::State { ignore }
            }
            TaskKind::Clarify => {
                let clarify = self.family.clarify.as_ref().ok_or("[clarify] expected")?;
                let others = clarify.others.iter().map(|(name, other)| json!({"name": name, "terms": other.terms}));
                ExpectationPlan::Clarify {
                    slot: json!({"name": clarify.slot, "terms": self.words(&clarify.terms, context)?}),
                    other_slots: others.collect::<Vec<_>>().into(),
                    max_questions: 2,
                    contract: contract()?,
                    query: query()?,
                }
            }
            TaskKind::Impossible => ExpectationPlan::Abstain { missing: self.words(&self.family.missing, context)? },
        })
    }

    /// Words as templates; one that renders to `a | b` gives several.
    fn words(&self, templates: &[String], context: &Json) -> Result<Vec<String>, String> {
        let mut words = Vec::new();
        for template in templates {
            let text = self.renderer.text(template, context)?;
            words.extend(text.split('|').map(|word| word.trim().to_owned()));
        }
        words.retain(|word| !word.is_empty());
        Ok(words)
    }

    pub(super) fn user(&self, context: &Json) -> Result<Option<UserSpec>, String> {
        let Some(clarify) = &self.family.clarify else {
            return Ok(None);
        };
        let reply = self.renderer.text(&clarify.reply, context)?;
        let mut slots = json!({});
        slots[&clarify.slot] = json!({"terms": self.words(&clarify.terms, context)?, "reply": reply});
        for (name, other) in &clarify.others {
            let reply = self.renderer.text(&other.reply, context)?;
            slots[name] = json!({"terms": other.terms, "reply": reply});
        }
        let secret = json!({
            "slots": slots,
            "otherwise": "I have nothing to add to that; the rest is as I wrote it.",
        });
        Ok(Some(UserSpec { plugin: "user-scripted".to_owned(), secret: secret.to_string() }))
    }
}
