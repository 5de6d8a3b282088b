//! The bytes of an MCAP file, put together in memory: records go in, whole chunks and at
//! last the summary come out.
//!
//! The records are those of the `mcap` crate. Its writer is not used, because it passes
//! every field of every message through a compressor and two checksums one by one; a chunk
//! that is put together first and compressed at once costs a third, and with two hundred
//! messages per millisecond that is the difference between recording and waiting.

use std::collections::BTreeMap;
use std::io::{Cursor, Write as _};

use binrw::BinWrite;
use headland_base::SimTime;
use mcap::records::{self, op};

use crate::reader::Attachment;
use crate::writer::Compression;

/// On poses and velocities level 1 took half as long again for 4 % fewer bytes, and level 3
/// twice as long for 7 % fewer. LZ4 was no faster and its files a fifth larger.
const ZSTD_LEVEL: i32 = -1;

/// A message in the open chunk: when, and where in the chunk.
#[derive(Clone, Copy)]
struct Place {
    nanos: u64,
    offset: u64,
}

pub(crate) struct Container {
    compression: Compression,
    zstd: Option<zstd::bulk::Compressor<'static>>,
    /// Bytes not taken yet.
    pending: Vec<u8>,
    /// Bytes taken so far.
    n_taken: u64,
    /// Over everything before the end of the data.
    data_crc: crc32fast::Hasher,

    chunk: Vec<u8>,
    compressed: Vec<u8>,
    /// First and last time in the chunk.
    chunk_span: Option<(u64, u64)>,
    /// Messages of the chunk by channel number.
    places: Vec<Vec<Place>>,

    /// As records, for the summary: what must be repeated there.
    schemas: Vec<u8>,
    channels: Vec<u8>,
    schema_ids: BTreeMap<(String, String), u16>,
    n_messages: Vec<u64>,
    span: Option<(u64, u64)>,
    chunk_indexes: Vec<u8>,
    n_chunks: u32,
    attachment_indexes: Vec<records::AttachmentIndex>,
    metadata_indexes: Vec<records::MetadataIndex>,
}

/// One record: opcode, length, and what `fill` puts behind them.
fn record(out: &mut Vec<u8>, opcode: u8, fill: impl FnOnce(&mut Vec<u8>)) {
    out.push(opcode);
    let length_at = out.len();
    out.extend_from_slice(&[0; 8]);
    fill(out);
    let length = (out.len() - length_at - 8) as u64;
    out[length_at..length_at + 8].copy_from_slice(&length.to_le_bytes());
}

/// The fields of one of `mcap`'s records.
fn fields(out: &mut Vec<u8>, value: &impl for<'a> BinWrite<Args<'a> = ()>) {
    let mut cursor = Cursor::new(Vec::new());
    value.write_le(&mut cursor).expect("memory takes every byte");
    out.extend_from_slice(&cursor.into_inner());
}

/// Bytes of a message record before its payload.
pub(crate) const MESSAGE_HEAD_BYTES: usize = 9 + 22;

/// Everything of a message record that stands before its payload.
pub(crate) fn message_head(
    channel: u16,
    sequence: u32,
    [log_nanos, publish_nanos]: [u64; 2],
    n_payload: usize,
) -> [u8; MESSAGE_HEAD_BYTES] {
    let mut head = [0; MESSAGE_HEAD_BYTES];
    head[0] = op::MESSAGE;
    head[1..9].copy_from_slice(&(22 + n_payload as u64).to_le_bytes());
    head[9..11].copy_from_slice(&channel.to_le_bytes());
    head[11..15].copy_from_slice(&sequence.to_le_bytes());
    head[15..23].copy_from_slice(&log_nanos.to_le_bytes());
    head[23..31].copy_from_slice(&publish_nanos.to_le_bytes());
    head
}

