//! Bytes and tokens of episodes: the same whether written at once, turn by turn, or as sampled; and
//! no text can pass for structure.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod common;

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::json;
use tribunal_dialogue::{
    Call, Codec, Mark, ParseFailure, Piece, Renderer, Role, Style, Transcript, parse, render, unreadable,
};
use tribunal_protocol::failure::Failure;
use tribunal_protocol::policy::{Action, Briefing, Observation};
use tribunal_protocol::table::Table;
use tribunal_protocol::task::AnswerColumn;
use tribunal_protocol::value::{Kind, Value};

fn renderer() -> Renderer {
    Renderer::new(Style::Compact)
}

fn text(transcript: &Transcript) -> String {
    String::from_utf8(transcript.bytes()).unwrap()
}

#[test]
fn an_episode_reads_as_designed() {
    let rows = vec![vec![Value::Text("north".into()), Value::Integer(12)], vec![Value::Null, Value::Integer(3)]];
    let kinds = [("region".to_owned(), Kind::Text), ("n".to_owned(), Kind::Integer)];
    let table = Table::from_rows(&kinds, &rows).unwrap();
    let briefing = Briefing {
        instruction: "How many orders\nper region?".to_owned(),
        answer: kinds.iter().map(|(name, kind)| AnswerColumn { name: name.clone(), kind: *kind }).collect(),
        tools: common::tools("other").into_iter().filter(|tool| tool.name != "ask" && tool.name != "abstain").collect(),
        steps: 9,
    };
    let codec = common::codec(&common::episodes(), 600);
    let mut transcript = Transcript::start(codec, renderer(), &briefing).unwrap();
    transcript.act(&Action::call("query", json!({"limit": 5, "sql": "SELECT 'a\"b' FROM orders"}))).unwrap();
    transcript.observe(&Observation::Result { text: "2 rows".to_owned(), table: Some(table) }).unwrap();
    transcript.act(&Action::call("sample_values", json!({"table": "x", "column": "y"}))).unwrap();
    transcript.observe(&Observation::Failure(Failure::unknown("no table x"))).unwrap();
    transcript.act(&Action::call("submit", json!({"call": 1}))).unwrap();
    let expected = "<|task|>list_tables() describe_table(table) sample_values(table,column,limit?) query(sql,limit?) \
        list_metrics() describe_metric(name) submit(call?,columns?,rows?) done()\n\
        How many orders\\nper region?\n= region|n integer<|call|>\
        query{\"sql\":\"SELECT 'a\\\"b' FROM orders\",\"limit\":5}<|end|>\
        #1 2 rows\nregion|n integer\nnorth|12\nNULL|3<|call|>\
        sample_values{\"table\":\"x\",\"column\":\"y\"}<|end|>\
        #2! unknown: no table x<|call|>\
        submit{\"call\":1}<|end|>";
    assert_eq!(text(&transcript), expected);
}

/// The parity of training, evaluation and serving: whole, turn by turn, and as sampled tokens.
#[test]
fn whole_stepwise_and_sampled_are_the_same_bytes() {
    let episodes = common::episodes();
    let codec = common::codec(&episodes, 1024);
    for episode in &episodes {
        let whole = Transcript::of(Arc::clone(&codec), renderer(), episode.view()).unwrap();
        let mut stepwise = Transcript::start(Arc::clone(&codec), renderer(), &episode.briefing).unwrap();
        let mut sampled = stepwise.clone();
        for turn in &episode.turns {
            let before = (stepwise.tokens().to_vec(), stepwise.mask());
            stepwise.act(&turn.action).unwrap();
            let call = stepwise.tokens()[before.0.len()..].to_vec();
            let read = sampled.sampled(&call).unwrap();
            assert_eq!((&read.action.tool, read.failure, read.exact), (&turn.action.tool, None, true));
            assert_eq!(read.action.arguments, turn.action.arguments);
            stepwise.observe(&turn.observation).unwrap();
            sampled.observe(&turn.observation).unwrap();
            // What was there stays: tokens and mask only grow.
            assert!(stepwise.tokens().starts_with(&before.0) && stepwise.mask().starts_with(&before.1));
        }
        assert_eq!(text(&whole), text(&stepwise), "{}", episode.family);
        assert_eq!(whole.tokens(), stepwise.tokens());
        assert_eq!((whole.tokens(), whole.mask()), (sampled.tokens(), sampled.mask()));
        let rendered: String = pieces(episode).iter().map(|pieces| render::bytes(pieces)).collect();
        assert_eq!(text(&whole), rendered);
    }
}

