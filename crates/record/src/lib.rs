//! Recordings: columnar in memory, MCAP on disk, other logs in and out.
//!
//! ```text
//! messages     the ROS 2 types we know, to and from CDR bytes
//! writer       a simulation goes on, an MCAP file grows
//! reader       an MCAP file, cut or damaged as it may be, message by message
//! ```

mod chunker;
mod definitions;
pub mod dynamic;
pub mod messages;
pub mod reader;
pub mod sink;
pub mod writer;

pub use dynamic::{Definition, Value};
pub use messages::Kind;
pub use reader::{Item, Reader};
pub use sink::{Memory, Sink};
pub use writer::{ChannelId, Compression, WriteOptions, Writer, Written};
