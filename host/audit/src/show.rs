//! An audit for people: tables for a terminal, and a page.

use serde_json::Value as Json;
use tribunal_evaluate::metrics::exact::Share;
use tribunal_evaluate::{Document, Grid, ReportError, Section};

use crate::audit::{Audit, Finding};
use crate::kind::Expected;

/// Characters of a submission or an expectation that a table holds.
const SHOWN: usize = 160;

fn strings<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(str::to_owned).to_vec()
}

/// A share in percent with one digit, without floating-point formatting of halves to think about.
fn percent(x: f64) -> String {
    format!("{:.1}%", x * 100.0)
}

fn bounds(share: &Share) -> String {
    match share.value() {
        None => "–".to_owned(),
        Some(value) => format!("{} ({}–{})", percent(value), percent(share.low), percent(share.high)),
    }
}

fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most).chain(['…']).collect()
}

/// A table of JSON as rows of text; anything else as it is.
fn brief(json: &Json) -> String {
    let table = json.get("answer").filter(|answer| answer.get("rows").is_some()).unwrap_or(json);
    let Some(rows) = table.get("rows").and_then(Json::as_array) else { return json.to_string() };
    let columns = table.get("columns").and_then(Json::as_array);
    let names: Vec<&str> =
        columns.into_iter().flatten().filter_map(|column| column.get("name").and_then(Json::as_str)).collect();
    let cell = |cell: &Json| cell.as_str().map_or_else(|| cell.to_string(), str::to_owned);
    let row = |row: &Json| row.as_array().into_iter().flatten().map(cell).collect::<Vec<_>>().join(", ");
    let rows: Vec<String> = rows.iter().map(|one| format!("({})", row(one))).collect();
    format!("{}: {}", names.join(", "), if rows.is_empty() { "no rows".to_owned() } else { rows.join(" ") })
}

/// What gold holds of an expectation.
fn gold(expectation: &Json) -> String {
    let answer = expectation.get("answer").unwrap_or(expectation);
    brief(answer.get("gold").unwrap_or(answer))
}

fn missed(finding: &Finding) -> &'static str {
    match finding.expected {
        Expected::Accept => "must accept",
        Expected::Reject => "must reject",
        Expected::Ungradable => "must not judge",
    }
}

impl Audit {
    /// What was found, in a sentence.
    #[must_use]
    pub fn headline(&self) -> String {
        let broken = self.checks.iter().filter(|check| !check.holds).count();
        let (accepts, rejects) = (self.false_accepts, self.false_rejects);
        let found = format!(
            "{} of {} wrong submissions accepted, {} of {} right ones rejected, {} void, {broken} of {} checks broken",
            accepts.count,
            accepts.of,
            rejects.count,
            rejects.of,
            self.voids.count,
            self.checks.len(),
        );
        let word = if self.sound { "nothing wrong found" } else { "NOT SOUND" };
        format!("{}: {word}: {found} ({} cases of {} tasks)", self.subject.verifier, self.cases, self.tasks)
    }

    /// The tables: rates, findings, behaviour, kinds, limits, agreement.
    #[must_use]
    pub fn grids(&self) -> Vec<Grid> {
        let mut grids = vec![self.kind_grid(), self.limit_grid(), self.check_grid()];
        if let Some(agreement) = &self.agreement {
            let kappa = agreement.kappa.map_or("–".to_owned(), |kappa| format!("{kappa:.3}"));
            let rows = agreement.disagreements.iter().map(|one| {
                let expert = if one.expert_accepts { "accept" } else { "reject" };
                vec![one.case.clone(), expert.to_owned(), format!("{:?}", one.decided).to_lowercase(), one.how.clone()]
            });
            grids.push(Grid {
                title: format!(
                    "agreement with experts: {} of {} labelled cases, kappa {kappa}; {} labels of unknown cases",
                    agreement.agreed,
                    agreement.labelled,
                    agreement.unknown.len(),
                ),
                header: strings(["case", "expert", "verifier", "how it was made"]),
                rows: rows.collect(),
            });
        }
        grids.push(self.rate_grid());
        grids.push(self.finding_grid());
        grids
    }

    fn rate_grid(&self) -> Grid {
        let row = |name: &str, share: &Share| {
            vec![name.to_owned(), format!("{} of {}", share.count, share.of), bounds(share)]
        };
        Grid {
            title: "rates, with exact 95 % bounds (Clopper and Pearson)".to_owned(),
            header: strings(["rate", "cases", "share"]),
            rows: vec![
                row("false accepts: wrong, and accepted", &self.false_accepts),
                row("false rejects: right, and rejected", &self.false_rejects),
                row("voids: can be judged, and was not", &self.voids),
                row("false scores: cannot be judged, and was scored", &self.false_scores),
            ],
        }
    }

    fn finding_grid(&self) -> Grid {
        let row = |finding: &Finding| {
            vec![
                finding.kind.name().to_owned(),
                missed(finding).to_owned(),
                format!("{} of {}", finding.wrong, finding.of),
                finding.tasks.to_string(),
                cut(&finding.example.how, SHOWN),
                cut(&gold(&finding.example.expectation), SHOWN),
                cut(
                    &finding
                        .example
                        .submission
                        .get("answer")
                        .map_or_else(|| finding.example.submission.to_string(), brief),
                    SHOWN,
                ),
            ]
        };
        Grid {
            title: "wrong decisions, each with the smallest case that shows it".to_owned(),
            header: strings(["kind", "decision", "wrong", "tasks", "how", "expected", "submitted"]),
            rows: self.findings.iter().map(row).collect(),
        }
    }

