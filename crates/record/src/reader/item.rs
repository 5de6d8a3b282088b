//! What a reader gives: channels, messages, attached files, facts.

use std::collections::BTreeMap;
use std::sync::Arc;

use headland_base::SimTime;

/// The definition of a message type, as the file embeds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema {
    /// Its number in the file.
    pub id: u16,
    /// `geometry_msgs/msg/PoseStamped`.
    pub name: String,
    /// `ros2msg` for those we can decode.
    pub encoding: String,
    /// The definition.
    pub data: Vec<u8>,
}

/// A named stream of messages of one type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    /// Its number in the file.
    pub id: u16,
    /// `/ball/pose`.
    pub topic: String,
    /// `cdr` for those we can decode.
    pub message_encoding: String,
    /// What else its writer says about it.
    pub metadata: BTreeMap<String, String>,
    /// The type of its messages, unless the file does not say.
    pub schema: Option<Arc<Schema>>,
}

impl Channel {
    /// The definition of its messages, where they are `cdr` with `ros2msg`: those we decode
    /// and those every ROS 2 reader takes.
    pub(crate) fn ros2_schema(&self) -> Option<&Schema> {
        let schema = self.schema.as_deref()?;
        (schema.encoding == "ros2msg" && self.message_encoding == "cdr").then_some(schema)
    }
}

/// One message, still encoded.
#[derive(Clone, Copy, Debug)]
pub struct RawMessage<'a> {
    /// The channel it came on.
    pub channel: &'a Arc<Channel>,
    /// Its number on the channel, where the writer counts.
    pub sequence: u32,
    /// When it was recorded.
    pub log_time: SimTime,
    /// When it was sent.
    pub publish_time: SimTime,
    /// Its encoded content.
    pub payload: &'a [u8],
}

/// A file beside the messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// File name.
    pub name: String,
    /// What kind of file: `application/xml`.
    pub media_type: String,
    /// When it was recorded.
    pub log_time: SimTime,
    /// When it was made, where its writer says so; else zero.
    pub create_time: SimTime,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// What a recording holds, in file order.
#[derive(Clone, Debug)]
pub enum Item<'a> {
    /// The first record.
    Header {
        /// `ros2`.
        profile: String,
        /// Who wrote the file.
        library: String,
    },
    /// A new channel. Its schema comes with it.
    Channel(Arc<Channel>),
    /// A message.
    Message(RawMessage<'a>),
    /// An attached file.
    Attachment(Attachment),
    /// Named facts.
    Metadata {
        /// Whose facts.
        name: String,
        /// The facts.
        entries: BTreeMap<String, String>,
    },
}

/// Where a recording was cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Truncation {
    /// Length of what is there.
    pub file_bytes: u64,
    /// Length of the whole records at its start.
    pub whole_bytes: u64,
}
