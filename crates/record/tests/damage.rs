//! A recording may be cut at any byte and damaged at any byte: what is whole comes back,
//! what is not is said, and nothing panics or hangs.

#![allow(clippy::unwrap_used)]

mod common;

use common::{messages_of, options, small_run, written};
use headland_base::Severity;
use headland_record::{Compression, Item, Reader};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn read_all(bytes: &[u8]) -> (usize, Option<headland_record::reader::Truncation>, Vec<String>) {
    let mut reader = Reader::new(bytes, "memory");
    let mut n_messages = 0;
    while let Some(item) = reader.next() {
        n_messages += usize::from(matches!(item, Item::Message(_)));
    }
    let truncation = reader.truncation();
    let findings = reader.into_findings().into_vec();
    (n_messages, truncation, findings.iter().map(|d| d.code.to_string()).collect())
}

#[test]
fn cut_at_every_byte_all_whole_chunks_come_back() {
    for compression in [Compression::None, Compression::Lz4, Compression::Zstd] {
        let options = options().compression(compression).chunk_bytes(2000);
        let bytes = written(&options, |w| small_run(w, 30));
        let all = messages_of(&bytes);
        let mut reader = Reader::new(&bytes[..], "memory");
        // The number of messages readable once the file is this long.
        let mut whole_at = vec![(0u64, 0usize)];
        let mut n = 0;
        while let Some(item) = reader.next() {
            n += usize::from(matches!(item, Item::Message(_)));
            let offset = reader.offset();
            whole_at.push((offset, n));
        }
        let mut partial = 0;
        for cut in 0..bytes.len() {
            let got = messages_of(&bytes[..cut]);
            assert!(all.starts_with(&got), "cut at {cut}: not a beginning of what was written");
            let least = whole_at.iter().rev().find(|(end, _)| *end <= cut as u64).unwrap().1;
            assert!(got.len() >= least, "cut at {cut}: {} of {least} messages", got.len());
            partial += usize::from(got.len() > least);
            let (_, truncation, codes) = read_all(&bytes[..cut]);
            let truncation = truncation.expect("cut");
            assert_eq!(truncation.file_bytes, cut as u64);
            assert!(truncation.whole_bytes <= cut as u64);
            assert_eq!(codes, ["recording-cut-off"], "cut at {cut}");
        }
        if compression == Compression::None {
            assert!(partial > 1000, "whole messages of a torn chunk come back too");
        }
        assert_eq!(read_all(&bytes), (all.len(), None, vec![]));
    }
}

/// Every bit of the data section is under a checksum: a damaged byte is noticed, or it
/// changed nothing that was read.
#[test]
fn every_flipped_byte_is_noticed_or_harmless() {
    for compression in [Compression::None, Compression::Lz4, Compression::Zstd] {
        let options = options().compression(compression).chunk_bytes(1500);
        let bytes = written(&options, |w| {
            w.attach("a.txt", "text/plain", b"hello".to_vec())?;
            small_run(w, 12)
        });
        let all = messages_of(&bytes);
        let mut n_noticed = 0;
        for at in 0..bytes.len() {
            for mask in [0x01, 0x80, 0xff] {
                let mut hurt = bytes.clone();
                hurt[at] ^= mask;
                let (_, _, codes) = read_all(&hurt);
                if codes.is_empty() {
                    assert!(messages_of(&hurt) == all, "byte {at}, {compression:?}");
                } else {
                    n_noticed += 1;
                }
            }
        }
        assert!(n_noticed > bytes.len(), "{n_noticed} of {}", 3 * bytes.len());
    }
}

#[test]
fn a_damaged_chunk_costs_only_its_own_messages() {
    let options = options().compression(Compression::None).chunk_bytes(1500);
    let mut bytes = written(&options, |w| small_run(w, 30));
    let all = messages_of(&bytes).len();
    // A number in the middle of the first chunk's messages.
    let at = bytes.windows(10).position(|w| w == b"\x06\0\0\0world\0").unwrap() + 20;
    bytes[at] ^= 0x10;
    let (n, truncation, codes) = read_all(&bytes);
    assert_eq!(codes, ["bad-chunk-crc", "bad-data-crc"]);
    assert!(truncation.is_none() && n > all / 2 && n < all, "{n} of {all}");
}

#[test]
fn lying_sizes_cost_neither_memory_nor_time() {
    let options = options().compression(Compression::Zstd);
    let bytes = written(&options, |w| small_run(w, 5));
    let chunk = bytes.windows(4).position(|w| w == b"zstd").unwrap() - 9 - 32;
    for (at, what) in
        [(1, "length"), (9 + 16, "uncompressed size"), (9 + 32 + 4, "compressed size")]
    {
        for value in [u64::MAX, u64::MAX / 2, 1 << 40, 200 << 20, 0, 1] {
            let mut hurt = bytes.clone();
            hurt[chunk + at..chunk + at + 8].copy_from_slice(&value.to_le_bytes());
            let (_, _, codes) = read_all(&hurt);
            assert!(!codes.is_empty(), "{what} {value}");
        }
    }
}

