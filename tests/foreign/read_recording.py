"""Reads a recording with mcap + mcap-ros2-support and with rosbags, and compares.

usage: read_recording.py RECORDING.mcap OURS.ndjson [BAG_FOLDER]
"""

import sys
from pathlib import Path

from compare import check
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
from rosbags.highlevel import AnyReader


def with_mcap(path):
    with open(path, "rb") as file:
        reader = make_reader(file, validate_crcs=True, decoder_factories=[DecoderFactory()])
        for _, channel, message, decoded in reader.iter_decoded_messages(log_time_order=False):
            yield channel.topic, message.log_time, decoded


def with_rosbags(path):
    with AnyReader([Path(path)]) as reader:
        for connection, time, data in reader.messages():
            yield connection.topic, time, reader.deserialize(data, connection.msgtype)


def beside_the_messages(path):
    with open(path, "rb") as file:
        reader = make_reader(file, validate_crcs=True)
        header = reader.get_header()
        assert header.profile == "ros2", header
        for attachment in reader.iter_attachments():
            print(f"attachment {attachment.name} {attachment.media_type} {len(attachment.data)}")
        for metadata in reader.iter_metadata():
            print(f"metadata {metadata.name} {sorted(metadata.metadata.items())}")
        print(f"statistics {reader.get_summary().statistics.message_count}")


def main():
    recording, ours = sys.argv[1:3]
    check("mcap-ros2-support", ours, with_mcap(recording))
    check("rosbags", ours, with_rosbags(recording))
    for folder in sys.argv[3:]:
        check("rosbags, bag folder", ours, with_rosbags(folder))
        with AnyReader([Path(folder)]) as reader:
            print(f"bag {reader.message_count} messages, {reader.duration} ns, {len(reader.topics)} topics")
    beside_the_messages(recording)


main()