impl Container {
    pub fn new(library: &str, compression: Compression) -> Container {
        let mut container = Container {
            compression,
            zstd: None,
            pending: mcap::MAGIC.to_vec(),
            n_taken: 0,
            data_crc: crc32fast::Hasher::new(),
            chunk: Vec::new(),
            compressed: Vec::new(),
            chunk_span: None,
            places: vec![Vec::new()],
            schemas: Vec::new(),
            channels: Vec::new(),
            schema_ids: BTreeMap::new(),
            n_messages: vec![0],
            span: None,
            chunk_indexes: Vec::new(),
            n_chunks: 0,
            attachment_indexes: Vec::new(),
            metadata_indexes: Vec::new(),
        };
        let header = records::Header { profile: "ros2".into(), library: library.into() };
        record(&mut container.pending, op::HEADER, |out| fields(out, &header));
        container
    }

    /// Everything finished since the last call.
    pub fn take(&mut self) -> Vec<u8> {
        self.n_taken += self.pending.len() as u64;
        self.data_crc.update(&self.pending);
        std::mem::take(&mut self.pending)
    }

    fn position(&self) -> u64 {
        self.n_taken + self.pending.len() as u64
    }

    /// A channel with the number that follows the last one.
    pub fn channel(
        &mut self,
        topic: &str,
        schema: &str,
        definition: &str,
        metadata: &BTreeMap<String, String>,
    ) {
        let n_schemas = self.schema_ids.len();
        let key = (schema.to_string(), definition.to_string());
        let schema_id = *self.schema_ids.entry(key).or_insert_with(|| {
            let id = u16::try_from(n_schemas + 1).expect("no more schemas than channels");
            let (name, encoding) = (schema.to_string(), "ros2msg".to_string());
            let head = records::SchemaHeader { id, name, encoding };
            let start = self.schemas.len();
            record(&mut self.schemas, op::SCHEMA, |out| {
                fields(out, &head);
                out.extend_from_slice(&(definition.len() as u32).to_le_bytes());
                out.extend_from_slice(definition.as_bytes());
            });
            self.chunk.extend_from_slice(&self.schemas[start..]);
            id
        });
        let channel = records::Channel {
            id: u16::try_from(self.places.len()).expect("the writer counts channels"),
            schema_id,
            topic: topic.to_string(),
            message_encoding: "cdr".to_string(),
            metadata: metadata.clone(),
        };
        let start = self.channels.len();
        record(&mut self.channels, op::CHANNEL, |out| fields(out, &channel));
        self.chunk.extend_from_slice(&self.channels[start..]);
        self.places.push(Vec::new());
        self.n_messages.push(0);
    }

    /// Bytes in the open chunk.
    pub fn n_chunk_bytes(&self) -> usize {
        self.chunk.len()
    }

    /// One message, its head included.
    pub fn message(&mut self, channel: u16, time: SimTime, bytes: &[u8]) {
        let nanos = u64::try_from(time.nanos()).expect("the writer refuses negative times");
        let offset = self.chunk.len() as u64;
        self.places[usize::from(channel)].push(Place { nanos, offset });
        self.chunk.extend_from_slice(bytes);
        let span = self.chunk_span.get_or_insert((nanos, nanos));
        *span = (span.0.min(nanos), span.1.max(nanos));
    }

