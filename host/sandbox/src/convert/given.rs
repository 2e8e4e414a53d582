//! What a verifier is given, borrowed: an answer of many rows goes into the guest's memory
//! without a copy on the way.

use tribunal_protocol::evidence::{Evidence, Question, Submission};
use tribunal_protocol::table::{Cells, Column, Table};
use wasmtime::component::{ComponentType, Lower};

use crate::bindings::types;
use crate::convert::lower;

#[derive(ComponentType, Lower)]
#[component(record)]
pub(crate) struct GivenEvidence<'a> {
    instruction: &'a str,
    submission: GivenSubmission<'a>,
    questions: Vec<GivenQuestion<'a>>,
    calls: Vec<GivenCall<'a>>,
    expectation: &'a str,
}

#[derive(ComponentType, Lower)]
#[component(variant)]
pub(crate) enum GivenSubmission<'a> {
    #[component(name = "answer")]
    Answer(GivenTable<'a>),
    #[component(name = "done")]
    Done,
    #[component(name = "abstention")]
    Abstention(GivenAbstention<'a>),
}

#[derive(ComponentType, Lower)]
#[component(record)]
pub(crate) struct GivenAbstention<'a> {
    reason: &'a str,
    missing: &'a str,
}

#[derive(ComponentType, Lower)]
#[component(record)]
pub(crate) struct GivenQuestion<'a> {
    about: &'a str,
    text: &'a str,
    reply: &'a str,
}

#[derive(ComponentType, Lower)]
#[component(record)]
pub(crate) struct GivenCall<'a> {
    tool: &'a str,
    arguments: String,
    failure: Option<types::Code>,
}

#[derive(ComponentType, Lower)]
#[component(record)]
pub(crate) struct GivenTable<'a> {
    rows: u32,
    columns: Vec<GivenColumn<'a>>,
}

#[derive(ComponentType, Lower)]
#[component(record)]
pub(crate) struct GivenColumn<'a> {
    name: &'a str,
    nulls: &'a [u8],
    cells: GivenCells<'a>,
}

#[derive(ComponentType, Lower)]
#[component(variant)]
pub(crate) enum GivenCells<'a> {
    #[component(name = "unknown")]
    Unknown,
    #[component(name = "booleans")]
    Booleans(&'a [bool]),
    #[component(name = "integers")]
    Integers(&'a [i64]),
    #[component(name = "floats")]
    Floats(&'a [f64]),
    #[component(name = "decimals")]
    Decimals(types::Texts),
    #[component(name = "texts")]
    Texts(GivenTexts<'a>),
    #[component(name = "dates")]
    Dates(&'a [i32]),
    #[component(name = "timestamps")]
    Timestamps(&'a [i64]),
}

#[derive(ComponentType, Lower)]
#[component(record)]
pub(crate) struct GivenTexts<'a> {
    data: &'a str,
    ends: &'a [u32],
}

impl<'a> GivenEvidence<'a> {
    /// The evidence as the interface has it.
    ///
    /// # Errors
    /// The submitted table has more rows than the interface can count.
    pub(crate) fn of(evidence: &'a Evidence) -> Result<GivenEvidence<'a>, String> {
        let calls = evidence.calls.iter().map(|call| GivenCall {
            tool: &call.tool,
            arguments: call.arguments.to_string(),
            failure: call.failure.map(lower::code),
        });
        Ok(GivenEvidence {
            instruction: &evidence.instruction,
            submission: submission(&evidence.submission)?,
            questions: evidence.questions.iter().map(question).collect(),
            calls: calls.collect(),
            expectation: &evidence.expectation,
        })
    }
}

fn submission(submission: &Submission) -> Result<GivenSubmission<'_>, String> {
    Ok(match submission {
        Submission::Answer(answer) => GivenSubmission::Answer(table(answer)?),
        Submission::Done => GivenSubmission::Done,
        Submission::Abstention { reason, missing } => GivenSubmission::Abstention(GivenAbstention { reason, missing }),
    })
}

fn question(question: &Question) -> GivenQuestion<'_> {
    GivenQuestion { about: &question.about, text: &question.text, reply: &question.reply }
}

fn table(table: &Table) -> Result<GivenTable<'_>, String> {
    let rows = u32::try_from(table.rows).map_err(|_| "the answer has more than 4294967295 rows".to_owned())?;
    Ok(GivenTable { rows, columns: table.columns.iter().map(column).collect() })
}

fn column(column: &Column) -> GivenColumn<'_> {
    let cells = match &column.cells {
        Cells::Unknown => GivenCells::Unknown,
        Cells::Booleans(cells) => GivenCells::Booleans(cells),
        Cells::Integers(cells) => GivenCells::Integers(cells),
        Cells::Floats(cells) => GivenCells::Floats(cells),
        Cells::Decimals(cells) => GivenCells::Decimals(lower::decimals(cells)),
        Cells::Texts(texts) => GivenCells::Texts(GivenTexts { data: &texts.data, ends: &texts.ends }),
        Cells::Dates(cells) => GivenCells::Dates(cells),
        Cells::Timestamps(cells) => GivenCells::Timestamps(cells),
    };
    GivenColumn { name: &column.name, nulls: &column.nulls, cells }
}
