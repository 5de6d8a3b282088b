//! A ROS 1 bag, version 2.0, from its first byte to its last: messages go in as ROS 1 wrote
//! them, and come out as ROS 2 would have.
//!
//! The two differ little: CDR aligns numbers and ends texts with a zero, a header has lost its
//! `seq`, and times are a message. So a definition is rewritten once per connection, and each
//! message is copied field by field. Indexes are not trusted and not needed. Chunks may be
//! plain, bzip2 or LZ4.

use std::collections::BTreeMap;
use std::io::{self, Read};

use crate::bzip2;
use crate::container::Container;
use crate::dynamic::Definition;
use crate::reader::RECORD_BYTES_MAX;
use crate::stream::{Stored, put};

const FIRST_LINE: &[u8] = b"#ROSBAG V2.0\n";
/// Longest header of a record; they have some hundred bytes, definitions apart.
const HEADER_BYTES_MAX: usize = 16 << 20;

mod op {
    pub const MESSAGE: u8 = 2;
    pub const CHUNK: u8 = 5;
    pub const CONNECTION: u8 = 7;
}

struct Connection {
    channel: u16,
    /// With the `seq` of headers; `None` where nobody can read it.
    definition: Option<Definition>,
}

/// A bag on its way.
pub(crate) struct Bag<R> {
    input: R,
    has_begun: bool,
    /// The decompressed chunk at hand.
    chunk: Vec<u8>,
    at: usize,
    connections: BTreeMap<u32, Connection>,
    n_channels: u16,
    n_bad: u64,
}

impl<R: Read> Bag<R> {
    pub fn new(input: R) -> Bag<R> {
        Bag {
            input,
            has_begun: false,
            chunk: Vec::new(),
            at: 0,
            connections: BTreeMap::new(),
            n_channels: 0,
            n_bad: 0,
        }
    }

    /// The next record of the file; `None` at its end.
    fn file_record(&mut self) -> io::Result<Option<(Vec<u8>, Vec<u8>)>> {
        let mut length = [0; 4];
        match self.input.read(&mut length[..1])? {
            0 => return Ok(None),
            _ => self.input.read_exact(&mut length[1..])?,
        }
        let header = self.bytes(u32::from_le_bytes(length) as usize, HEADER_BYTES_MAX)?;
        self.input.read_exact(&mut length)?;
        let data = self.bytes(u32::from_le_bytes(length) as usize, RECORD_BYTES_MAX as usize)?;
        Ok(Some((header, data)))
    }

    /// Grows as bytes arrive: a lying length costs nothing.
    fn bytes(&mut self, n: usize, most: usize) -> io::Result<Vec<u8>> {
        if n > most {
            return Err(broken("a record is too long"));
        }
        let mut out = Vec::new();
        (&mut self.input).take(n as u64).read_to_end(&mut out)?;
        if out.len() == n { Ok(out) } else { Err(broken("it ends within a record")) }
    }

    fn record(&mut self, header: &[u8], data: &[u8], out: &mut Container) -> io::Result<()> {
        let fields = Fields(header);
        match fields.get(b"op")?.first() {
            Some(&op::CHUNK) => {
                (self.chunk, self.at) = (unpacked(fields.get(b"compression")?, data, &fields)?, 0);
            }
            Some(&op::CONNECTION) => {
                self.connection(fields.number(b"conn")?, &fields, data, out)?
            }
            Some(&op::MESSAGE) => {
                let time = fields.get(b"time")?;
                let part = |at: usize| {
                    let bytes = time.get(at..at + 4).and_then(|four| four.try_into().ok());
                    bytes.map(u32::from_le_bytes).ok_or_else(|| broken("a time is cut"))
                };
                let nanos = i64::from(part(0)?) * 1_000_000_000 + i64::from(part(4)?);
                self.message(fields.number(b"conn")?, nanos, data, out);
            }
            _ => {} // the bag's own header and its indexes
        }
        Ok(())
    }

    fn connection(
        &mut self,
        number: u32,
        fields: &Fields,
        data: &[u8],
        out: &mut Container,
    ) -> io::Result<()> {
        if self.connections.contains_key(&number) {
            return Ok(());
        }
        if self.n_channels == u16::MAX {
            return Err(broken("it has too many connections"));
        }
        let about = Fields(data);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (topic, name) = (text(fields.get(b"topic")?), text(about.get(b"type")?));
        let definition = text(about.get(b"message_definition")?);
        let schema = match name.as_str() {
            "tf/tfMessage" => "tf2_msgs/msg/TFMessage".to_string(),
            name => name.replacen('/', "/msg/", 1),
        };
        let with_seq = Definition::parse(&schema, &as_ros2(&name, &definition, true)).ok();
        out.channel(&topic, &schema, &as_ros2(&name, &definition, false), &BTreeMap::new());
        self.n_channels += 1;
        let connection = Connection { channel: self.n_channels, definition: with_seq };
        self.connections.insert(number, connection);
        Ok(())
    }