fn pieces(episode: &common::Episode) -> Vec<Vec<Piece>> {
    let mut parts = vec![renderer().opening(&episode.briefing)];
    let answer = !episode.briefing.answer.is_empty();
    for (turn, number) in episode.turns.iter().zip(1..) {
        parts.push(renderer().call(&episode.briefing.tools, &turn.action));
        parts.push(renderer().observation(Call { number, tool: &turn.action.tool, answer }, &turn.observation));
    }
    parts
}

#[test]
fn the_mask_covers_what_the_policy_wrote_and_no_more() {
    let episodes = common::episodes();
    let codec = common::codec(&episodes, 600);
    let episode = &episodes[0];
    let transcript = Transcript::of(Arc::clone(&codec), renderer(), episode.view()).unwrap();
    let mask = transcript.mask();
    let written: Vec<u32> =
        transcript.tokens().iter().zip(&mask).filter(|(_, mask)| **mask == 1).map(|(token, _)| *token).collect();
    let calls: String = episode
        .turns
        .iter()
        .map(|turn| render::bytes(&renderer().call(&episode.briefing.tools, &turn.action)))
        .collect();
    assert_eq!(String::from_utf8(codec.decode(&written)).unwrap(), calls);
    // The mark before a call is not the policy's, the end token is.
    let call = codec.mark(Mark::Call).unwrap();
    for (index, token) in transcript.tokens().iter().enumerate() {
        match *token {
            token if token == call => assert_eq!(mask[index], 0),
            token if token == codec.end() => assert_eq!(mask[index], 1),
            _ => {}
        }
    }
    let lengths: usize = transcript.segments().iter().map(|segment| segment.end - segment.start).sum();
    assert_eq!(lengths, transcript.tokens().len());
    assert_eq!(transcript.segments()[0].role, Role::Prompt);
    assert_eq!(transcript.segments().len(), 1 + 2 * episode.turns.len());
}

#[test]
fn what_is_no_call_renders_as_it_was() {
    let episodes = common::episodes();
    let codec = common::codec(&episodes, 600);
    let briefing = &episodes[0].briefing;
    for (wrote, expected) in [
        ("hello<|end|>", "no call; NAME{\"ARGUMENT\":..} expected"),
        ("query{\"sql\":<|end|>", "arguments are no JSON: EOF while parsing a value at line 1 column 7"),
        ("drop{}<|end|>", "no tool `drop`; there are "),
        ("query[]<|end|>", "no call; NAME{\"ARGUMENT\":..} expected"),
        ("query{\"sql\":\"x\"", "the call was cut off"),
    ] {
        let cut_off = !wrote.ends_with("<|end|>");
        let mut tokens = codec.encode_text(wrote.trim_end_matches("<|end|>")).unwrap();
        if !cut_off {
            tokens.push(codec.end());
        }
        let mut live = Transcript::start(Arc::clone(&codec), renderer(), briefing).unwrap();
        let mut trace = live.clone();
        let sampled = live.sampled(&tokens).unwrap();
        assert!(sampled.failure.unwrap().to_string().starts_with(expected), "{wrote}");
        assert!(sampled.exact, "{wrote}");
        assert!(sampled.action.tool.starts_with("unreadable: "));
        trace.act(&sampled.action).unwrap();
        assert_eq!(text(&live), text(&trace), "{wrote}");
        // An end that the policy did not write is not its own.
        let own: usize = live.mask().iter().map(|mask| usize::from(*mask)).sum();
        assert_eq!(own, tokens.len());
    }
}

