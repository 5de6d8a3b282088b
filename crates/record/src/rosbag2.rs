//! The rosbag2 folder: one `.mcap`, or a database of older releases, and a `metadata.yaml` that
//! says what is in it.
//!
//! The folder is for tools that insist on it; a bare `.mcap` is a whole recording. Only
//! the few lines of YAML that name the files are read back, the rest is in the files.

use std::fmt::Write as _;
use std::fs;
use std::path::{Component, Path, PathBuf};

use headland_base::{Diagnostic, Findings};

use crate::copy::{copy, refuse_unreadable};
use crate::overview::{Overview, overview};
use crate::reader::Reader;
use crate::stream::{AnyReader, open_any};
use crate::writer::{WriteOptions, Writer};

/// Makes a folder `folder` out of the recording `source`. A recording that is whole and all
/// ROS 2 is copied byte for byte; another is rewritten, as far as it can be read, because
/// tools that insist on folders also insist on the end of the file. Nothing is left behind
/// where that fails.
pub fn export(
    source: &Path,
    folder: &Path,
    options: &WriteOptions,
) -> Result<Findings, Vec<Diagnostic>> {
    refuse_unreadable([Reader::open(source).map_err(|fault| vec![fault])?])?;
    fs::create_dir(folder).map_err(|fault| {
        let message = format!("cannot create `{}`: {fault}", folder.display());
        vec![
            Diagnostic::error("bag-not-created", message)
                .help("a bag is a folder of its own; choose a name that is free"),
        ]
    })?;
    let filled = fill(source, folder, options);
    if filled.is_err() {
        // It was made here, and would only stand in the way of the next try.
        _ = fs::remove_dir_all(folder);
    }
    filled.map_err(|fault| vec![fault])
}

fn fill(source: &Path, folder: &Path, options: &WriteOptions) -> Result<Findings, Diagnostic> {
    let cannot = |what: &Path, fault: &dyn std::fmt::Display| {
        let message = format!("cannot write `{}`: {fault}", what.display());
        Diagnostic::error("bag-not-written", message)
    };
    let stem = folder.file_name().map_or("recording".into(), |name| name.to_string_lossy());
    let file_name = format!("{stem}_0.mcap");
    let target = folder.join(&file_name);
    let (mut seen, mut findings) = overview(Reader::open(source)?);
    if findings.is_empty() && seen.topics.values().all(|topic| topic.encoding == "cdr") {
        fs::copy(source, &target).map_err(|fault| cannot(&target, &fault))?;
    } else {
        let mut writer = Writer::create(&target, options)?;
        findings = copy(Reader::open(source)?, &mut writer)?;
        writer.finish()?;
        // What was left out must not be in the metadata.
        (seen, _) = overview(Reader::open(&target)?);
    }
    let metadata = folder.join("metadata.yaml");
    fs::write(&metadata, metadata_yaml(&file_name, &seen))
        .map_err(|fault| cannot(&metadata, &fault))?;
    Ok(findings)
}

/// The `metadata.yaml` of a bag with one file.
fn metadata_yaml(file_name: &str, seen: &Overview) -> String {
    let nanos = seen.span.map_or((0, 0), |(first, last)| (first.nanos(), last.nanos()));
    let (start, duration) = (nanos.0, nanos.1 - nanos.0);
    let file = quoted(file_name);
    let mut topics = String::new();
    for (name, topic) in &seen.topics {
        _ = write!(
            topics,
            "    - topic_metadata:
        name: {}
        type: {}
        serialization_format: cdr
        offered_qos_profiles: []
        type_description_hash: \"\"
      message_count: {}
",
            quoted(name),
            quoted(&topic.schema),
            topic.n_messages
        );
    }
    let topics = if topics.is_empty() { " []\n".to_string() } else { format!("\n{topics}") };
    let count = seen.n_messages;
    format!(
        "rosbag2_bagfile_information:
  version: 9
  storage_identifier: mcap
  duration:
    nanoseconds: {duration}
  starting_time:
    nanoseconds_since_epoch: {start}
  message_count: {count}
  topics_with_message_count:{topics}  compression_format: \"\"
  compression_mode: \"\"
  relative_file_paths:
    - {file}
  files:
    - path: {file}
      starting_time:
        nanoseconds_since_epoch: {start}
      duration:
        nanoseconds: {duration}
      message_count: {count}
  custom_data: ~
  ros_distro: \"\"
"
    )
}

