"""Writes small recordings with the Python mcap library, in every way it has.

usage: write_mcap.py FOLDER

Each file has twenty numbers 0, 0.5, 1, … on `/n`, a message every millisecond, and a channel
in JSON beside them.
"""

import struct
import sys
from pathlib import Path

from mcap.writer import CompressionType, IndexType, Writer

VARIANTS = {
    "unchunked": {"use_chunking": False},
    "none": {"compression": CompressionType.NONE},
    "lz4": {"compression": CompressionType.LZ4},
    "zstd": {"compression": CompressionType.ZSTD},
    "small_chunks": {"chunk_size": 100},
    "bare": {
        "index_types": IndexType.NONE,
        "repeat_channels": False,
        "repeat_schemas": False,
        "use_statistics": False,
        "use_summary_offsets": False,
        "enable_crcs": False,
    },
}


def main():
    for name, options in VARIANTS.items():
        with open(Path(sys.argv[1]) / f"{name}.mcap", "wb") as file:
            writer = Writer(file, **options)
            writer.start(profile="ros2", library="python")
            schema = writer.register_schema("std_msgs/msg/Float64", "ros2msg", b"float64 data")
            channel = writer.register_channel("/n", "cdr", schema)
            other = writer.register_channel("/json", "json", 0)
            for i in range(20):
                time = i * 1_000_000
                data = b"\x00\x01\x00\x00" + struct.pack("<d", i * 0.5)
                writer.add_message(channel, time, data, time, i)
                writer.add_message(other, time, b"{}", time, i)
            writer.add_attachment(0, 0, "a.txt", "text/plain", b"hello")
            writer.add_metadata("m", {"k": "v"})
            writer.finish()
    print(f"files {len(VARIANTS)}")


main()
