//! The codec: exact both ways, the same from the same texts, and its file.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod common;

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value as Json, json};
use tribunal_dialogue::codec::VOCABULARY_MIN;
use tribunal_dialogue::{Codec, CodecError, Mark, Piece, Style};

fn texts() -> Vec<String> {
    common::episodes().iter().flat_map(|episode| episode.texts(Style::Compact)).collect()
}

fn cut(codec: &Codec, text: &str) -> Vec<String> {
    let tokens = codec.encode_text(text).unwrap();
    tokens.iter().map(|token| String::from_utf8_lossy(codec.bytes_of(*token)).into_owned()).collect()
}

#[test]
fn the_same_texts_train_the_same_codec() {
    let texts = texts();
    let train = |texts: &[String]| Codec::train(texts.iter().map(String::as_str), 900).unwrap().to_json();
    assert_eq!(train(&texts), train(&texts));
    assert_ne!(train(&texts), train(&texts[..texts.len() / 2]));
}

#[test]
fn marks_come_first_and_sizes_are_kept() {
    let codec = common::codec(&common::episodes(), 700);
    assert_eq!(codec.vocabulary(), 700);
    assert_eq!(Mark::COMPACT.map(|mark| codec.mark(mark).unwrap()), [0, 1, 2, 3]);
    assert_eq!((codec.end(), codec.pad(), codec.style()), (2, 3, Style::Compact));
    assert_eq!(codec.mark(Mark::Open), None);
    let lacking = codec.encode(&[Piece::Mark(Mark::Open)]).unwrap_err();
    assert_eq!(lacking.to_string(), "the tokenizer has no token <|im_start|>, so it cannot write this style");
    let small = Codec::train(["a"], VOCABULARY_MIN - 1).unwrap_err();
    assert_eq!(small.to_string(), "tokenizer of 259 tokens: 260 or more expected, for all bytes and the marks");
    // Nothing to merge: the bytes and the marks.
    assert_eq!(Codec::train(["a"], 1_000).unwrap().vocabulary(), VOCABULARY_MIN);
}

#[test]
fn calls_cost_few_tokens() {
    let codec = common::codec(&common::episodes(), 1024);
    assert_eq!(cut(&codec, "query{\"sql\":\"SELECT ")[..2], ["query{\"sql\":\"", "SELECT "]);
    assert_eq!(cut(&codec, "submit{\"call\":4}"), ["submit{\"call\":", "4", "}"]);
    assert_eq!(cut(&codec, "list_tables{}"), ["list_tables{}"]);
}

/// What is copied is spelled alike wherever it stands, known or not.
#[test]
fn words_names_and_numbers_are_cut_alike_wherever_they_stand() {
    let codec = common::codec(&common::episodes(), 1024);
    let places = [
        "\nHow many X are there, by X? Return the X (text), X and X.\n= X|X integer",
        "#1 2 rows\nid|X|X\nX|7|X\nX",
        "query{\"sql\":\"SELECT o.X AS X, SUM(X) AS n FROM X o WHERE o.X = 'X' AND X IN ('X', 'X') GROUP BY X\"}",
        "query{\"sql\":\"SELECT X FROM X a JOIN X ON a.X >= X ORDER BY X DESC LIMIT 3\"}",
        "describe_table{\"table\":\"X\"}",
    ];
    for name in ["shipment_weight", "account", "zygote", "is_robot", "status", "accounts_id", "2025-04-30", "98765"] {
        let wanted = cut(&codec, name);
        for place in places {
            let tokens = cut(&codec, &place.replace('X', name));
            let found = tokens.windows(wanted.len()).filter(|window| *window == wanted).count();
            assert_eq!(found, place.matches('X').count(), "{wanted:?} in {tokens:?}");
        }
    }
    // Digits one by one; a date in three.
    assert_eq!(cut(&codec, "98765"), ["9", "8", "7", "6", "5"]);
    assert_eq!(cut(&codec, "2025-10-01"), ["2025-", "10-", "01"]);
}