    /// Closes the chunk, if anything is in it, and writes its indexes.
    pub fn close_chunk(&mut self) -> std::io::Result<()> {
        if self.chunk.is_empty() {
            return Ok(());
        }
        let (name, start) = (self.compress()?, self.position());
        let data = if name.is_empty() { &self.chunk } else { &self.compressed };
        let (first, last) = self.chunk_span.unwrap_or((0, 0));
        let head = records::ChunkHeader {
            message_start_time: first,
            message_end_time: last,
            uncompressed_size: self.chunk.len() as u64,
            uncompressed_crc: crc32fast::hash(&self.chunk),
            compression: name.to_string(),
            compressed_size: data.len() as u64,
        };
        record(&mut self.pending, op::CHUNK, |out| {
            fields(out, &head);
            out.extend_from_slice(data);
        });
        let chunk_end = self.position();
        let message_index_offsets = self.message_indexes();
        let index = records::ChunkIndex {
            message_start_time: first,
            message_end_time: last,
            chunk_start_offset: start,
            chunk_length: chunk_end - start,
            message_index_offsets,
            message_index_length: self.position() - chunk_end,
            compression: head.compression,
            compressed_size: head.compressed_size,
            uncompressed_size: head.uncompressed_size,
        };
        record(&mut self.chunk_indexes, op::CHUNK_INDEX, |out| fields(out, &index));
        self.n_chunks += 1;
        if let Some((first, last)) = self.chunk_span.take() {
            let span = self.span.get_or_insert((first, last));
            *span = (span.0.min(first), span.1.max(last));
        }
        self.chunk.clear();
        Ok(())
    }