    fn message(&mut self, number: u32, nanos: i64, data: &[u8], out: &mut Container) {
        let known = self.connections.get(&number);
        let cdr = known
            .and_then(|known| Some((known.channel, known.definition.as_ref()?.cdr_of_ros1(data)?)));
        match cdr {
            Some((channel, payload)) => put(out, channel, nanos, &payload),
            None => self.n_bad += 1,
        }
    }
}

impl<R: Read> Stored for Bag<R> {
    fn step(&mut self, out: &mut Container) -> io::Result<bool> {
        if !std::mem::replace(&mut self.has_begun, true) {
            let mut line = [0; FIRST_LINE.len()];
            self.input.read_exact(&mut line)?;
            if line != FIRST_LINE {
                return Err(broken("only bags of version 2.0 are read"));
            }
        }
        if self.at < self.chunk.len() {
            let chunk = std::mem::take(&mut self.chunk);
            let parted = part(&chunk[self.at..]);
            let done = parted.and_then(|(header, data, n)| {
                self.at += n;
                self.record(header, data, out)
            });
            self.chunk = chunk;
            return done.map(|()| true);
        }
        if let Some((header, data)) = self.file_record()? {
            self.record(&header, &data, out)?;
            return Ok(true);
        }
        match std::mem::take(&mut self.n_bad) {
            0 => Ok(false),
            n => Err(broken(&format!("{n} messages do not fit their definitions"))),
        }
    }
}

fn broken(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_string())
}

/// Header, data and length of the record at the start of some bytes.
fn part(bytes: &[u8]) -> io::Result<(&[u8], &[u8], usize)> {
    let cut = || broken("a chunk ends within a record");
    let length = |at: usize| -> Option<usize> {
        let four = bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
        Some(u32::from_le_bytes(four) as usize)
    };
    let n_header = length(0).ok_or_else(cut)?;
    let n_data = length(4 + n_header).ok_or_else(cut)?;
    let header = bytes.get(4..4 + n_header).ok_or_else(cut)?;
    let data = bytes.get(8 + n_header..8 + n_header + n_data).ok_or_else(cut)?;
    Ok((header, data, 8 + n_header + n_data))
}

fn unpacked(compression: &[u8], data: &[u8], fields: &Fields) -> io::Result<Vec<u8>> {
    match compression {
        b"none" => Ok(data.to_vec()),
        b"lz4" => {
            let size = u64::from(fields.number(b"size")?).min(RECORD_BYTES_MAX);
            let mut out = Vec::new();
            lz4::Decoder::new(data)?.take(size).read_to_end(&mut out)?;
            Ok(out)
        }
        b"bz2" => {
            let size = u64::from(fields.number(b"size")?).min(RECORD_BYTES_MAX);
            bzip2::unpack(data, size as usize)
        }
        other => {
            let name = String::from_utf8_lossy(other);
            Err(broken(&format!("its chunks are `{name:.20}`; `rosbag decompress` undoes that")))
        }
    }
}

/// `name=value` fields, each with its length before it.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn get(&self, wanted: &[u8]) -> io::Result<&'a [u8]> {
        let mut rest = self.0;
        while let Some((four, after)) = rest.split_first_chunk::<4>() {
            let n = u32::from_le_bytes(*four) as usize;
            let Some(field) = after.get(..n) else { break };
            let cut = field.iter().position(|byte| *byte == b'=');
            if let Some(at) = cut.filter(|at| field[..*at] == *wanted) {
                return Ok(&field[at + 1..]);
            }
            rest = &after[n..];
        }
        Err(broken(&format!("a record has no `{}`", String::from_utf8_lossy(wanted))))
    }

    fn number(&self, wanted: &[u8]) -> io::Result<u32> {
        let four = self.get(wanted)?.try_into();
        four.map(u32::from_le_bytes).map_err(|_| broken("a number of a record is cut"))
    }
}