    fn kind_grid(&self) -> Grid {
        let rows = self.kinds.iter().map(|score| {
            vec![
                score.kind.name().to_owned(),
                score.kind.says().to_owned(),
                score.expected.name().to_owned(),
                score.accepted.to_string(),
                score.rejected.to_string(),
                score.void.to_string(),
                bounds(&score.right),
            ]
        });
        Grid {
            title: "every kind of case, and how much of it was decided rightly".to_owned(),
            header: strings(["kind", "what it is", "must", "accepted", "rejected", "void", "right"]),
            rows: rows.collect(),
        }
    }

    fn check_grid(&self) -> Grid {
        let rows = self.checks.iter().map(|check| {
            vec![
                check.check.says().to_owned(),
                if check.holds { "holds".to_owned() } else { format!("broken {} times", check.broken) },
                check.cases.first().map_or_else(String::new, |case| cut(case, SHOWN)),
            ]
        });
        Grid { title: "behaviour".to_owned(), header: strings(["what must hold", "", "first"]), rows: rows.collect() }
    }

    fn limit_grid(&self) -> Grid {
        let rows = self.limits.iter().map(|used| {
            let points = used.basis_points();
            vec![
                used.limit.clone(),
                used.used.to_string(),
                used.of.to_string(),
                format!("{}.{:02}%", points / 100, points % 100),
                used.case.clone(),
            ]
        });
        Grid {
            title: "limits: the most that a case used".to_owned(),
            header: strings(["limit", "used", "of", "percent", "case"]),
            rows: rows.collect(),
        }
    }

    /// The page, self-contained and without scripts: a function of the audit alone.
    ///
    /// # Errors
    /// [`ReportError`], which is always our fault.
    pub fn page(&self) -> Result<String, ReportError> {
        let subject = &self.subject;
        let section = |id: &str, title: &str, about: &str, grids: Vec<Grid>| Section {
            id: id.to_owned(),
            title: title.to_owned(),
            about: about.to_owned(),
            grids,
            ..Section::default()
        };
        let mut findings = section(
            "findings",
            "Wrong decisions",
            "Each kind once, by the smallest case that was found: rows, columns and cells were taken away for as long as the decision stayed wrong.",
            vec![self.finding_grid()],
        );
        findings.notes = self.findings.iter().map(note).collect();
        let mut sections = vec![
            section(
                "rates",
                "Rates",
                "Exact bounds: the interval of Clopper and Pearson, 95 %. Cases of one task are alike, so the bounds speak of these tasks and not of others.",
                vec![self.rate_grid()],
            ),
            findings,
            section(
                "behaviour",
                "Behaviour",
                "Every case was put to the verifier twice: task by task, and again in another order beside others; each time on a fresh instance.",
                vec![self.check_grid()],
            ),
            section("limits", "Limits", "Of each limit the most that any case used.", vec![self.limit_grid()]),
            section(
                "kinds",
                "All kinds of case",
                "What must become of a case was decided by a reference that shares no code with any verifier, or by two SQL engines.",
                vec![self.kind_grid()],
            ),
        ];
        if self.agreement.is_some() {
            let grid = self.grids().into_iter().nth(3);
            sections.push(section(
                "agreement",
                "Agreement with experts",
                "Cohen's kappa over labelled cases.",
                grid.into_iter().collect(),
            ));
        }
        let facts = [
            ("verifier", format!("{} {}", subject.verifier, subject.version)),
            ("component", subject.digest.to_string()),
            ("in place of", subject.in_place_of.clone()),
            ("suite", format!("{} ({})", subject.suite, subject.suite_digest.short())),
            ("seed", subject.seed.to_string()),
            ("cases", format!("{} of {} tasks; {} more left out as uncertain", self.cases, self.tasks, self.left_out)),
        ];
        let document = Document {
            what: "audit".to_owned(),
            title: format!("{} on trial", subject.verifier),
            word: if self.sound { "nothing wrong found" } else { "not sound" }.to_owned(),
            good: self.sound,
            lead: self.headline(),
            facts: facts.map(|(name, value)| (name.to_owned(), value)).to_vec(),
            sections,
            foot: format!(
                "A function of the component, the suite and the seed, by tribunal {}; made again, it is the same to the byte.",
                subject.tribunal
            ),
        };
        document.page()
    }
}

/// A finding in full.
fn note(finding: &Finding) -> (String, String) {
    let example = &finding.example;
    let pretty = |json: &Json| serde_json::to_string_pretty(json).unwrap_or_default();
    let heading = format!("{}: {}", finding.kind, finding.kind.says());
    let text = format!(
        "case        {}\nhow         {}\ndecision    {:?}, reason `{}`; it {}\nexpected    {}\nsubmitted   {}\n\nexpectation {}\nsubmission  {}",
        example.id,
        example.how,
        example.decided,
        example.reason,
        missed(finding),
        gold(&example.expectation),
        example.submission.get("answer").map_or_else(|| example.submission.to_string(), brief),
        cut(&pretty(&example.expectation), 4_000),
        cut(&pretty(&example.submission), 4_000),
    );
    (heading, text)
}
