//! Messages to and from CDR bytes.
//!
//! A payload is four bytes that say how the rest is encoded (`00 01 00 00`: plain CDR,
//! little endian), then the fields, each aligned to its size counted from after those four.

use byteorder::{BigEndian, LittleEndian};
use headland_base::{Diagnostic, SimTime};
use serde::Serialize;

use crate::messages::{Message, Time};

/// The four bytes before every payload we write: plain CDR, little endian.
pub(crate) const CDR_LITTLE_ENDIAN: [u8; 4] = [0, 1, 0, 0];

/// The CDR bytes of a value, appended to `out`.
pub(crate) fn encode_into<T: Serialize>(value: &T, out: &mut Vec<u8>) {
    out.extend_from_slice(&CDR_LITTLE_ENDIAN);
    cdr_encoding::to_writer::<T, LittleEndian, _>(&mut *out, value)
        .expect("our message types have only what CDR can say, and a Vec takes every byte");
}

/// CDR bytes put down field by field: what the serde encoder does at several times the cost,
/// for the few messages that are nearly all of a recording. Tests hold the two equal.
pub(crate) struct Encoder<'a> {
    out: &'a mut Vec<u8>,
    /// Where alignment counts from.
    body: usize,
}

impl<'a> Encoder<'a> {
    /// Appends to `out`, beginning with the four bytes that go before.
    pub(crate) fn new(out: &'a mut Vec<u8>) -> Encoder<'a> {
        out.extend_from_slice(&CDR_LITTLE_ENDIAN);
        Encoder { body: out.len(), out }
    }

    fn align(&mut self, size: usize) {
        let n_zeros = (self.out.len() - self.body).wrapping_neg() % size;
        self.out.extend_from_slice(&[0; 8][..n_zeros]);
    }

    /// Four bytes.
    pub(crate) fn word(&mut self, word: [u8; 4]) {
        self.align(4);
        self.out.extend_from_slice(&word);
    }

    /// A string: its length with the closing zero, its bytes, the zero.
    pub(crate) fn text(&mut self, text: &str) {
        self.word((text.len() as u32 + 1).to_le_bytes());
        self.out.extend_from_slice(text.as_bytes());
        self.out.push(0);
    }

    /// Doubles in a row, put down in one go.
    pub(crate) fn doubles<const N: usize>(&mut self, numbers: [f64; N]) {
        self.align(8);
        self.out.extend_from_slice(numbers.map(f64::to_le_bytes).as_flattened());
    }
}

/// The CDR bytes of a message, with the four bytes that go before.
pub fn encode<M: Message>(message: &M) -> Vec<u8> {
    let mut out = Vec::new();
    encode_into(message, &mut out);
    out
}

/// The same of a message whose last field of many bytes was left out: they are put down in one go.
/// A picture is nothing but such bytes. Behind them stand `n_flags` more fields of a byte each.
pub fn encode_with_data<M: Message>(without_data: &M, data: &[u8], n_flags: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(data.len() + 256);
    encode_into(without_data, &mut out);
    let flags = out.split_off(out.len() - n_flags);
    // The field before is a length of four bytes, of nothing so far.
    out.truncate(out.len() - 4);
    out.extend_from_slice(&(data.len() as u32).to_le_bytes());
    out.extend_from_slice(data);
    out.extend_from_slice(&flags);
    out
}

/// A message from its CDR bytes, either endianness.
pub fn decode<M: Message>(payload: &[u8]) -> Result<M, Diagnostic> {
    let (head, body) = split_payload(payload)?;
    let decoded = match head {
        Endian::Little => cdr_encoding::from_bytes::<M, LittleEndian>(body),
        Endian::Big => cdr_encoding::from_bytes::<M, BigEndian>(body),
    };
    decoded.map(|(message, _)| message).map_err(|fault| {
        Diagnostic::error(
            "bad-message",
            format!("{} bytes are not a `{}`: {fault}", payload.len(), M::KIND.name()),
        )
    })
}

/// Stamp, frame and numbers of a message that is a header and `N` doubles: nearly all there
/// are. `None` where it is not little endian, too short or no text; [`decode`] then says why.
pub(crate) fn decode_stamped<const N: usize>(payload: &[u8]) -> Option<(SimTime, &str, [f64; N])> {
    let body = payload.strip_prefix(&CDR_LITTLE_ENDIAN)?;
    let word = |at: usize| body.get(at..at + 4)?.first_chunk::<4>().copied();
    let stamp = Time { sec: i32::from_le_bytes(word(0)?), nanosec: u32::from_le_bytes(word(4)?) };
    let n_text = u32::from_le_bytes(word(8)?) as usize;
    let (text, rest) = body[12..].split_at_checked(n_text)?;
    let frame_id = std::str::from_utf8(text.strip_suffix(&[0])?).ok()?;
    let n_padding = (8 - (12 + n_text) % 8) % 8;
    let (doubles, _) = rest.get(n_padding..)?.split_at_checked(8 * N)?;
    let mut numbers = [0.0; N];
    for (number, bytes) in numbers.iter_mut().zip(doubles.chunks_exact(8)) {
        *number = f64::from_le_bytes(bytes.try_into().ok()?);
    }
    Some((stamp.sim(), frame_id, numbers))
}

/// Byte order of a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Endian {
    Little,
    Big,
}

