//! Components that are too large to write down, made from a good one.

/// Makes the component that is called `what` of `good`.
pub(crate) fn make(what: &str, good: Vec<u8>) -> Vec<u8> {
    match what {
        "truncated" => good[..good.len() / 2].to_vec(),
        "fifty-megabytes" => with(good, &[custom("padding", &vec![0; 50 << 20])]),
        // How the files of the cache begin.
        "native-code" => [b"\x7fELF\x02\x01\x01".as_slice(), &good].concat(),
        "slow-to-compile" => with(good, &[section(1, &heavy(1_200))]),
        "many-functions" => with(good, &[section(1, &tiny(300_000))]),
        "many-types" => with(good, &[section(7, &many(1_000_001, &[0x6f, 0]))]),
        "many-instances" => with(good, &[section(1, &wat("(module)")), instances(200)]),
        "many-memories" => with(good, &[section(1, &wat("(module (memory 1))")), instances(12)]),
        "nested-components" => (0..200).fold(good, |inner, _| with(wat("(component)"), &[section(4, &inner)])),
        "trusted-sections" => {
            let contract = "[contract]\nname = \"root\"\n[[read]]\ntable = \"*\"\ncolumns = [\"*\"]\n";
            let sections = [
                custom("tribunal-seal", b"{\"trusted\":true}"),
                custom("tribunal-contract", contract.as_bytes()),
                custom(".wasmtime.engine", b"\x7fELF"),
                custom("producers", &[0]),
            ];
            with(good, &sections)
        }
        other => panic!("nothing is called `{other}`"),
    }
}

fn wat(text: &str) -> Vec<u8> {
    wat::parse_str(text).unwrap()
}

fn with(mut component: Vec<u8>, sections: &[Vec<u8>]) -> Vec<u8> {
    sections.iter().for_each(|section| component.extend(section));
    component
}

/// A number as WebAssembly writes lengths.
fn leb(mut number: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let low = (number & 0x7f) as u8;
        number >>= 7;
        bytes.push(if number == 0 { low } else { low | 0x80 });
        if number == 0 {
            return bytes;
        }
    }
}

fn section(id: u8, body: &[u8]) -> Vec<u8> {
    [vec![id], leb(body.len()), body.to_vec()].concat()
}

fn custom(name: &str, body: &[u8]) -> Vec<u8> {
    section(0, &[leb(name.len()), name.as_bytes().to_vec(), body.to_vec()].concat())
}

/// A vector of the same item.
fn many(count: usize, item: &[u8]) -> Vec<u8> {
    [leb(count), item.repeat(count)].concat()
}

/// Instances of the module behind the one that a guest without imports consists of.
fn instances(count: usize) -> Vec<u8> {
    section(2, &many(count, &[0, 1, 0]))
}

/// A module of `functions` functions of 2,000 statements each, none of which can be left out.
fn heavy(functions: usize) -> Vec<u8> {
    let statement = |place: usize| {
        let (from, to) = (place * 5 % 8, place * 3 % 8);
        format!("local.get {from} local.get {to} i64.mul i64.const {place} i64.add local.set {to}\n")
    };
    let body: String = (0..2_000).map(statement).collect();
    let function = format!("(func (param i64 i64 i64 i64 i64 i64 i64 i64) (result i64) {body} local.get 0)\n");
    // One function is read from its text, and the others are its copies.
    let one = wat(&format!("(module {function})"));
    let code = one.iter().enumerate().position(|(at, _)| one[at..].starts_with(b"\x0a")).unwrap();
    let body = code_body(&one[code..]);
    module(b"\x60\x08\x7e\x7e\x7e\x7e\x7e\x7e\x7e\x7e\x01\x7e", functions, body)
}

/// The one body of a code section: behind its id, its length and its count.
fn code_body(section: &[u8]) -> &[u8] {
    let skip = 1 + section[1..].iter().position(|byte| byte & 0x80 == 0).unwrap() + 1;
    &section[skip + 1..]
}

fn tiny(functions: usize) -> Vec<u8> {
    module(b"\x60\x00\x00", functions, &[2, 0, 0x0b])
}

/// A module of `functions` functions of one type and one body.
fn module(kind: &[u8], functions: usize, body: &[u8]) -> Vec<u8> {
    let sections =
        [section(1, &[&[1], kind].concat()), section(3, &many(functions, &[0])), section(10, &many(functions, body))];
    [b"\0asm\x01\0\0\0".to_vec(), sections.concat()].concat()
}