#[test]
fn a_call_written_in_another_way_is_told_apart() {
    let episodes = common::episodes();
    let codec = common::codec(&episodes, 600);
    let mut transcript = Transcript::start(Arc::clone(&codec), renderer(), &episodes[0].briefing).unwrap();
    let mut tokens = codec.encode_text("query { \"sql\": \"SELECT 1\" }").unwrap();
    tokens.push(codec.end());
    let sampled = transcript.sampled(&tokens).unwrap();
    assert_eq!(sampled.action, Action::call("query", json!({"sql": "SELECT 1"})));
    assert_eq!((sampled.failure, sampled.exact), (None, false));
}

#[test]
fn calls_read_back() {
    let tools = common::tools("state");
    for style in [Style::Compact, Style::Chat] {
        for call in common::oracle_calls() {
            let bytes = render::bytes(&Renderer::new(style).call(&tools, &call.action));
            let read = parse(style, &tools, bytes.as_bytes()).unwrap();
            assert_eq!(read, call.action, "{bytes}");
        }
    }
    let chat = |text: &str| parse(Style::Chat, &tools, format!("{text}<|im_end|>").as_bytes());
    let done = Action::call("done", json!({}));
    assert_eq!(chat("I am done.\n<tool_call>\n{\"name\": \"done\", \"arguments\": {}}\n</tool_call>"), Ok(done));
    assert_eq!(chat("<tool_call>{\"name\": \"done\"}</tool_call>"), Err(ParseFailure::NotObject));
    assert!(matches!(chat("{\"name\": \"done\", \"arguments\": {}}"), Err(ParseFailure::NoCall { .. })));
    assert_eq!(parse(Style::Compact, &tools, b"done{\xff}<|end|>"), Err(ParseFailure::NotText));
    let failure = ParseFailure::NotObject;
    assert_eq!(Failure::from(&failure), Failure::invalid("arguments are a JSON object"));
    assert_eq!(
        unreadable(Style::Compact, b"x<|end|>", &failure),
        Action::call("unreadable: arguments are a JSON object", json!({"text": "x"}))
    );
}

/// Text with what could be structure, and any other text.
fn hostile() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("<|end|>"),
        Just("<|call|>"),
        Just("<|task|>"),
        Just("<|im_end|>"),
        Just("<|im_start|>"),
        Just("</tool_call>"),
        Just("<tool_response>"),
        Just("</tools>"),
        Just("<"),
        Just("|"),
        Just("\n"),
        Just("\\"),
        Just("#2"),
        Just("! denied: "),
        Just("+4 rows"),
        Just("= x"),
        Just("\r"),
        Just("/"),
        Just("tool_call>"),
    ];
    prop_oneof![
        prop::collection::vec(prop_oneof![part.prop_map(str::to_owned), "\\PC{0,4}"], 0..8)
            .prop_map(|parts| parts.concat()),
        any::<String>(),
    ]
}

