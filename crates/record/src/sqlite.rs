//! A ROS 2 bag in a SQLite database, the storage of older releases.
//!
//! Three tables are read from their first row to their last: `topics`, `messages` and, where
//! there is one, `message_definitions`. That takes the pages of a table and the rows in them,
//! and no SQL; so a page is held at a time, and a file that lies about itself is refused. The
//! library made for such files would bring a quarter of a million lines of C for three tables.
//!
//! Deliberately absent: writing, indexes, and what a recorder that was killed left in a
//! `-wal` file beside the database, which is said where there is one (`stream`).

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use crate::container::Container;
use crate::messages::Kind;
use crate::reader::RECORD_BYTES_MAX;
use crate::stream::{Stored, put};

/// Most rows of the tables beside the messages.
const ROWS_MAX: usize = 100_000;
/// Deepest tree of pages; a terabyte has six levels.
const DEPTH_MAX: usize = 24;

fn broken(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_string())
}

/// A bag on its way.
pub(crate) struct Database {
    pages: Pages,
    messages: Walk,
    /// By the number of the topic: name, type, definition.
    topics: BTreeMap<i64, Topic>,
    n_channels: u16,
    /// Types without a definition, which nobody can read.
    unknown: Vec<String>,
}

struct Topic {
    name: String,
    kind: String,
    definition: Option<String>,
    channel: Option<u16>,
}

impl Database {
    pub fn open(file: File) -> io::Result<Database> {
        let mut pages = Pages::open(file)?;
        let mut roots: BTreeMap<String, u32> = BTreeMap::new();
        for (_, row) in pages.rows(1)? {
            if let [Cell::Bytes(kind), Cell::Bytes(name), _, Cell::Int(root), ..] = &row[..]
                && kind == b"table"
            {
                let root = u32::try_from(*root).map_err(|_| broken("a table has no pages"))?;
                roots.insert(String::from_utf8_lossy(name).into_owned(), root);
            }
        }
        let root = |name: &str| {
            roots.get(name).copied().ok_or_else(|| broken(&format!("it has no table `{name}`")))
        };
        let text = |cell: &Cell| match cell {
            Cell::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            _ => String::new(),
        };
        let mut definitions: BTreeMap<String, String> = BTreeMap::new();
        if let Some(root) = roots.get("message_definitions") {
            for (_, row) in pages.rows(*root)? {
                if let [_, kind, encoding, definition, ..] = &row[..]
                    && text(encoding) == "ros2msg"
                {
                    definitions.insert(text(kind), text(definition));
                }
            }
        }
        let mut topics = BTreeMap::new();
        for (number, row) in pages.rows(root("topics")?)? {
            if let [_, name, kind, ..] = &row[..] {
                let (name, kind) = (text(name), text(kind));
                let definition = match Kind::from_name(&kind) {
                    Some(known) => Some(known.definition()),
                    None => definitions.get(&kind).filter(|text| !text.is_empty()).cloned(),
                };
                topics.insert(number, Topic { name, kind, definition, channel: None });
            }
        }
        let messages = Walk::new(root("messages")?);
        Ok(Database { pages, messages, topics, n_channels: 0, unknown: Vec::new() })
    }
}

impl Stored for Database {
    fn step(&mut self, out: &mut Container) -> io::Result<bool> {
        let Some((_, row)) = self.messages.next(&mut self.pages)? else {
            let unknown = std::mem::take(&mut self.unknown);
            return match unknown.is_empty() {
                true => Ok(false),
                false => Err(broken(&format!("it has no definition of {}", unknown.join(", ")))),
            };
        };
        let [_, Cell::Int(topic), Cell::Int(nanos), Cell::Bytes(payload), ..] = &row[..] else {
            return Err(broken("a row of `messages` is no message"));
        };
        let Some(topic) = self.topics.get_mut(topic) else { return Ok(true) };
        let Some(definition) = &topic.definition else {
            if !self.unknown.contains(&topic.kind) {
                self.unknown.push(topic.kind.clone());
            }
            return Ok(true);
        };
        let channel = match topic.channel {
            Some(channel) => channel,
            None => {
                self.n_channels = self
                    .n_channels
                    .checked_add(1)
                    .ok_or_else(|| broken("it has too many topics"))?;
                out.channel(&topic.name, &topic.kind, definition, &BTreeMap::new());
                topic.channel = Some(self.n_channels);
                self.n_channels
            }
        };
        put(out, channel, *nanos, payload);
        Ok(true)
    }
}

