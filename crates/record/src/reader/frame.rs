//! The framing of records and chunks, of which no number is believed.

use std::ops::Range;

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
