//! The framing of records and chunks, of which no number is believed.

use std::ops::Range;

use mcap::records::op;

use super::RECORD_BYTES_MAX;

/// Opcode and length before every record.
pub(super) fn frame(bytes: &[u8]) -> Option<(u8, u64)> {
    let head = bytes.first_chunk::<9>()?;
    Some((head[0], u64::from_le_bytes(head[1..].try_into().expect("eight bytes"))))
}

/// The fields before the data of a chunk, and where in the record the data lies.
pub(super) struct ChunkHead {
    pub uncompressed_bytes: u64,
    pub crc: u32,
    pub compression: String,
    pub data: Range<usize>,
}

impl ChunkHead {
    /// `whole` says whether all of the data must be there.
    pub fn parse(record: &[u8], whole: bool) -> Result<ChunkHead, String> {
        let torn = || "its header is torn".to_string();
        let (head, rest) = record.split_first_chunk::<32>().ok_or_else(torn)?;
        let uncompressed_bytes = u64::from_le_bytes(head[16..24].try_into().expect("eight bytes"));
        let crc = u32::from_le_bytes(head[24..28].try_into().expect("four bytes"));
        let name_bytes = u32::from_le_bytes(head[28..32].try_into().expect("four bytes")) as usize;
        let (name, rest) = rest.split_at_checked(name_bytes).ok_or_else(torn)?;
        let (data_bytes, rest) = rest.split_first_chunk::<8>().ok_or_else(torn)?;
        let data_bytes = usize::try_from(u64::from_le_bytes(*data_bytes)).unwrap_or(usize::MAX);
        if uncompressed_bytes > RECORD_BYTES_MAX {
            return Err(format!("it claims {uncompressed_bytes} bytes"));
        }
        if whole && data_bytes > rest.len() {
            return Err(format!("its data claims {data_bytes} bytes of {}", rest.len()));
        }
        let start = record.len() - rest.len();
        Ok(ChunkHead {
            uncompressed_bytes,
            crc,
            compression: String::from_utf8_lossy(name).into_owned(),
            data: start..start + data_bytes.min(rest.len()),
        })
    }
}

/// What stands in a record, one after the other.
enum Part {
    /// So many bytes.
    Fixed(usize),
    /// Bytes after their number, in four bytes.
    Text,
    /// Pairs of texts after the length of all, in four bytes.
    Map,
    /// Bytes after their number, in eight bytes.
    Data,
}

/// Whether every length inside a record fits into it. `mcap` makes room for a text before it
/// looks whether the text is there, and one flipped bit would ask for four gigabytes.
pub(super) fn lengths_fit(opcode: u8, record: &[u8]) -> bool {
    use Part::{Data, Fixed, Map, Text};
    let parts: &[Part] = match opcode {
        op::HEADER => &[Text, Text],
        op::SCHEMA => &[Fixed(2), Text, Text, Text],
        op::CHANNEL => &[Fixed(4), Text, Text, Map],
        op::ATTACHMENT => &[Fixed(16), Text, Text, Data, Fixed(4)],
        op::METADATA => &[Text, Map],
        _ => &[],
    };
    let mut rest = record;
    parts.iter().all(|part| match part {
        Fixed(n_bytes) => taken(&mut rest, *n_bytes as u64).is_some(),
        Text => text(&mut rest).is_some(),
        Map => text(&mut rest).is_some_and(|mut pairs| {
            while !pairs.is_empty() {
                if text(&mut pairs).and_then(|_| text(&mut pairs)).is_none() {
                    return false;
                }
            }
            true
        }),
        Data => taken(&mut rest, 8)
            .and_then(|head| taken(&mut rest, u64::from_le_bytes(head.try_into().ok()?)))
            .is_some(),
    })
}

/// Bytes after their number.
fn text<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let head = taken(rest, 4)?.try_into().ok()?;
    taken(rest, u32::from_le_bytes(head).into())
}

fn taken<'a>(rest: &mut &'a [u8], n_bytes: u64) -> Option<&'a [u8]> {
    let (head, tail) = rest.split_at_checked(usize::try_from(n_bytes).ok()?)?;
    *rest = tail;
    Some(head)
}