// --- pages -------------------------------------------------------------------------------

/// What stands in a cell of a row.
#[derive(Clone, Debug, PartialEq)]
enum Cell {
    Null,
    Int(i64),
    Real,
    /// A text or a blob.
    Bytes(Vec<u8>),
}

type Row = (i64, Vec<Cell>);

struct Pages {
    file: File,
    page_bytes: usize,
    /// Of a page, what is used by SQLite itself.
    usable: usize,
    n_pages: u32,
}

impl Pages {
    fn open(mut file: File) -> io::Result<Pages> {
        let mut head = [0; 100];
        file.read_exact(&mut head)?;
        let page_bytes = match u16::from_be_bytes([head[16], head[17]]) {
            1 => 65_536,
            n => usize::from(n),
        };
        if !(512..=65_536).contains(&page_bytes) || !page_bytes.is_power_of_two() {
            return Err(broken("its pages have no size"));
        }
        let usable = page_bytes - usize::from(head[20]);
        if usable < 480 {
            return Err(broken("its pages have no room"));
        }
        let n_pages = file.metadata()?.len() / page_bytes as u64;
        Ok(Pages { file, page_bytes, usable, n_pages: u32::try_from(n_pages).unwrap_or(u32::MAX) })
    }

    fn page(&mut self, number: u32) -> io::Result<Vec<u8>> {
        if number == 0 || number > self.n_pages {
            return Err(broken("it names a page it does not have"));
        }
        self.file.seek(SeekFrom::Start(u64::from(number - 1) * self.page_bytes as u64))?;
        let mut bytes = vec![0; self.page_bytes];
        self.file.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// All rows of a small table.
    fn rows(&mut self, root: u32) -> io::Result<Vec<Row>> {
        let (mut walk, mut rows) = (Walk::new(root), Vec::new());
        while let Some(row) = walk.next(self)? {
            rows.push(row);
            if rows.len() > ROWS_MAX {
                return Err(broken("a table beside the messages has too many rows"));
            }
        }
        Ok(rows)
    }

    /// The content of a row that begins at `at` of a page and may go on in others.
    fn payload(&mut self, page: &[u8], at: usize, length: u64) -> io::Result<Vec<u8>> {
        let cut = || broken("a row is cut");
        let n_all = u64::from(self.n_pages) * self.page_bytes as u64;
        let most = RECORD_BYTES_MAX.min(n_all);
        let length = usize::try_from(length).ok().filter(|n| *n as u64 <= most);
        let length = length.ok_or_else(|| broken("a row is too long"))?;
        let most = self.usable - 35;
        if length <= most {
            return Ok(page.get(at..at + length).ok_or_else(cut)?.to_vec());
        }
        let least = (self.usable - 12) * 32 / 255 - 23;
        let fitting = least + (length - least) % (self.usable - 4);
        let n_here = if fitting <= most { fitting } else { least };
        let mut out = page.get(at..at + n_here).ok_or_else(cut)?.to_vec();
        let mut next = number_at(page, at + n_here).ok_or_else(cut)?;
        while out.len() < length {
            let more = self.page(next)?;
            let n = (length - out.len()).min(self.usable - 4);
            out.extend_from_slice(&more[4..4 + n]);
            next = number_at(&more, 0).ok_or_else(cut)?;
        }
        Ok(out)
    }
}

fn number_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// A number of one to nine bytes, and where it ends.
fn varint(bytes: &[u8], mut at: usize) -> Option<(u64, usize)> {
    let mut value = 0u64;
    for i in 0..9 {
        let byte = *bytes.get(at)?;
        at += 1;
        if i == 8 {
            return Some((value << 8 | u64::from(byte), at));
        }
        value = value << 7 | u64::from(byte & 0x7f);
        if byte < 0x80 {
            break;
        }
    }
    Some((value, at))
}

/// A way through the rows of a table, in the order of their numbers.
struct Walk {
    /// Pages from the root to the one at hand, each with the next of its cells.
    stack: Vec<(u32, Vec<u8>, usize)>,
    root: Option<u32>,
    n_visited: u64,
}

impl Walk {
    fn new(root: u32) -> Walk {
        Walk { stack: Vec::new(), root: Some(root), n_visited: 0 }
    }

