"""Reads what ray sensors said with mcap-ros2-support and with rosbags, and says what is in it.

usage: read_rays.py RECORDING.mcap

One line of JSON per topic, the same from both readers or it fails.
"""

import json
import math
import sys
from pathlib import Path

import numpy as np
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
from rosbags.highlevel import AnyReader


def with_mcap(path):
    with open(path, "rb") as file:
        reader = make_reader(file, validate_crcs=True, decoder_factories=[DecoderFactory()])
        for schema, channel, message, decoded in reader.iter_decoded_messages():
            yield channel.topic, schema.name, message.log_time, decoded


def with_rosbags(path):
    with AnyReader([Path(path)]) as reader:
        for connection, time, data in reader.messages():
            message = reader.deserialize(data, connection.msgtype)
            yield connection.topic, connection.msgtype, time, message


def points(cloud):
    names = {7: "<f4", 4: "<u2"}
    layout = np.dtype({
        "names": [field.name for field in cloud.fields],
        "formats": [names[field.datatype] for field in cloud.fields],
        "offsets": [field.offset for field in cloud.fields],
        "itemsize": cloud.point_step,
    })
    data = np.frombuffer(bytes(cloud.data), dtype=layout)
    return data.reshape(cloud.height, cloud.width)


def about(kind, message):
    if kind.endswith("LaserScan"):
        ranges = np.array(message.ranges, dtype=np.float64)
        ends = message.angle_min + message.angle_increment * (len(ranges) - 1)
        assert abs(ends - message.angle_max) < 1e-4
        finite = ranges[np.isfinite(ranges)]
        return [len(ranges), len(finite), float(finite.sum())]
    if kind.endswith("PointCloud2"):
        cloud = points(message)
        distance = np.sqrt(cloud["x"].astype(float) ** 2 + cloud["y"] ** 2 + cloud["z"] ** 2)
        assert (cloud["ring"] == np.arange(message.height)[:, None]).all()
        return [cloud.size, int(np.isfinite(distance).sum()), float(np.nansum(distance))]
    if kind.endswith("Range"):
        return [1, int(math.isfinite(message.range)), message.range if math.isfinite(message.range) else 0]
    if kind.endswith("Bool"):
        return [1, int(message.data), 0]
    if kind.endswith("Detection3DArray"):
        ids = sorted(d.id for d in message.detections)
        scores = [d.results[0].hypothesis.score for d in message.detections]
        assert len(set(ids)) == len(ids)
        return [len(ids), len(ids), float(sum(scores))]
    return None


def summary(messages):
    topics = {}
    for topic, kind, time, message in messages:
        said = about(kind, message)
        if said is None:
            continue
        at = topics.setdefault(topic, {"type": kind, "messages": 0, "sums": [0, 0, 0.0], "late": 0})
        at["messages"] += 1
        at["sums"] = [a + b for a, b in zip(at["sums"], said)]
        if hasattr(message, "header"):
            stamp = message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
            at["late"] = max(at["late"], time - stamp)
    return topics


first, second = summary(with_mcap(sys.argv[1])), summary(with_rosbags(sys.argv[1]))
assert first.keys() == second.keys(), (first.keys(), second.keys())
for topic in sorted(first):
    a, b = first[topic], second[topic]
    assert a["messages"] == b["messages"] and a["sums"][:2] == b["sums"][:2], (topic, a, b)
    assert abs(a["sums"][2] - b["sums"][2]) <= 1e-9 * abs(a["sums"][2]), (topic, a, b)
    print(json.dumps({"topic": topic, **a}))
