//! bzip2, unpacked: how ROS 1 compresses the chunks of a bag unless told otherwise.
//!
//! A stream goes in, its bytes come out, at most as many as somebody allows; every checksum is
//! looked at. Written here because what there is to link is not looked after any more, or has a
//! licence of its own. Deliberately absent: packing, and the randomised blocks that nobody has
//! written since 1999.

use std::io;

/// Symbols coded with one table before the next is chosen.
const GROUP: usize = 50;
/// The longest code.
const CODE_BITS_MAX: usize = 20;
const BLOCK: u64 = 0x3141_5926_5359;
const END: u64 = 0x1772_4538_5090;

/// The bytes of a stream, of which there may be `most`.
pub(crate) fn unpack(data: &[u8], most: usize) -> io::Result<Vec<u8>> {
    let mut bits = Bits { bytes: data, held: 0, n_held: 0 };
    if bits.take(24)? != 0x42_5a68 {
        return Err(broken("it is no bzip2"));
    }
    let level = bits.take(8)?.wrapping_sub(u64::from(b'0'));
    if !(1..=9).contains(&level) {
        return Err(broken("its blocks have no size"));
    }
    let (mut out, mut all) = (Vec::new(), 0u32);
    loop {
        match bits.take(48)? {
            BLOCK => {
                let wanted = bits.take(32)? as u32;
                let start = out.len();
                let block = Block::read(&mut bits, level as usize * 100_000)?;
                block.spread(&mut out, most)?;
                let crc = checksum(&out[start..]);
                if crc != wanted {
                    return Err(broken("a checksum is wrong"));
                }
                all = all.rotate_left(1) ^ crc;
            }
            END if bits.take(32)? as u32 == all => return Ok(out),
            _ => return Err(broken("a block does not begin where it should")),
        }
    }
}

fn broken(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("bzip2: {what}"))
}

/// Bits from the highest of each byte on.
struct Bits<'a> {
    bytes: &'a [u8],
    held: u64,
    n_held: u32,
}

impl Bits<'_> {
    /// The next bits, at most 48.
    fn take(&mut self, n: u32) -> io::Result<u64> {
        while self.n_held < n {
            let (first, rest) = self.bytes.split_first().ok_or_else(|| broken("it is cut off"))?;
            (self.held, self.bytes) = (self.held << 8 | u64::from(*first), rest);
            self.n_held += 8;
        }
        self.n_held -= n;
        Ok(self.held >> self.n_held & ((1 << n) - 1))
    }

    fn is_set(&mut self) -> io::Result<bool> {
        Ok(self.take(1)? == 1)
    }
}

/// A canonical code: of each length the first code and where its symbols begin.
struct Code {
    /// By length: one past the last code, and what is taken from a code for the place of its
    /// symbol.
    lengths: [(i64, i64); CODE_BITS_MAX + 1],
    symbols: Vec<u16>,
}

impl Code {
    fn read(bits: &mut Bits<'_>, n_symbols: usize) -> io::Result<Code> {
        let mut length = bits.take(5)? as usize;
        let mut lengths = Vec::with_capacity(n_symbols);
        for _ in 0..n_symbols {
            while bits.is_set()? {
                length = if bits.is_set()? { length.saturating_sub(1) } else { length + 1 };
                if !(1..=CODE_BITS_MAX).contains(&length) {
                    return Err(broken("a code is too long"));
                }
            }
            if !(1..=CODE_BITS_MAX).contains(&length) {
                return Err(broken("a code is too long"));
            }
            lengths.push(length);
        }
        let mut symbols: Vec<u16> = (0..n_symbols as u16).collect();
        symbols.sort_by_key(|symbol| lengths[usize::from(*symbol)]);
        let mut by_length = [(0, 0); CODE_BITS_MAX + 1];
        let (mut code, mut place) = (0i64, 0i64);
        for (n_bits, slot) in by_length.iter_mut().enumerate() {
            let n = lengths.iter().filter(|length| **length == n_bits).count() as i64;
            *slot = (code + n, code - place);
            (code, place) = ((code + n) << 1, place + n);
        }
        Ok(Code { lengths: by_length, symbols })
    }

    fn symbol(&self, bits: &mut Bits<'_>) -> io::Result<usize> {
        let mut code = 0i64;
        for (end, less) in &self.lengths[1..] {
            code = code << 1 | bits.take(1)? as i64;
            if code < *end {
                let symbol = usize::try_from(code - less).ok().and_then(|i| self.symbols.get(i));
                return symbol.map(|s| usize::from(*s)).ok_or_else(|| broken("a code is wrong"));
            }
        }
        Err(broken("a code is wrong"))
    }
}

/// A block after its codes: bytes in the order of Burrows and Wheeler.
struct Block {
    bytes: Vec<u8>,
    origin: usize,
}