/// The byte order a payload announces, and the rest of it.
pub(crate) fn split_payload(payload: &[u8]) -> Result<(Endian, &[u8]), Diagnostic> {
    let Some((head, body)) = payload.split_first_chunk::<4>() else {
        return Err(Diagnostic::error(
            "bad-message",
            format!("a payload of {} bytes is shorter than its own header of 4", payload.len()),
        ));
    };
    match head[..2] {
        [0, 1] => Ok((Endian::Little, body)),
        [0, 0] => Ok((Endian::Big, body)),
        [a, b] => Err(Diagnostic::error(
            "unknown-encapsulation",
            format!("the payload says it is encoded as {a:#04x} {b:#04x}, which is not plain CDR"),
        )),
        _ => unreachable!("two bytes were taken"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::{Float64, Header, Image, JointState, PointCloud2, PoseStamped};
    use headland_base::Transform;
    use headland_base::maths::{Quat, Vec3};

    /// What is put in between is what the whole message encodes to.
    #[test]
    fn data_put_down_in_one_go_are_the_same_bytes() {
        let data: Vec<u8> = (0..=200).collect();
        let whole = Image { width: 67, data: data.clone(), ..Image::default() };
        let bare = Image { data: Vec::new(), ..whole.clone() };
        assert_eq!(encode_with_data(&bare, &data, 0), encode(&whole));
        let whole = PointCloud2 { is_dense: true, data: data.clone(), ..PointCloud2::default() };
        let bare = PointCloud2 { data: Vec::new(), ..whole.clone() };
        assert_eq!(encode_with_data(&bare, &data, 1), encode(&whole));
    }

    #[test]
    fn a_message_comes_back_and_padding_counts_from_after_the_header() {
        let message = PoseStamped {
            header: Header::new(SimTime::from_nanos(1_500_000_000), "world"),
            pose: (&Transform::from_translation(Vec3::new(1.0, 2.0, 3.0))).into(),
        };
        let bytes = encode(&message);
        // 4 + stamp 8 + length 4 + "world\0" 6 + padding 6 + seven doubles.
        assert_eq!(bytes.len(), 4 + 8 + 4 + 6 + 6 + 56);
        assert_eq!(decode::<PoseStamped>(&bytes).unwrap(), message);
    }

    #[test]
    fn the_quick_road_reads_what_the_decoder_reads() {
        for n in 0..12 {
            let pose = Transform::from_translation(Vec3::new(1.0, -0.0, f64::INFINITY));
            let header = Header::new(SimTime::from_nanos(-7), &"frame_name_x"[..n]);
            let message = PoseStamped { header, pose: (&pose).into() };
            let bytes = encode(&message);
            let (time, frame, n) = decode_stamped::<7>(&bytes).unwrap();
            assert_eq!((time.nanos(), frame), (-7, message.header.frame_id.as_str()));
            let quick = Transform::new(
                Quat::from_xyzw(n[3], n[4], n[5], n[6]),
                Vec3::new(n[0], n[1], n[2]),
            );
            assert_eq!(quick, pose);
            for cut in 0..bytes.len() {
                assert!(decode_stamped::<7>(&bytes[..cut]).is_none());
            }
        }
    }

    #[test]
    fn big_endian_is_read_and_the_unknown_is_refused() {
        let mut bytes = vec![0, 0, 0, 0];
        bytes.extend(1.25f64.to_be_bytes());
        assert_eq!(decode::<Float64>(&bytes).unwrap(), Float64 { data: 1.25 });
        bytes[1] = 7;
        assert_eq!(decode::<Float64>(&bytes).unwrap_err().code, "unknown-encapsulation");
        assert_eq!(decode::<Float64>(&bytes[..3]).unwrap_err().code, "bad-message");
    }

    #[test]
    fn a_lying_length_is_a_diagnostic() {
        let mut bytes = CDR_LITTLE_ENDIAN.to_vec();
        bytes.extend([0; 8]); // stamp
        bytes.extend(u32::MAX.to_le_bytes()); // length of frame_id
        assert_eq!(decode::<JointState>(&bytes).unwrap_err().code, "bad-message");
    }
}