    fn enter(&mut self, pages: &mut Pages, number: u32) -> io::Result<()> {
        self.n_visited += 1;
        if self.stack.len() >= DEPTH_MAX || self.n_visited > u64::from(pages.n_pages) {
            return Err(broken("its pages go round in circles"));
        }
        let page = pages.page(number)?;
        self.stack.push((number, page, 0));
        Ok(())
    }

    fn next(&mut self, pages: &mut Pages) -> io::Result<Option<Row>> {
        let cut = || broken("a page is cut");
        if let Some(root) = self.root.take() {
            self.enter(pages, root)?;
        }
        loop {
            let Some((number, page, at)) = self.stack.last_mut() else { return Ok(None) };
            let start = if *number == 1 { 100 } else { 0 };
            let kind = page[start];
            let n_cells = usize::from(u16::from_be_bytes([page[start + 3], page[start + 4]]));
            let head = if kind == 5 { 12 } else { 8 };
            let (i, place) = (*at, start + head + 2 * *at);
            *at += 1;
            let cell = || -> Option<usize> {
                Some(usize::from(u16::from_be_bytes(page.get(place..place + 2)?.try_into().ok()?)))
            };
            match kind {
                5 if i < n_cells => {
                    let child = cell().and_then(|cell| number_at(page, cell)).ok_or_else(cut)?;
                    self.enter(pages, child)?;
                }
                5 if i == n_cells => {
                    let last = number_at(page, start + 8).ok_or_else(cut)?;
                    self.enter(pages, last)?;
                }
                13 if i < n_cells => {
                    let cell = cell().ok_or_else(cut)?;
                    let (length, at) = varint(page, cell).ok_or_else(cut)?;
                    let (row, at) = varint(page, at).ok_or_else(cut)?;
                    let page = std::mem::take(page);
                    let payload = pages.payload(&page, at, length);
                    if let Some(top) = self.stack.last_mut() {
                        top.1 = page;
                    }
                    return Ok(Some((row as i64, cells(&payload?).ok_or_else(cut)?)));
                }
                5 | 13 => _ = self.stack.pop(),
                _ => return Err(broken("a page is none of a table")),
            }
        }
    }
}

/// The cells of a row.
fn cells(payload: &[u8]) -> Option<Vec<Cell>> {
    let (n_header, mut at) = varint(payload, 0)?;
    let n_header = usize::try_from(n_header).ok().filter(|n| *n <= payload.len())?;
    let (mut body, mut out) = (n_header, Vec::new());
    while at < n_header {
        let (kind, next) = varint(payload, at)?;
        at = next;
        let n = match kind {
            0 | 8 | 9 => 0,
            n @ 1..=4 => n as usize,
            5 => 6,
            6 | 7 => 8,
            n if n >= 12 => usize::try_from((n - 12) / 2).ok()?,
            _ => return None,
        };
        let bytes = payload.get(body..body.checked_add(n)?)?;
        body += n;
        out.push(match kind {
            0 => Cell::Null,
            8 => Cell::Int(0),
            9 => Cell::Int(1),
            7 => Cell::Real,
            1..=6 => {
                let sign = if bytes[0] & 0x80 == 0 { 0i64 } else { -1 };
                Cell::Int(bytes.iter().fold(sign, |n, byte| n << 8 | i64::from(*byte)))
            }
            _ => Cell::Bytes(bytes.to_vec()),
        });
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row: its length, its number, the kinds of its cells, and the cells.
    fn row(number: u8, kinds: &[u8], body: &[u8]) -> Vec<u8> {
        let length = 1 + kinds.len() + body.len();
        [&[length as u8, number, 1 + kinds.len() as u8], kinds, body].concat()
    }

    /// A page of rows, filled from its end.
    fn leaf(start: usize, rows: &[Vec<u8>]) -> Vec<u8> {
        let mut page = vec![0; 512];
        let mut end = 512;
        for (i, row) in rows.iter().enumerate() {
            end -= row.len();
            page[end..end + row.len()].copy_from_slice(row);
            page[start + 8 + 2 * i..][..2].copy_from_slice(&(end as u16).to_be_bytes());
        }
        page[start] = 13;
        page[start + 4] = rows.len() as u8;
        page
    }

    fn text(n: usize) -> u8 {
        (13 + 2 * n) as u8
    }

    /// A bag with one topic of numbers and three messages.
    fn bag() -> Vec<u8> {
        let table = |number: u8, name: &str| {
            let body = [b"table", name.as_bytes(), name.as_bytes(), &[number + 1]].concat();
            row(number, &[text(5), text(name.len()), text(name.len()), 1], &body)
        };
        let mut first = leaf(100, &[table(1, "topics"), table(2, "messages")]);
        first[..16].copy_from_slice(b"SQLite format 3\0");
        first[16..18].copy_from_slice(&512u16.to_be_bytes());
        let names = [&b"/n"[..], b"std_msgs/msg/Float64"].concat();
        let topics = leaf(0, &[row(1, &[0, text(2), text(20)], &names)]);
        let message = |i: u8| {
            let cdr = [&[0, 1, 0, 0][..], &f64::from(i).to_le_bytes()].concat();
            row(i, &[0, 9, 1, 12 + 2 * 12], &[&[i][..], &cdr].concat())
        };
        [first, topics, leaf(0, &[message(1), message(2), message(3)])].concat()
    }

    fn numbers(bytes: &[u8]) -> (Vec<f64>, usize) {
        crate::stream::numbers(bytes, "x.db3", None)
    }

    #[test]
    fn a_log_beside_the_database_is_told() {
        assert_eq!(crate::stream::numbers(&bag(), "x.db3", Some(b"")), (vec![1.0, 2.0, 3.0], 0));
        assert_eq!(crate::stream::numbers(&bag(), "x.db3", Some(b"a")), (vec![1.0, 2.0, 3.0], 1));
    }

    #[test]
    fn a_bag_of_three_pages_and_every_damage_to_it() {
        let whole = bag();
        assert_eq!(numbers(&whole), (vec![1.0, 2.0, 3.0], 0));
        let mut state = 1u64;
        let mut next = |below: usize| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as usize % below
        };
        for round in 0..1500 {
            let mut bytes = whole.clone();
            for _ in 0..1 + round % 4 {
                let at = next(bytes.len());
                // Where something stands, more often than in the empty middle of a page.
                let at = if bytes[at] == 0 { next(bytes.len()) } else { at };
                bytes[at] = [0, 1, 5, 13, 0x7f, 0x80, 0xff, next(256) as u8][next(8)];
            }
            if round % 7 == 0 {
                bytes.truncate(next(whole.len()));
            }
            numbers(&bytes);
        }
    }

    #[test]
    fn numbers_of_every_length() {
        assert_eq!(varint(&[0x7f], 0), Some((127, 1)));
        assert_eq!(varint(&[0x81, 0x00], 0), Some((128, 2)));
        assert_eq!(varint(&[0xff; 9], 0), Some((u64::MAX, 9)));
        assert_eq!(varint(&[0xff; 3], 0), None);
        // null, one byte, two bytes, one, a text of two letters
        let row = [6, 0, 1, 2, 9, 17, 0xfe, 0x01, 0x00, b'h', b'i'];
        let wanted =
            [Cell::Null, Cell::Int(-2), Cell::Int(256), Cell::Int(1), Cell::Bytes(b"hi".to_vec())];
        assert_eq!(cells(&row).unwrap(), wanted);
        assert_eq!(cells(&row[..8]), None);
    }
}