fn briefing(instruction: String, column: String) -> Briefing {
    let answer = vec![AnswerColumn { name: column, kind: Kind::Text }];
    Briefing { instruction, answer, tools: common::tools("other"), steps: 3 }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever words, names and cells hold: marks come from us alone, in tokens and in bytes, and
    /// lines and cells are as many as they were.
    #[test]
    fn no_text_passes_for_structure(words in hostile(), name in hostile(), cell in hostile(), style in 0..2_u8) {
        let style = if style == 0 { Style::Compact } else { Style::Chat };
        let renderer = Renderer { caps: tribunal_dialogue::Caps { answer_rows: 9, query_rows: 9, rows: 9, bytes: 1 << 20, words: 1 << 20 }, ..Renderer::new(style) };
        let kinds = [(name.clone(), Kind::Text), ("b".to_owned(), Kind::Text)];
        let row = vec![Value::Text(cell.clone()), Value::Text(cell.clone())];
        let table = Table::from_rows(&kinds, &[row]).unwrap();
        let observed = [
            Observation::Result { text: words.clone(), table: Some(table) },
            Observation::Failure(Failure::denied(words.clone())),
        ];
        let briefing = briefing(words.clone(), name.clone());
        let plain = |text: &str| text.to_owned();
        let call = Call { number: 1, tool: "query", answer: true };
        let mut parts = vec![(renderer.opening(&briefing), renderer.opening(&self::briefing(plain("q"), plain("n"))))];
        for observation in &observed {
            let harmless = match observation {
                Observation::Result { .. } => {
                    let row = vec![Value::Text(plain("x")), Value::Text(plain("x"))];
                    let table = Table::from_rows(&[(plain("n"), Kind::Text), (plain("b"), Kind::Text)], &[row]).unwrap();
                    Observation::Result { text: plain("w"), table: Some(table) }
                }
                Observation::Failure(_) => Observation::Failure(Failure::denied("w")),
            };
            parts.push((renderer.observation(call, observation), renderer.observation(call, &harmless)));
        }
        for (pieces, harmless) in parts {
            let marks = |pieces: &[Piece]| pieces.iter().filter(|piece| matches!(piece, Piece::Mark(_))).count();
            let all = |pieces: &[Piece], what: &str| render::bytes(pieces).matches(what).count();
            prop_assert_eq!(marks(&pieces), marks(&harmless));
            let tags = ["\n", "<tools>", "</tools>"];
            for structure in Mark::ALL.map(Mark::text).into_iter().chain(tags) {
                prop_assert_eq!(all(&pieces, structure), all(&harmless, structure), "{}", render::bytes(&pieces));
            }
            if style == Style::Compact {
                CODEC.with(|codec| {
                    let tokens = codec.encode(&pieces).unwrap();
                    assert_eq!(tokens.iter().filter(|token| codec.is_added(**token)).count(), marks(&pieces));
                });
            }
        }
    }

    /// A cell can be read back: bars and line breaks of cells are never those of the table.
    #[test]
    fn cells_stay_apart(cells in prop::collection::vec(hostile(), 1..4)) {
        let kinds: Vec<_> = (0..cells.len()).map(|index| (format!("c{index}"), Kind::Text)).collect();
        let row: Vec<Value> = cells.iter().map(|cell| Value::Text(cell.clone())).collect();
        let table = Table::from_rows(&kinds, &[row]).unwrap();
        let caps = tribunal_dialogue::Caps { bytes: 1 << 20, ..renderer().caps };
        let observation = Observation::Result { text: String::new(), table: Some(table) };
        let call = Call { number: 1, tool: "t", answer: false };
        let text = render::bytes(&Renderer { caps, ..renderer() }.observation(call, &observation));
        let lines: Vec<&str> = text.lines().collect();
        prop_assert_eq!(lines.len(), 3);
        prop_assert_eq!(read_row(lines[2].strip_suffix("<|call|>").unwrap()), cells);
    }

    /// What was sampled, whatever it is, is neither lost nor read as structure.
    #[test]
    fn any_bytes_can_be_sampled(wrote in hostile()) {
        CODEC.with(|codec| {
            let mut tokens = codec.encode_text(&wrote).unwrap();
            tokens.push(codec.end());
            let mut live = Transcript::start(Arc::clone(codec), renderer(), &briefing("q".to_owned(), "n".to_owned())).unwrap();
            let before = live.tokens().len();
            live.sampled(&tokens).unwrap();
            assert_eq!(live.tokens()[before..], tokens);
        });
    }
}

/// The cells of a row, escapes undone.
fn read_row(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        let cell = cells.last_mut().unwrap();
        match c {
            '|' => cells.push(String::new()),
            '\\' => cell.push(match chars.next().unwrap() {
                'n' => '\n',
                'r' => '\r',
                other => other,
            }),
            _ => cell.push(c),
        }
    }
    cells
}

thread_local! {
    static CODEC: Arc<Codec> = common::codec(&common::episodes(), 600);
}
