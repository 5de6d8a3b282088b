//! Recordings: columnar in memory, MCAP on disk, other logs in and out.
//!
//! ```text
//! a run ──── Writer ────► .mcap ──── Reader ──► messages ── load ──► Recording
//! CSV · TUM · bags · MCAP of others ─ import ──────────────────────► Recording
//! any log ─── export ──► MCAP · rosbag2 · CSV · TUM
//! any log ─── convert ─► .mcap
//! ```
//!
//! | module | what |
//! |---|---|
//! | `messages` | the ROS 2 types we know, as Rust values, to and from CDR bytes |
//! | `writer`, `sink` | a simulation goes on, an MCAP file grows |
//! | `reader` | an MCAP file, cut or damaged as it may be, message by message |
//! | `dynamic` | messages of any type, by the definition their file embeds |
//! | `recording`, `track` | a recording in memory, by object and by scoped key |
//! | `sample`, `sampler` | one moment of one track, from any source to any goal |
//! | `load`, `save` | recordings from messages and back |
//! | `csv`, `tum`, `kitti`, `rosbag2` | other formats; `layout` finds their keys |
//! | `stream`, `ros1`, `bzip2`, `sqlite` | bags of other storages, read as if they were MCAP |
//! | `align`, `aligner` | tracks sampled at different times on one time base, in memory and on the way |
//! | `follow` | a recording that still grows, sample by sample |
//! | `overview`, `copy` | what is in a file; a cut file made whole |
//! | `door`, `format` | any format in, any format out |
//!
//! Deliberately absent: who made a recording. There is no engine here, no world and no
//! clock, so a log from a robot and a log from a simulator are the same thing to whoever
//! reads them.
//!
//! ```
//! use headland_base::{SimTime, Transform};
//! use headland_record::{Kind, LoadOptions, Memory, Reader, WriteOptions, Writer, load};
//!
//! # fn main() -> Result<(), headland_base::Diagnostic> {
//! let file = Memory::new();
//! let mut writer = Writer::new(file.clone(), "ball.mcap", &WriteOptions::new("example"))?;
//! let pose = writer.channel("/ball/pose", Kind::PoseStamped)?;
//! writer.pose(pose, SimTime::ZERO, "world", &Transform::IDENTITY)?;
//! writer.finish()?;
//!
//! let bytes = file.bytes();
//! let (recording, findings) =
//!     load(Reader::new(&bytes[..], "ball.mcap"), &LoadOptions::default());
//! assert!(findings.is_empty());
//! assert_eq!(recording.require_column("ball/pose/qw")?.values[0], 1.0);
//! # Ok(())
//! # }
//! ```

pub mod align;
mod aligner;
mod back;
mod bzip2;
mod cdr;
mod chunker;
mod container;
pub mod copy;
pub mod csv;
mod decimal;
mod definitions;
pub mod door;
pub mod dynamic;
pub mod follow;
pub mod format;
mod kitti;
mod layout;
mod lines;
pub mod load;
pub mod messages;
pub mod overview;
mod pose_lines;
pub mod reader;
pub mod recording;
mod ros1;
pub mod rosbag2;
mod sample;
mod sampler;
pub mod save;
pub mod sink;
mod sqlite;
mod stream;
pub mod track;
pub mod tum;
mod unit;
pub mod writer;

pub use aligner::Alignment;
pub use copy::copy;
pub use decimal::{TimeUnit, parse_seconds};
pub use door::{Converted, ImportOptions, Imported, convert, export, export_aligned, import};
pub use dynamic::{Decoder, Definition, Value};
pub use follow::follow;
pub use format::{FORMATS, Format, READ_ONLY};
pub use load::{LoadOptions, Stamp, load};
pub use messages::Kind;
pub use overview::{Overview, overview};
pub use reader::{Item, Reader};
pub use recording::{Column, FACTS, Facts, Recording, object_name};
pub use save::save;
pub use sink::{Memory, Sink};
pub use track::{Data, LeftOut, Track};
pub use unit::Unit;
pub use writer::{ChannelId, Compression, ContactRef, WriteOptions, Writer, Written};
