//! Recordings: columnar in memory, MCAP on disk, other logs in and out.
//!
//! ```text
//! messages     the ROS 2 types we know, to and from CDR bytes
//! writer       a simulation goes on, an MCAP file grows
//! reader       an MCAP file, cut or damaged as it may be, message by message
//! ```

pub mod align;
mod chunker;
pub mod csv;
mod decimal;
mod definitions;
pub mod dynamic;
mod lines;
pub mod load;
pub mod messages;
pub mod reader;
pub mod recording;
pub mod sink;
pub mod track;
pub mod tum;
pub mod writer;

pub use decimal::TimeUnit;
pub use dynamic::{Definition, Value};
pub use load::{LoadOptions, Stamp, load};
pub use messages::Kind;
pub use reader::{Item, Reader};
pub use recording::{Column, Facts, Recording};
pub use sink::{Memory, Sink};
pub use track::{Data, Track};
pub use writer::{ChannelId, Compression, WriteOptions, Writer, Written};