/// A definition of ROS 1 in the words of ROS 2. Constants are left out: no message has them.
fn as_ros2(name: &str, text: &str, keeps_seq: bool) -> String {
    let mut out = String::new();
    let mut section = name.to_string();
    let (mut has_time, mut has_duration) = (false, false);
    for line in text.lines() {
        let code = line.split('#').next().unwrap_or_default().trim();
        if code.len() >= 3 && code.bytes().all(|byte| byte == b'=') {
            out += &format!("{}\n", "=".repeat(80));
            continue;
        }
        if let Some(name) = code.strip_prefix("MSG:") {
            section = name.trim().to_string();
            out += &format!("MSG: {section}\n");
            continue;
        }
        let mut words = code.split_whitespace();
        let (Some(kind), Some(field)) = (words.next(), words.next()) else { continue };
        if code.contains('=') {
            continue;
        }
        let is_header = section == "std_msgs/Header" || section == "Header";
        if is_header && field == "seq" && !keeps_seq {
            continue;
        }
        let (base, list) = kind.find('[').map_or((kind, ""), |at| kind.split_at(at));
        let base = match base {
            "time" => {
                has_time = true;
                "builtin_interfaces/Time"
            }
            "duration" => {
                has_duration = true;
                "builtin_interfaces/Duration"
            }
            "Header" => "std_msgs/Header",
            "char" => "uint8",
            "byte" => "int8",
            other => other,
        };
        out += &format!("{base}{list} {field}\n");
    }
    let rule = "=".repeat(80);
    if has_time {
        out += &format!("{rule}\nMSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n");
    }
    if has_duration {
        out += &format!("{rule}\nMSG: builtin_interfaces/Duration\nint32 sec\nuint32 nanosec\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(fields: &[(&str, &[u8])], data: &[u8]) -> Vec<u8> {
        let field = |(name, value): &(&str, &[u8])| {
            let length = (name.len() + 1 + value.len()) as u32;
            [&length.to_le_bytes()[..], name.as_bytes(), b"=", value].concat()
        };
        let header = fields.iter().flat_map(field).collect::<Vec<u8>>();
        let lengths = [header.len() as u32, data.len() as u32].map(u32::to_le_bytes);
        [&lengths[0][..], &header, &lengths[1], data].concat()
    }

    fn fields(all: &[(&str, &[u8])]) -> Vec<u8> {
        let whole = record(all, &[]);
        whole[4..whole.len() - 4].to_vec()
    }

    /// One topic of numbers with three messages in a chunk.
    fn bag() -> Vec<u8> {
        let zero = 0u32.to_le_bytes();
        let about = fields(&[
            ("topic", b"/n"),
            ("type", b"std_msgs/Float64"),
            ("message_definition", b"float64 data\n"),
        ]);
        let head = [("op", &[op::CONNECTION][..]), ("conn", &zero), ("topic", b"/n")];
        let mut chunk = record(&head, &about);
        for i in 1..=3u8 {
            let time = [0, 0, 0, 0, i, 0, 0, 0];
            let head = [("op", &[op::MESSAGE][..]), ("conn", &zero), ("time", &time)];
            chunk.extend(record(&head, &f64::from(i).to_le_bytes()));
        }
        let size = (chunk.len() as u32).to_le_bytes();
        let head = [("op", &[op::CHUNK][..]), ("compression", b"none"), ("size", &size)];
        [FIRST_LINE, &record(&[("op", &[3])], b"   "), &record(&head, &chunk)].concat()
    }

    fn numbers(bytes: &[u8]) -> (Vec<f64>, usize) {
        crate::stream::numbers(bytes, "x.bag", None)
    }

    #[test]
    fn a_small_bag_and_every_damage_to_it() {
        let whole = bag();
        assert_eq!(numbers(&whole), (vec![1.0, 2.0, 3.0], 0));
        let n = whole.len();
        for cut in 0..n {
            numbers(&whole[..cut]);
        }
        for at in 0..n {
            for byte in [0, 1, 0x7f, 0xff] {
                let mut bytes = whole.clone();
                bytes[at] = byte;
                numbers(&bytes);
            }
        }
    }

    /// The same bag as `rosbag compress` leaves it: its chunk is bzip2.
    #[test]
    fn a_packed_bag_says_the_same() {
        let packed = include_bytes!("../tests/data/numbers_bz2.bag");
        assert_eq!(numbers(packed), (vec![1.0, 2.0, 3.0], 0));
        for at in 0..packed.len() {
            let mut bytes = packed.to_vec();
            bytes[at] ^= 0x10;
            numbers(&bytes);
        }
    }

    #[test]
    fn definitions_are_rewritten() {
        let text = "# a pose\nuint8 FLAT=1\nHeader header\nfloat64[3] xyz # place\n\
                    ====\nMSG: std_msgs/Header\nuint32 seq\ntime stamp\nstring frame_id\n";
        let written = as_ros2("a/B", text, false);
        assert!(written.starts_with("std_msgs/Header header\nfloat64[3] xyz\n====="), "{written}");
        assert!(!written.contains("seq") && written.ends_with("int32 sec\nuint32 nanosec\n"));
        let definition = Definition::parse("a/msg/B", &as_ros2("a/B", text, true)).unwrap();
        let mut ros1 = vec![7, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0];
        ros1.extend_from_slice(b"map");
        [1.5f64, 2.5, 3.5].iter().for_each(|x| ros1.extend_from_slice(&x.to_le_bytes()));
        let cdr = definition.cdr_of_ros1(&ros1).unwrap();
        let value = Definition::parse("a/msg/B", &written).unwrap().decode(&cdr).unwrap();
        assert_eq!(
            value.to_json().to_string(),
            r#"{"header":{"stamp":{"sec":1,"nanosec":2},"frame_id":"map"},"xyz":[1.5,2.5,3.5]}"#
        );
        assert_eq!(definition.cdr_of_ros1(&ros1[..20]), None);
    }
}