/// A YAML text that means exactly these letters: JSON's quotes are YAML's too.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a text always has a JSON form")
}

/// Longest `metadata.yaml`: a thousand topics have some hundred kilobytes.
const METADATA_BYTES_MAX: u64 = 16 << 20;

/// The files of a bag, or the one of a recording.
pub(crate) type Parts = Vec<AnyReader>;

/// The files of a bag, opened, in order. A bag whose recorder was killed has no
/// `metadata.yaml`; its files then come in the order of their numbers, with a warning.
pub(crate) fn open_parts(folder: &Path) -> Result<(Parts, Option<Diagnostic>), Vec<Diagnostic>> {
    let metadata = folder.join("metadata.yaml");
    let has_metadata = metadata.exists();
    let (files, has_zstd_payloads) = match has_metadata {
        true => named_files(folder, &metadata)?,
        false => (found_files(folder)?, false),
    };
    let (mut parts, mut faults) = (Vec::new(), Vec::new());
    for file in &files {
        match open_any(file) {
            Ok(reader) if has_zstd_payloads => parts.push(reader.with_zstd_payloads()),
            Ok(reader) => parts.push(reader),
            Err(fault) => faults.push(fault),
        }
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    let warning = (!has_metadata).then(|| {
        let message = format!("`{}` has no `metadata.yaml`", folder.display());
        let note = format!("{} files were read in the order of their numbers", files.len());
        Diagnostic::warning("no-metadata", message).note(note)
    });
    Ok((parts, warning))
}

/// The recordings that lie in a folder, `x_9` before `x_10`.
fn found_files(folder: &Path) -> Result<Vec<PathBuf>, Vec<Diagnostic>> {
    let fault = |message: String| vec![Diagnostic::error("cannot-open", message)];
    let entries = fs::read_dir(folder).map_err(|io_fault| {
        fault(format!("cannot open the folder `{}`: {io_fault}", folder.display()))
    })?;
    let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let mut files: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|end| end == "mcap" || end == "db3"))
        .collect();
    files.sort_by_key(|path| (path.as_os_str().len(), path.clone()));
    if files.is_empty() {
        let message = format!("no recording in the folder `{}`", folder.display());
        return Err(fault(message));
    }
    Ok(files)
}

/// The files a bag's metadata names, in order, and whether their messages are compressed one
/// by one.
fn named_files(folder: &Path, metadata: &Path) -> Result<(Vec<PathBuf>, bool), Vec<Diagnostic>> {
    let shown = metadata.display();
    let fault = |code, message: String| vec![Diagnostic::error(code, message)];
    let length = fs::metadata(metadata).map_or(0, |about| about.len());
    if length > METADATA_BYTES_MAX {
        return Err(fault("bad-bag", format!("`{shown}` has {length} bytes")));
    }
    let text = fs::read_to_string(metadata)
        .map_err(|io_fault| fault("cannot-open", format!("cannot read `{shown}`: {io_fault}")))?;
    let refused = |what: String| {
        vec![
            Diagnostic::error("unknown-storage", format!("`{shown}`: {what}"))
                .help("convert it first: `rosbags-convert --src BAG --dst NEW --dst-storage mcap`"),
        ]
    };
    let value = |key| value_of(&text, key).unwrap_or_default();
    let storage = value("storage_identifier");
    if !["mcap", "sqlite3"].contains(&storage.as_str()) {
        return Err(refused(format!("storage is `{storage:.40}`")));
    }
    // An MCAP that compresses its own chunks says so in the file.
    let has_zstd_payloads = match value("compression_mode").to_lowercase().as_str() {
        "file" => return Err(refused("its files are compressed as a whole".to_string())),
        "message" => match value("compression_format").as_str() {
            "zstd" => true,
            other => {
                let what = format!("its messages are compressed with `{other:.40}`, not `zstd`");
                return Err(refused(what));
            }
        },
        _ => false,
    };
    let names = list_of(&text, "relative_file_paths");
    if names.is_empty() {
        return Err(fault("bad-bag", format!("`{shown}` names no files")));
    }
    let outside = |name: &&String| {
        Path::new(name).components().any(|part| !matches!(part, Component::Normal(_)))
    };
    let wrong: Vec<Diagnostic> = (names.iter().filter(outside))
        .map(|name| {
            let message = format!("`{shown}` names `{name:.80}`, which is not inside the folder");
            Diagnostic::error("bad-bag", message)
        })
        .collect();
    if !wrong.is_empty() {
        return Err(wrong);
    }
    Ok((names.iter().map(|name| folder.join(name)).collect(), has_zstd_payloads))
}

