"""How many messages mcap + mcap-ros2-support decode, and the sum of the first number of each
pose and twist.

usage: sum_recording.py RECORDING.mcap
"""

import sys

from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory

n, check = 0, 0.0
with open(sys.argv[1], "rb") as file:
    reader = make_reader(file, decoder_factories=[DecoderFactory()])
    for _, channel, _, message in reader.iter_decoded_messages(log_time_order=False):
        n += 1
        if channel.topic.endswith("/pose"):
            check += message.pose.position.x
        elif channel.topic.endswith("/twist"):
            check += message.twist.linear.x
print(f"{n} {check!r}")
