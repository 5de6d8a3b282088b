//! Decoding by the embedded definition: against the typed decoder, and against hostile
//! definitions and payloads.

#![allow(clippy::unwrap_used)]

mod common;

use common::{options, small_run, written};
use headland_base::SimTime;
use headland_record::messages::{
    self, Header, Imu, Message, Odometry, TfMessage, TransformStamped,
};
use headland_record::{Definition, Item, Kind, Reader, Value};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn code(text: &str) -> &'static str {
    Definition::parse("a/msg/A", text).expect_err("hostile")[0].code
}

fn decode<M: Message>(message: &M) -> Value {
    let kind = M::KIND;
    let definition = Definition::parse(kind.name(), &kind.definition()).unwrap();
    definition.decode(&messages::encode(message)).unwrap()
}

#[test]
fn our_own_definitions_decode_our_own_messages() {
    let bytes = written(&options(), |w| small_run(w, 12));
    let mut reader = Reader::new(&bytes[..], "memory");
    let mut lines = Vec::new();
    while let Some(item) = reader.next() {
        let Item::Message(message) = item else { continue };
        let schema = message.channel.schema.as_ref().unwrap();
        let text = std::str::from_utf8(&schema.data).unwrap();
        let definition = Definition::parse(&schema.name, text).unwrap();
        lines.push(definition.decode(message.payload).unwrap().to_json());
    }
    assert_eq!(
        lines[0],
        r#"{"header":{"stamp":{"sec":0,"nanosec":0},"frame_id":"world"},"pose":{"position":{"x":0.0,"y":0.0,"z":1.0},"orientation":{"x":0.0,"y":0.09983341664682815,"z":0.0,"w":0.9950041652780258}}}"#
    );
    assert!(lines.iter().any(|l| l.contains(r#""body_a":"ball","body_b":"ground""#)));
    assert!(lines.last().unwrap().contains(r#""kind":"end""#));
}

#[test]
fn nested_messages_arrays_and_odd_numbers() {
    let header = Header::new(SimTime::from_nanos(5), "odd");
    let imu =
        Imu { orientation_covariance: [f64::NAN; 9], header: header.clone(), ..Imu::default() };
    assert!(decode(&imu).to_json().contains(r#""orientation_covariance":["NaN","NaN""#));
    let mut odometry = Odometry { header: header.clone(), ..Odometry::default() };
    odometry.twist.covariance[5][5] = 35.0;
    let mut last = (String::new(), 0.0);
    decode(&odometry).for_each_number(&mut |key, number| {
        last = (key.to_string(), number);
        true
    });
    assert_eq!(last, ("twist/covariance/35".to_string(), 35.0));
    let named = |name: &str| TransformStamped {
        header: header.clone(),
        child_frame_id: name.to_string(),
        ..TransformStamped::default()
    };
    let value = decode(&TfMessage { transforms: vec![named("a"), named("bcd")] });
    let Some(Value::List(list)) = value.field("transforms") else { panic!("a list") };
    assert_eq!(list[1].field("child_frame_id"), Some(&Value::Text("bcd".into())));
}

#[test]
fn every_integer_width_constants_defaults_and_comments() {
    let text = "# a comment\nint8 A=-3\nuint8 B = 2 # two\nstring GREETING=\"a # b\"\n\
        int8 a 5\nint16 b\nint32 c\nint64 d\nuint16 e\nbool f true\nchar[2] g\nfloat32[<=3] h\nstring<=5 i \"x\"\n";
    let definition = Definition::parse("a/msg/A", text).unwrap();
    let mut payload = vec![0, 1, 0, 0, 0xfd, 0]; // -3, padding
    payload.extend((-2i16).to_le_bytes());
    payload.extend((-4i32).to_le_bytes());
    payload.extend((i64::MIN).to_le_bytes());
    payload.extend([0xff, 0xff, 1, 7, 8]); // u16 65535, true, two chars
    payload.extend([0; 3]);
    payload.extend(1u32.to_le_bytes());
    payload.extend(0.5f32.to_le_bytes());
    payload.extend(2u32.to_le_bytes());
    payload.extend(b"z\0");
    assert_eq!(
        definition.decode(&payload).unwrap().to_json(),
        r#"{"a":-3,"b":-2,"c":-4,"d":-9223372036854775808,"e":65535,"f":true,"g":[7,8],"h":[0.5],"i":"z"}"#
    );
}

#[test]
fn hostile_definitions_are_diagnostics() {
    let part = |name: &str, fields: &str| format!("{}\nMSG: a/{name}\n{fields}\n", "=".repeat(80));
    assert_eq!(code("A self\n"), "recursive-definition");
    assert_eq!(code("A[] selves\n"), "recursive-definition");
    assert_eq!(code(&format!("B b\n{}", part("B", "A a"))), "recursive-definition");
    assert_eq!(code("Nowhere x\n"), "unknown-type");
    assert_eq!(code("wstring x\n"), "unsupported-type");
    assert_eq!(code("float64\n"), "bad-definition");
    for size in ["-1", "0", "99999999999", "<=x", "3", "[3]"] {
        let text = format!("float64[{size} x\n");
        assert_eq!(code(&text), "bad-definition", "{text}");
    }
    let deep: String = (0..100).map(|i| part(&format!("T{i}"), &format!("T{} x", i + 1))).collect();
    assert_eq!(code(&format!("T0 x\n{deep}")), "definition-too-deep");
    assert_eq!(code(&"x".repeat(2 << 20)), "definition-too-long");
    // Every defect is named, with its line.
    let both = Definition::parse("a/msg/A", "int32 ok\nNo x\nfloat64[ y\n").unwrap_err();
    let places: Vec<String> = both.iter().map(|d| d.place.as_ref().unwrap().label()).collect();
    assert_eq!(places, ["a/msg/A:2:1", "a/msg/A:3:1"]);
}

#[test]
fn arrays_longer_than_the_message_cost_nothing() {
    let part = |name: &str, fields: &str| format!("{}\nMSG: a/{name}\n{fields}\n", "=".repeat(80));
    // Doubling at every level: 2^30 numbers from a few lines.
    let laughs: String =
        (0..30).map(|i| part(&format!("T{i}"), &format!("T{}[2] x", i + 1))).collect();
    let text = format!("T0[4000000000] x\n{laughs}{}", part("T30", "float64 x"));
    let definition = Definition::parse("a/msg/A", &text).unwrap();
    assert_eq!(definition.decode(&[0, 1, 0, 0, 1, 2, 3]).unwrap_err().code, "bad-message");
    for element in ["uint8", "float64", "string", "Empty"] {
        let text = format!("{element}[] x\n{}", part("Empty", ""));
        let definition = Definition::parse("a/msg/A", &text).unwrap();
        let payload = [0, 1, 0, 0, 0xff, 0xff, 0xff, 0xff, 1, 1];
        assert_eq!(definition.decode(&payload).unwrap_err().code, "bad-message", "{element}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, rng_seed: RngSeed::Fixed(7), ..ProptestConfig::default() })]

    #[test]
    fn random_definitions_never_panic(
        words in prop::collection::vec(prop::sample::select(vec![
            "float64", "string", "\"", "'", "=", "#", "[", "]", "[3]", "[<=2]", "a/B", "B", "MSG: a/B",
            "====", "\n", " ", "x", "X=1", "uint8[]", "é", "string<=", "wstring", "MSG:",
        ]), 0..40),
        payload in prop::collection::vec(any::<u8>(), 0..60),
    ) {
        if let Ok(definition) = Definition::parse("a/msg/A", &words.concat()) {
            _ = definition.decode(&payload);
        }
    }

    #[test]
    fn random_payloads_never_panic(kind in 0..Kind::ALL.len(), mut payload in prop::collection::vec(any::<u8>(), 4..300), small in any::<bool>()) {
        payload[..4].copy_from_slice(&[0, 1, 0, 0]);
        if small {
            // Mostly zeros, so that lengths are believable and decoding comes far.
            for (i, byte) in payload.iter_mut().enumerate() { if i % 4 != 0 || *byte > 9 { *byte = 0; } }
            payload[1] = 1;
        }
        let kind = Kind::ALL[kind];
        let definition = Definition::parse(kind.name(), &kind.definition()).unwrap();
        let dynamic = definition.decode(&payload);
        // Two roads to one answer.
        if kind == Kind::Contacts {
            let typed = messages::decode::<messages::Contacts>(&payload);
            if let (Ok(typed), Ok(dynamic)) = (typed, dynamic) {
                let Some(Value::List(list)) = dynamic.field("contacts") else { panic!("a list") };
                prop_assert_eq!(typed.contacts.len(), list.len());
            }
        }
    }
}