/// Some kilobytes that claim to define types without end, and a file hidden in a chunk.
#[test]
fn definitions_do_not_unfold_without_end() {
    let record = |opcode: u8, body: &[u8]| {
        [&[opcode][..], &(body.len() as u64).to_le_bytes(), body].concat()
    };
    let schema = |id: u16| {
        let text = vec![b' '; 10 << 20];
        let head = [&id.to_le_bytes()[..], &1u32.to_le_bytes(), b"a", &0u32.to_le_bytes()].concat();
        record(3, &[&head[..], &(text.len() as u32).to_le_bytes(), &text].concat())
    };
    let chunk = |content: &[u8]| {
        let data = zstd::bulk::compress(content, 1).unwrap();
        let head = [&[0; 16][..], &(content.len() as u64).to_le_bytes(), &[0; 4]].concat();
        let name = [&4u32.to_le_bytes()[..], b"zstd"].concat();
        record(6, &[&head[..], &name, &(data.len() as u64).to_le_bytes(), &data].concat())
    };
    let mut bytes = mcap::MAGIC.to_vec();
    bytes.extend((1..50).flat_map(|id| chunk(&schema(id))));
    assert!(bytes.len() < 200_000, "{}", bytes.len());
    assert_eq!(read_all(&bytes).2, ["too-many-definitions"]);
    let metadata = record(12, &[&1u32.to_le_bytes()[..], b"m", &0u32.to_le_bytes()].concat());
    let inside = [mcap::MAGIC, &chunk(&metadata)].concat();
    let mut reader = Reader::new(&inside[..], "memory");
    assert!(reader.next().is_none());
    let outside = [mcap::MAGIC, &metadata].concat();
    let mut reader = Reader::new(&outside[..], "memory");
    assert!(matches!(reader.next(), Some(Item::Metadata { .. })));
}

#[test]
fn what_is_no_recording_is_said_to_be_none() {
    for bytes in [&b"time,x\n0,1\n"[..], b"\x89MCAX0\r\n", b"\x89MCAP1\r\nrest"] {
        assert_eq!(read_all(bytes).2, ["not-mcap"]);
    }
    assert_eq!(read_all(b"").2, ["recording-cut-off"]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, rng_seed: RngSeed::Fixed(7), ..ProptestConfig::default() })]

    /// Random records after a right beginning.
    #[test]
    fn random_records_never_panic(
        records in prop::collection::vec((0u8..0x12, prop::collection::vec(any::<u8>(), 0..80)), 0..20)
    ) {
        let mut bytes = mcap::MAGIC.to_vec();
        for (opcode, body) in records {
            bytes.push(opcode);
            bytes.extend((body.len() as u64).to_le_bytes());
            bytes.extend(body);
        }
        let mut reader = Reader::new(&bytes[..], "random");
        while reader.next().is_some() {}
        prop_assert!(reader.into_findings().into_vec().iter().any(|d| d.severity >= Severity::Warning));
    }

    /// A real recording with a stretch of it overwritten.
    #[test]
    fn overwritten_stretches_never_panic(at in 0usize..4000, stretch in prop::collection::vec(any::<u8>(), 1..60)) {
        let mut bytes = written(&options().chunk_bytes(1500), |w| small_run(w, 12));
        let at = at % bytes.len();
        let end = (at + stretch.len()).min(bytes.len());
        bytes[at..end].copy_from_slice(&stretch[..end - at]);
        read_all(&bytes);
    }
}

/// A text in a record may claim four gigabytes; nobody makes room for it, and what follows
/// is still read.
#[test]
fn lengths_inside_a_record_ask_for_nothing() {
    let bytes = written(&options().compression(Compression::None), |w| {
        w.attach("a.txt", "text/plain", b"hello".to_vec())?;
        w.metadata("facts", [("key".to_string(), "value".to_string())].into())?;
        small_run(w, 3)
    });
    // Where the lengths stand after the nine bytes before each record.
    let lengths = |opcode: u8| match opcode {
        0x01 => vec![0],                           // header: profile
        0x09 => vec![16, 16 + 4 + 5, 16 + 9 + 14], // attachment: name, media type, data
        0x0c => vec![0, 9, 13, 13 + 7],            // metadata: name, map, key, value
        _ => vec![],
    };
    let (mut at, mut n_tried) = (8, 0);
    while bytes[at] != 0x0f {
        let length = u64::from_le_bytes(bytes[at + 1..at + 9].try_into().unwrap()) as usize;
        for place in lengths(bytes[at]) {
            let mut hurt = bytes.clone();
            hurt[at + 9 + place..at + 13 + place].fill(0xff);
            let mut reader = Reader::new(&hurt[..], "memory");
            let mut n_messages = 0;
            while let Some(item) = reader.next() {
                n_messages += usize::from(matches!(item, Item::Message(_)));
            }
            // Said before anything is made of the record.
            let first = reader.into_findings().into_vec().remove(0);
            let said = first.message.ends_with("a length in it reaches past its end");
            assert!(said, "record {:#x} at {place}: {}", bytes[at], first.message);
            assert_eq!(first.code, "bad-record");
            assert_eq!(n_messages, messages_of(&bytes).len());
            n_tried += 1;
        }
        at += 9 + length;
    }
    assert!(n_tried >= 8, "{n_tried}");
}