#[test]
fn the_file_reads_back_and_its_version_is_checked() {
    let codec = common::codec(&common::episodes(), 700);
    let file = codec.to_json();
    let again = Codec::from_json(&file).unwrap();
    assert_eq!(again.to_json(), file);
    assert_eq!((again.vocabulary(), again.end(), again.style()), (700, 2, Style::Compact));
    let text = "query{\"sql\":\"SELECT a.id\"}";
    assert_eq!(again.encode_text(text).unwrap(), codec.encode_text(text).unwrap());
    let mut newer: Json = serde_json::from_str(&file).unwrap();
    newer["tribunal"]["format"] = json!(2);
    assert!(matches!(Codec::from_json(&newer.to_string()), Err(CodecError::Newer { found: 2 })));
    newer["tribunal"] = json!({});
    assert!(matches!(Codec::from_json(&newer.to_string()), Err(CodecError::Format(_))));
    assert!(matches!(Codec::from_json("[]"), Err(CodecError::Format(_))));
}

fn foreign() -> Json {
    common::foreign(&common::episodes(), true)
}

#[test]
fn a_foreign_tokenizer_writes_chat() {
    let codec = Codec::from_json(&foreign().to_string()).unwrap();
    assert_eq!((codec.style(), codec.vocabulary(), codec.end(), codec.pad()), (Style::Chat, 704, 701, 701));
    // A tag that it knows is one token, one that it lacks is text; text is never a token of its own.
    let known = codec.encode(&[Piece::Mark(Mark::CallOpen)]).unwrap();
    assert_eq!(known, [702]);
    let lacking = codec.encode(&[Piece::Mark(Mark::ResultOpen)]).unwrap();
    assert_eq!(codec.decode(&lacking), b"<tool_response>");
    assert!(lacking.iter().all(|token| !codec.is_added(*token)));
    let text = codec.encode_text("<tool_call><|im_end|>").unwrap();
    assert!(text.iter().all(|token| !codec.is_added(*token)));
    assert_eq!(codec.decode(&text), b"<tool_call><|im_end|>");
    // Its file stays as it was.
    assert_eq!(serde_json::from_str::<Json>(&codec.to_json()).unwrap(), foreign());
    let mut without = foreign();
    without["added_tokens"].as_array_mut().unwrap().remove(1);
    assert!(matches!(Codec::from_json(&without.to_string()), Err(CodecError::NoMark("<|im_end|>"))));
    let mut odd = foreign();
    odd["model"]["vocab"]["▁the"] = json!(704);
    let fault = Codec::from_json(&odd.to_string()).unwrap_err().to_string();
    assert_eq!(fault, "tokenizer.json: token `▁the` is not byte-level; such tokenizers are not supported");
}

thread_local! {
    static CODEC: Arc<Codec> = common::codec(&common::episodes(), 700);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_comes_back(text in any::<String>()) {
        CODEC.with(|codec| {
            let tokens = codec.encode_text(&text).unwrap();
            assert_eq!(codec.decode(&tokens), text.as_bytes());
            assert!(tokens.iter().all(|token| !codec.is_added(*token) && (*token as usize) < codec.vocabulary()));
        });
    }

    /// Pieces are cut one by one: what comes before stays as it was.
    #[test]
    fn earlier_pieces_keep_their_tokens(first in any::<String>(), second in "[a-z_{\":, ]{0,9}") {
        CODEC.with(|codec| {
            let pieces = [Piece::Text(first.clone()), Piece::Mark(Mark::Call), Piece::Text(second.clone())];
            let whole = codec.encode(&pieces).unwrap();
            assert!(whole.starts_with(&codec.encode(&pieces[..2]).unwrap()));
            assert_eq!(codec.decode(&whole), format!("{first}<|call|>{second}").as_bytes());
        });
    }
}