/// The value of the first `key: value` line.
fn value_of(text: &str, key: &str) -> Option<String> {
    let line = text.lines().find_map(|line| line.trim_start().strip_prefix(key));
    Some(unquoted(line?.trim_start().strip_prefix(':')?))
}

/// The items of the first block or flow list under `key:`.
fn list_of(text: &str, key: &str) -> Vec<String> {
    let head = format!("{key}:");
    let mut lines = text.lines().skip_while(|line| !line.trim_start().starts_with(&head));
    let first = lines.next().map_or("", |line| line.trim_start()[head.len()..].trim());
    if let Some(flow) = first.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let items = flow.split(',').map(unquoted);
        return items.filter(|item| !item.is_empty()).collect();
    }
    lines.map_while(|line| line.trim_start().strip_prefix("- ").map(unquoted)).collect()
}

fn unquoted(text: &str) -> String {
    let text = text.trim();
    for quote in ['"', '\''] {
        if let Some(inner) = text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)) {
            return inner.to_string();
        }
    }
    text.to_string()
}

#[cfg(test)]
mod tests {
    use headland_base::SimTime;

    use super::*;
    use crate::reader::Item;

    #[test]
    fn both_ways_to_write_a_list() {
        let block = "a:\n  relative_file_paths:\n    - \"x_0.mcap\"\n    - x_1.mcap\n  files: []\n";
        assert_eq!(list_of(block, "relative_file_paths"), ["x_0.mcap", "x_1.mcap"]);
        let flow = "relative_file_paths: ['a b.mcap', c.mcap]\n";
        assert_eq!(list_of(flow, "relative_file_paths"), ["a b.mcap", "c.mcap"]);
        assert!(list_of("nothing", "relative_file_paths").is_empty());
    }

    /// A bag as `ros2 bag record --compression-mode message` makes it: the file says nothing
    /// of it, only the metadata does.
    #[test]
    fn messages_compressed_one_by_one() {
        let folder = tempfile::tempdir().unwrap();
        let plain: Vec<Vec<u8>> = (0..5u8).map(|i| vec![0, 1, 0, 0, i, 0, 0, 0]).collect();
        let packed = plain.iter().map(|bytes| zstd::bulk::compress(bytes, 1).unwrap());
        let written = packed.chain([b"no zstd".to_vec()]);
        let mut writer =
            Writer::create(folder.path().join("x.mcap"), &WriteOptions::new("test")).unwrap();
        let number =
            writer.foreign_channel("/n", "std_msgs/msg/UInt32", "uint32 data", &[].into()).unwrap();
        for (i, payload) in written.enumerate() {
            let time = SimTime::from_nanos(i as i64);
            writer.raw(number, time, time, &payload).unwrap();
        }
        writer.finish().unwrap();
        let read = |format: &str| {
            let text = format!(
                "storage_identifier: mcap\ncompression_format: {format}\n\
                 compression_mode: MESSAGE\nrelative_file_paths:\n- x.mcap\n"
            );
            fs::write(folder.path().join("metadata.yaml"), text).unwrap();
            open_parts(folder.path()).map(|(mut parts, _)| parts.remove(0))
        };
        let mut reader = read("zstd").unwrap();
        let mut got = Vec::new();
        while let Some(item) = reader.next() {
            if let Item::Message(message) = item {
                got.push(message.payload.to_vec());
            }
        }
        assert_eq!(got, plain);
        let faults = reader.into_findings().into_vec();
        let codes: Vec<_> = faults.iter().map(|d| d.code).collect();
        assert_eq!(codes, ["bad-message"]);
        let refused = read("lz4").map(|_| ()).unwrap_err();
        assert_eq!(refused[0].code, "unknown-storage");
        assert!(refused[0].help.as_ref().unwrap().contains("rosbags-convert"));
    }

    #[test]
    fn a_bag_may_not_reach_outside_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["../x.mcap", "/etc/passwd", "a/../../x"] {
            let text = format!("storage_identifier: mcap\nrelative_file_paths:\n- {name}\n");
            fs::write(folder.path().join("metadata.yaml"), text).unwrap();
            let metadata = folder.path().join("metadata.yaml");
            assert_eq!(
                named_files(folder.path(), &metadata).unwrap_err()[0].code,
                "bad-bag",
                "{name}"
            );
        }
    }
}