impl Block {
    fn read(bits: &mut Bits<'_>, most: usize) -> io::Result<Block> {
        if bits.is_set()? {
            return Err(broken("its blocks are randomised"));
        }
        let origin = bits.take(24)? as usize;
        let mut recent = used(bits)?;
        let n_symbols = recent.len() + 2;
        let n_codes = bits.take(3)? as usize;
        let n_selectors = bits.take(15)? as usize;
        if !(2..=6).contains(&n_codes) || n_selectors == 0 || recent.is_empty() {
            return Err(broken("a block has no codes"));
        }
        let selectors = selectors(bits, n_codes, n_selectors)?;
        let codes: Vec<Code> =
            (0..n_codes).map(|_| Code::read(bits, n_symbols)).collect::<io::Result<_>>()?;
        let (mut bytes, mut run, mut weight) = (Vec::new(), 0usize, 1usize);
        for i in 0.. {
            let selector = selectors.get(i / GROUP).ok_or_else(|| broken("a block has no end"))?;
            let symbol = codes[*selector].symbol(bits)?;
            if symbol < 2 {
                // Runs of the latest byte are numbers whose digits are one and two.
                run = run.saturating_add(weight << symbol);
                weight = (weight << 1).min(1 << 30);
                if run > most {
                    return Err(broken("a block is too long"));
                }
                continue;
            }
            bytes.resize(bytes.len() + run, recent[0]);
            (run, weight) = (0, 1);
            if symbol + 1 == n_symbols {
                break;
            }
            recent[..symbol].rotate_right(1);
            bytes.push(recent[0]);
            if bytes.len() > most {
                return Err(broken("a block is too long"));
            }
        }
        if bytes.len() > most || origin >= bytes.len().max(1) {
            return Err(broken("a block is too long"));
        }
        Ok(Block { bytes, origin })
    }

    /// Puts the bytes back into their order, and writes runs out: four alike and how many more.
    fn spread(&self, out: &mut Vec<u8>, most: usize) -> io::Result<()> {
        let mut starts = [0usize; 257];
        for byte in &self.bytes {
            starts[usize::from(*byte) + 1] += 1;
        }
        for i in 1..257 {
            starts[i] += starts[i - 1];
        }
        let mut next = vec![0u32; self.bytes.len()];
        for (i, byte) in self.bytes.iter().enumerate() {
            let slot = &mut starts[usize::from(*byte)];
            next[*slot] = i as u32;
            *slot += 1;
        }
        let (mut at, mut n_alike, mut last) = (self.origin, 0, None);
        for _ in 0..self.bytes.len() {
            at = next[at] as usize;
            let byte = self.bytes[at];
            let n_more = match (n_alike, last) {
                (4, Some(last)) => {
                    out.resize(out.len() + usize::from(byte), last);
                    n_alike = 0;
                    continue;
                }
                (n, Some(last)) if last == byte => n + 1,
                _ => 1,
            };
            out.push(byte);
            (n_alike, last) = (n_more, Some(byte));
            if out.len() > most {
                return Err(broken("it unfolds to more than it says"));
            }
        }
        if out.len() > most { Err(broken("it unfolds to more than it says")) } else { Ok(()) }
    }
}

/// The bytes that a block has, in their order.
fn used(bits: &mut Bits<'_>) -> io::Result<Vec<u8>> {
    let ranges = bits.take(16)?;
    let mut out = Vec::new();
    for range in (0..16u8).filter(|range| ranges >> (15 - range) & 1 == 1) {
        let there = bits.take(16)?;
        out.extend((0..16u8).filter(|i| there >> (15 - i) & 1 == 1).map(|i| range << 4 | i));
    }
    Ok(out)
}

/// Which code each group of symbols has; those lately used have short names.
fn selectors(bits: &mut Bits<'_>, n_codes: usize, n: usize) -> io::Result<Vec<usize>> {
    let mut recent: Vec<usize> = (0..n_codes).collect();
    let mut out = Vec::with_capacity(n);
    for _ in 0..n {
        let mut which = 0;
        while bits.is_set()? {
            which += 1;
            if which == n_codes {
                return Err(broken("a group has no code"));
            }
        }
        recent[..=which].rotate_right(1);
        out.push(recent[0]);
    }
    Ok(out)
}

/// The CRC-32 of bzip2: highest bit first, unlike that of everybody else.
fn checksum(bytes: &[u8]) -> u32 {
    const fn table() -> [u32; 256] {
        let (mut table, mut i) = ([0; 256], 0);
        while i < 256 {
            let (mut crc, mut bit) = ((i as u32) << 24, 0);
            while bit < 8 {
                crc = if crc >> 31 == 1 { crc << 1 ^ 0x04c1_1db7 } else { crc << 1 };
                bit += 1;
            }
            table[i] = crc;
            i += 1;
        }
        table
    }
    const TABLE: [u32; 256] = table();
    let step = |crc: u32, byte: &u8| crc << 8 ^ TABLE[usize::from((crc >> 24) as u8 ^ byte)];
    !bytes.iter().fold(!0, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKED: &[u8] = include_bytes!("../tests/data/robots.bz2");

    /// What `bzip2` packed: text, long runs, and every byte.
    fn plain() -> Vec<u8> {
        let mut out = Vec::new();
        for i in 0..100u32 {
            out.extend(format!("robot {i} stands at {}\n", i * i % 97).bytes());
        }
        out.extend(std::iter::repeat_n(7, 5000));
        out.extend((0..=255).cycle().take(600));
        out
    }

    #[test]
    fn it_is_what_was_packed() {
        assert!(unpack(PACKED, 1 << 20).unwrap() == plain());
        let fault = unpack(PACKED, 4_000).unwrap_err().to_string();
        assert!(fault.contains("more than it says"), "{fault}");
    }

    /// Cut or damaged anywhere it ends with words, and never with other bytes.
    #[test]
    fn every_damage_is_found() {
        for end in 0..PACKED.len() {
            assert!(unpack(&PACKED[..end], 1 << 20).is_err(), "cut at {end}");
        }
        let mut n_harmless = 0;
        for at in 0..PACKED.len() {
            let mut bytes = PACKED.to_vec();
            bytes[at] ^= 1 << (at % 8);
            // Some bits are about nothing: codes that no symbol has, the end of the last byte.
            if let Ok(found) = unpack(&bytes, 1 << 20) {
                assert!(found == plain(), "{at}");
                n_harmless += 1;
            }
        }
        assert!(n_harmless < PACKED.len() / 20, "{n_harmless}");
    }
}
