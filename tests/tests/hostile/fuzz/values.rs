//! Values that cross the boundary: a guest whose memory the test writes byte for byte, so that
//! every result and every parameter list that can be encoded, or wrongly encoded, is one case.

use std::sync::Mutex;

use tribunal_protocol::failure::Failure;
use tribunal_protocol::limits::Limits;
use tribunal_protocol::session::{Session, TableInfo};
use tribunal_protocol::table::{Cells, Table};
use tribunal_protocol::usage::Usage;
use tribunal_protocol::value::Value;
use tribunal_sandbox::{Ran, Sandbox, SandboxOptions, ToolInput, ToolOutput};
use tribunal_tests::mutate::mutated;
use tribunal_tests::random_queries::Dice;

use super::{at_least, each};
use crate::guest::Case;

/// Writes its arguments, which are digits of 16, to 4096 and on. `act` gives back what lies there
/// as its result; any other name runs a statement with the parameters that lie there.
const GUEST: &str = r#"
(import "tribunal:plugin/database@1.0.0" "open" (func $open (param i32 i32 i32)))
(import "tribunal:plugin/database@1.0.0" "[method]session.query" (func $query (param i32 i32 i32 i32 i32 i32)))
(data (i32.const 32) "agent")
(func $nibble (param i32) (result i32)
  (i32.add (i32.and (local.get 0) (i32.const 15)) (i32.mul (i32.shr_u (local.get 0) (i32.const 6)) (i32.const 9))))
(func (export "call") (param $name i32) (param $name-len i32) (param $args i32) (param $args-len i32) (result i32)
  (local $i i32)
  (block $done (loop $more
    (br_if $done (i32.ge_u (local.get $i) (i32.shr_u (local.get $args-len) (i32.const 1))))
    (i32.store8 (i32.add (i32.const 4096) (local.get $i)) (i32.or
      (i32.shl (call $nibble (i32.load8_u (i32.add (local.get $args) (i32.shl (local.get $i) (i32.const 1))))) (i32.const 4))
      (call $nibble (i32.load8_u offset=1 (i32.add (local.get $args) (i32.shl (local.get $i) (i32.const 1)))))))
    (local.set $i (i32.add (local.get $i) (i32.const 1)))
    (br $more)))
  (if (i32.ne (local.get $name-len) (i32.const 3)) (then
    (call $open (i32.const 32) (i32.const 5) (i32.const 2000))
    ;; How many parameters: the first word.
    (call $query (i32.load (i32.const 2004)) (i32.const 32) (i32.const 5) (i32.const 4112) (i32.load (i32.const 4096)) (i32.const 2100))
    (return (call $say (i32.const 16) (i32.const 2)))))
  (i32.const 4096))
"#;
/// Where the image lies in the guest.
const AT: u32 = 4_096;

/// A session that remembers the parameters that it was given.
struct Seen(Mutex<Vec<Value>>);

impl Session for Seen {
    fn tables(&mut self) -> Vec<TableInfo> {
        Vec::new()
    }

    fn query(&mut self, _: &str, parameters: &[Value]) -> Result<Table, Failure> {
        self.0.lock().unwrap().extend_from_slice(parameters);
        Ok(Table::default())
    }

    fn change(&mut self, _: &str, _: &[Value]) -> Result<u64, Failure> {
        Ok(0)
    }

    fn usage(&self) -> Usage {
        Usage::default()
    }

    fn violations(&self) -> u32 {
        0
    }
}

struct Mirror(std::sync::Arc<tribunal_sandbox::Plugin>);

impl Mirror {
    fn new() -> Mirror {
        let sandbox = Sandbox::new(SandboxOptions { concurrent_calls: 2, ..SandboxOptions::default() }).unwrap();
        Mirror(sandbox.load("mirror", &Case::of("tool", GUEST).component).unwrap())
    }

    fn call(&self, tool: &str, image: &[u8]) -> Ran<Result<ToolOutput, Failure>, Seen> {
        let arguments: String = image.iter().map(|byte| format!("{byte:02x}")).collect();
        let input = ToolInput { tool, arguments: &arguments, settings: "{}" };
        self.0.call(&input, Seen(Mutex::default()), &Limits { fuel: 5_000_000, ..Limits::default() })
    }
}

/// An image of memory under construction: words and texts, by place.
#[derive(Default)]
struct Image(Vec<u8>);

impl Image {
    fn put(&mut self, at: usize, bytes: &[u8]) {
        if self.0.len() < at + bytes.len() {
            self.0.resize(at + bytes.len(), 0);
        }
        self.0[at..at + bytes.len()].copy_from_slice(bytes);
    }

    fn words(&mut self, at: usize, words: &[u32]) {
        words.iter().enumerate().for_each(|(place, word)| self.put(at + 4 * place, &word.to_le_bytes()));
    }
}

