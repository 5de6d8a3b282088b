"""Writes a bag in another storage with rosbags.

usage: convert_bag.py BAG_FOLDER TARGET [OPTIONS OF rosbags-convert]

A target that ends in .bag becomes a ROS 1 bag.
"""

import subprocess
import sys
from pathlib import Path

source, target, *options = sys.argv[1:]
program = Path(sys.executable).parent / "rosbags-convert"
subprocess.run([program, "--src", source, "--dst", target, *options], check=True)
print("converted")
