//! Recordings: columnar in memory, MCAP on disk, other logs in and out.
//!
//! ```text
//! messages     the ROS 2 types we know, to and from CDR bytes
//! writer       a simulation goes on, an MCAP file grows
//! reader       an MCAP file, cut or damaged as it may be, message by message
//! ```

pub mod align;
mod chunker;
mod container;
pub mod copy;
pub mod csv;
mod decimal;
mod definitions;
pub mod door;
pub mod dynamic;
mod lines;
pub mod load;
pub mod messages;
pub mod overview;
pub mod reader;
pub mod recording;
pub mod rosbag2;
pub mod save;
pub mod sink;
pub mod track;
pub mod tum;
pub mod writer;

pub use copy::copy;
pub use decimal::TimeUnit;
pub use door::{Format, export, import};
pub use dynamic::{Definition, Value};
pub use load::{LoadOptions, Stamp, load};
pub use messages::Kind;
pub use overview::{Overview, overview};
pub use reader::{Item, Reader};
pub use recording::{Column, Facts, Recording};
pub use save::save;
pub use sink::{Memory, Sink};
pub use track::{Data, Track};
pub use writer::{ChannelId, Compression, WriteOptions, Writer, Written};