    /// Fills `compressed` and says how; an empty name means the chunk stays as it is.
    fn compress(&mut self) -> std::io::Result<&'static str> {
        self.compressed.clear();
        match self.compression {
            Compression::None => Ok(""),
            Compression::Lz4 => {
                let out = std::mem::take(&mut self.compressed);
                let mut encoder = lz4::EncoderBuilder::new().level(1).build(out)?;
                encoder.write_all(&self.chunk)?;
                let (out, done) = encoder.finish();
                self.compressed = out;
                done.map(|()| "lz4")
            }
            Compression::Zstd => {
                self.compressed.reserve(zstd::zstd_safe::compress_bound(self.chunk.len()));
                let zstd = match &mut self.zstd {
                    Some(zstd) => zstd,
                    // One thread: more would cut the data elsewhere on another machine.
                    empty => empty.insert(zstd::bulk::Compressor::new(ZSTD_LEVEL)?),
                };
                zstd.compress_to_buffer(&self.chunk, &mut self.compressed).map(|_| "zstd")
            }
        }
    }

    /// Writes where the messages of each channel are, and says where that was written.
    fn message_indexes(&mut self) -> BTreeMap<u16, u64> {
        let mut offsets = BTreeMap::new();
        for (channel, places) in self.places.iter_mut().enumerate() {
            if places.is_empty() {
                continue;
            }
            let channel_id = u16::try_from(channel).expect("the writer counts channels");
            offsets.insert(channel_id, self.n_taken + self.pending.len() as u64);
            record(&mut self.pending, op::MESSAGE_INDEX, |out| {
                out.extend_from_slice(&channel_id.to_le_bytes());
                out.extend_from_slice(&(places.len() as u32 * 16).to_le_bytes());
                for place in places.iter() {
                    out.extend_from_slice(&place.nanos.to_le_bytes());
                    out.extend_from_slice(&place.offset.to_le_bytes());
                }
            });
            self.n_messages[channel] += places.len() as u64;
            places.clear();
        }
        offsets
    }

    /// A file beside the messages. The open chunk is closed first.
    pub fn attach(&mut self, file: &Attachment) -> std::io::Result<()> {
        self.close_chunk()?;
        // No reader gives a time below zero.
        let [log_time, create_time] =
            [file.log_time, file.create_time].map(|time| time.nanos().max(0).unsigned_abs());
        let (name, media_type) = (file.name.clone(), file.media_type.clone());
        let head = records::AttachmentHeader { log_time, create_time, name, media_type };
        let data = &file.bytes;
        let offset = self.position();
        record(&mut self.pending, op::ATTACHMENT, |out| {
            let start = out.len();
            fields(out, &head);
            out.extend_from_slice(&(data.len() as u64).to_le_bytes());
            out.extend_from_slice(data);
            let crc = crc32fast::hash(&out[start..]);
            out.extend_from_slice(&crc.to_le_bytes());
        });
        self.attachment_indexes.push(records::AttachmentIndex {
            offset,
            length: self.position() - offset,
            log_time,
            create_time,
            data_size: data.len() as u64,
            name: head.name,
            media_type: head.media_type,
        });
        Ok(())
    }

    /// Named facts. The open chunk is closed first.
    pub fn metadata(
        &mut self,
        name: &str,
        entries: &BTreeMap<String, String>,
    ) -> std::io::Result<()> {
        self.close_chunk()?;
        let offset = self.position();
        let facts = records::Metadata { name: name.to_string(), metadata: entries.clone() };
        record(&mut self.pending, op::METADATA, |out| fields(out, &facts));
        let length = self.position() - offset;
        self.metadata_indexes.push(records::MetadataIndex { offset, length, name: facts.name });
        Ok(())
    }

    /// The end of the data, the summary and the end of the file. Everything before must
    /// have been taken.
    pub fn finish(mut self) -> Vec<u8> {
        assert!(self.pending.is_empty() && self.chunk.is_empty(), "closed and taken before");
        let end = records::DataEnd { data_section_crc: self.data_crc.clone().finalize() };
        record(&mut self.pending, op::DATA_END, |out| fields(out, &end));
        let start = self.pending.len();
        let mut groups: Vec<records::SummaryOffset> = Vec::new();
        for (group_opcode, bytes) in self.summary_groups() {
            if !bytes.is_empty() {
                let (group_start, group_length) = (self.position(), bytes.len() as u64);
                self.pending.extend_from_slice(&bytes);
                groups.push(records::SummaryOffset { group_opcode, group_start, group_length });
            }
        }
        let summary_start = self.n_taken + start as u64;
        let summary_offset_start = self.position();
        for group in &groups {
            record(&mut self.pending, op::SUMMARY_OFFSET, |out| fields(out, group));
        }
        record(&mut self.pending, op::FOOTER, |out| {
            out.extend_from_slice(&[0; 20]);
        });
        // The checksum covers the footer up to itself, its opcode and length included.
        let footer = self.pending.len() - 20;
        self.pending[footer..footer + 8].copy_from_slice(&summary_start.to_le_bytes());
        self.pending[footer + 8..footer + 16].copy_from_slice(&summary_offset_start.to_le_bytes());
        let crc = crc32fast::hash(&self.pending[start..footer + 16]);
        self.pending[footer + 16..].copy_from_slice(&crc.to_le_bytes());
        self.pending.extend_from_slice(mcap::MAGIC);
        self.pending
    }

    /// The records of the summary by their opcode, in the order they are written.
    fn summary_groups(&self) -> [(u8, Vec<u8>); 6] {
        let (first, last) = self.span.unwrap_or((0, 0));
        let counts = self.n_messages.iter().enumerate().filter(|(_, n)| **n > 0);
        let statistics = records::Statistics {
            message_count: self.n_messages.iter().sum(),
            schema_count: self.schema_ids.len() as u16,
            channel_count: self.places.len() as u32 - 1,
            attachment_count: self.attachment_indexes.len() as u32,
            metadata_count: self.metadata_indexes.len() as u32,
            chunk_count: self.n_chunks,
            message_start_time: first,
            message_end_time: last,
            channel_message_counts: counts.map(|(id, n)| (id as u16, *n)).collect(),
        };
        let mut groups = [
            (op::SCHEMA, self.schemas.clone()),
            (op::CHANNEL, self.channels.clone()),
            (op::STATISTICS, Vec::new()),
            (op::CHUNK_INDEX, self.chunk_indexes.clone()),
            (op::ATTACHMENT_INDEX, Vec::new()),
            (op::METADATA_INDEX, Vec::new()),
        ];
        record(&mut groups[2].1, op::STATISTICS, |out| fields(out, &statistics));
        for index in &self.attachment_indexes {
            record(&mut groups[4].1, op::ATTACHMENT_INDEX, |out| fields(out, index));
        }
        for index in &self.metadata_indexes {
            record(&mut groups[5].1, op::METADATA_INDEX, |out| fields(out, index));
        }
        groups
    }
}