/// `ok`, and a table of three rows: integers, texts with a NULL, decimals.
fn table_image() -> Vec<u8> {
    let mut image = Image::default();
    let far = |place: u32| AT + place;
    image.words(0, &[0, far(400), 2, 1, 3, far(32), 3]);
    let column = |case: u32, name: u32| [far(name), 1, 0, 0, case];
    image.words(32, &column(2, 410));
    image.words(32 + 20, &[far(200), 3]);
    image.words(68, &column(5, 411));
    image.words(68 + 8, &[far(416), 1]);
    image.words(68 + 20, &[far(420), 4, far(232), 3]);
    image.words(104, &column(4, 412));
    image.words(104 + 20, &[far(430), 6, far(248), 3]);
    [7_i64, -1, i64::MAX].iter().enumerate().for_each(|(row, cell)| image.put(200 + 8 * row, &cell.to_le_bytes()));
    image.words(232, &[1, 1, 4]);
    image.words(248, &[1, 4, 6]);
    image.put(400, b"ok");
    image.put(410, b"abc");
    image.put(416, &[0b010]);
    image.put(420, "xéy".as_bytes());
    image.put(430, b"12.5-3");
    image.0
}

/// Eight parameters, one of each case, behind their number.
fn parameters_image() -> Vec<u8> {
    let mut image = Image::default();
    image.words(0, &[8]);
    let place = |index: usize| 16 + 16 * index;
    for index in 0..8 {
        image.words(place(index), &[u32::try_from(index).unwrap()]);
    }
    image.put(place(1) + 8, &[1]);
    image.put(place(2) + 8, &(-7_i64).to_le_bytes());
    image.put(place(3) + 8, &0.5_f64.to_le_bytes());
    image.words(place(4) + 8, &[AT + 200, 4]);
    image.words(place(5) + 8, &[AT + 204, 3]);
    image.words(place(6) + 8, &[19_000]);
    image.put(place(7) + 8, &1_i64.to_le_bytes());
    image.put(200, "1.50né".as_bytes());
    image.0
}

/// The images say what they were meant to say: the fuzzer begins at what is right.
#[test]
fn values_that_are_right_arrive() {
    let mirror = Mirror::new();
    let output = mirror.call("act", &table_image()).result.unwrap().unwrap();
    assert_eq!(output.text, "ok");
    let table = output.table.unwrap();
    let decimal = |text: &str| Value::Decimal(text.parse().unwrap());
    let text = |text: &str| Value::Text(text.to_owned());
    assert_eq!(
        table.to_rows(),
        [
            vec![Value::Integer(7), text("x"), decimal("1")],
            vec![Value::Integer(-1), Value::Null, decimal("2.5")],
            vec![Value::Integer(i64::MAX), text("éy"), decimal("-3")],
        ]
    );
    let seen = mirror.call("parameters", &parameters_image()).sessions.0.into_inner().unwrap();
    let expected = [
        Value::Null,
        Value::Boolean(true),
        Value::Integer(-7),
        Value::Float(0.5),
        decimal("1.50"),
        text("né"),
        Value::Date(19_000),
        Value::Timestamp(1),
    ];
    assert_eq!(seen, expected);
}

/// Random bits in random words, which change pointers, lengths and cases rather than texts.
fn spoiled(good: &[u8], dice: &mut Dice) -> Vec<u8> {
    if dice.chance(50) {
        return mutated(good, good, &[], dice);
    }
    let mut bytes = good.to_vec();
    for _ in 0..=dice.below(3) {
        let at = dice.below(bytes.len() / 4) * 4;
        let word = [0, 1, 2, 3, 7, 9, 255, AT, AT + 100, 65_536, 131_072, u32::MAX, u32::MAX - 7, 1 << 31];
        let room = bytes.len().min(at + 4);
        let word = dice.pick(&word).to_le_bytes();
        bytes[at..room].copy_from_slice(&word[..room - at]);
    }
    bytes
}

/// What the host made of an answer is a table that holds together.
fn sound(table: &Table) {
    for column in &table.columns {
        let cells = match &column.cells {
            Cells::Unknown => table.rows,
            Cells::Booleans(cells) => cells.len(),
            Cells::Integers(cells) | Cells::Timestamps(cells) => cells.len(),
            Cells::Floats(cells) => cells.len(),
            Cells::Decimals(cells) => cells.len(),
            Cells::Texts(texts) => texts.ends.len(),
            Cells::Dates(cells) => cells.len(),
        };
        assert_eq!(cells, table.rows);
        assert!(column.nulls.is_empty() || column.nulls.len() == table.rows.div_ceil(8));
    }
    serde_json::to_string(table).unwrap();
}

#[test]
fn values() {
    let mirror = Mirror::new();
    let (table, parameters) = (table_image(), parameters_image());
    let counts = each(7, 20_000, |dice| {
        let (tool, good) = if dice.chance(60) { ("act", &table) } else { ("parameters", &parameters) };
        let ran = mirror.call(tool, &spoiled(good, dice));
        match ran.result {
            Ok(Ok(output)) => {
                output.table.iter().for_each(sound);
                "answered"
            }
            Ok(Err(_)) => "failed",
            Err(fault) => {
                assert!(matches!(fault.name(), "malformed" | "limit" | "fuel" | "trap"), "{fault}");
                "void"
            }
        }
    });
    at_least(&counts, "answered", 10);
    at_least(&counts, "void", 10);
}
