"""Writes a bag with rosbags and says what is in it.

usage: write_bag.py BAG_FOLDER EXPECTED.json

EXPECTED.json maps scoped keys to [[time in ns, …], [bits of the value as a double, …]]:
not every JSON reader keeps the last bit of a decimal.
"""

import json
import random
import struct
import sys
from pathlib import Path

import numpy as np
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

STORE = get_typestore(Stores.ROS2_JAZZY)
T = STORE.types
START = 1_700_000_000_123_456_789  # a stamp of our days, every digit of it used


def make(type_name, /, **fields):
    return T[type_name](**fields)


def vector(kind, x, y, z):
    return make(f"geometry_msgs/msg/{kind}", x=x, y=y, z=z)


def main():
    chance = random.Random(7)
    expected = {}

    def note(key, time, value):
        times, values = expected.setdefault(key, ([], []))
        times.append(time)
        values.append(struct.unpack("<Q", struct.pack("<d", float(value)))[0])

    with Writer(Path(sys.argv[1]), version=9, storage_plugin=StoragePlugin.MCAP) as bag:
        topics = {
            "/ball/pose": "geometry_msgs/msg/PoseStamped",
            "/robot/odom": "nav_msgs/msg/Odometry",
            "/tf": "tf2_msgs/msg/TFMessage",
            "/arm/joint_states": "sensor_msgs/msg/JointState",
            "/imu": "sensor_msgs/msg/Imu",
            "/wrist": "geometry_msgs/msg/WrenchStamped",
            "/scan": "sensor_msgs/msg/LaserScan",
            "/battery": "std_msgs/msg/Float64",
            "/range": "sensor_msgs/msg/Range",
        }
        connections = {
            topic: bag.add_connection(topic, name, typestore=STORE) for topic, name in topics.items()
        }

        def write(topic, time, message):
            data = STORE.serialize_cdr(message, topics[topic])
            bag.write(connections[topic], time, data)

        for i in range(50):
            stamp, log = START + i * 10_000_001, START + i * 10_000_001 + 5_000
            numbers = [chance.uniform(-10, 10) for _ in range(24)]
            header = make(
                "std_msgs/msg/Header",
                stamp=make("builtin_interfaces/msg/Time", sec=stamp // 10**9, nanosec=stamp % 10**9),
                frame_id="map" if i % 2 else "a_longer_frame_name",
            )
            point = vector("Point", *numbers[:3])
            quaternion = make("geometry_msgs/msg/Quaternion", x=0.5, y=-0.5, z=0.5, w=0.5)
            pose = make("geometry_msgs/msg/Pose", position=point, orientation=quaternion)
            linear, angular = vector("Vector3", *numbers[3:6]), vector("Vector3", *numbers[6:9])
            covariance = np.array([chance.random() for _ in range(36)])

            write("/ball/pose", log, make("geometry_msgs/msg/PoseStamped", header=header, pose=pose))
            for axis, name in enumerate("xyz"):
                note(f"ball/pose/{name}", stamp, numbers[axis])
                note(f"robot/odom/pose/{name}", stamp, numbers[axis])
                note(f"robot/odom/linear_vel/{name}", stamp, numbers[3 + axis])
                note(f"robot/odom/angular_vel/{name}", stamp, numbers[6 + axis])
                note(f"tf/lidar/pose/{name}", stamp, numbers[3 + axis])
                note(f"imu/linear_acceleration/{name}", stamp, numbers[3 + axis])
                note(f"wrist/wrench/force/{name}", stamp, numbers[3 + axis])
                note(f"wrist/wrench/torque/{name}", stamp, numbers[6 + axis])
            note("ball/pose/qy", stamp, -0.5)
            twist = make("geometry_msgs/msg/Twist", linear=linear, angular=angular)
            odometry = make(
                "nav_msgs/msg/Odometry",
                header=header,
                child_frame_id="base",
                pose=make("geometry_msgs/msg/PoseWithCovariance", pose=pose, covariance=covariance),
                twist=make("geometry_msgs/msg/TwistWithCovariance", twist=twist, covariance=covariance),
            )
            write("/robot/odom", log, odometry)
            transforms = [
                make(
                    "geometry_msgs/msg/TransformStamped",
                    header=header,
                    child_frame_id=child,
                    transform=make(
                        "geometry_msgs/msg/Transform", translation=linear, rotation=quaternion
                    ),
                )
                for child in ("base", "lidar")
            ]
            write("/tf", log, make("tf2_msgs/msg/TFMessage", transforms=transforms))
            joints = make(
                "sensor_msgs/msg/JointState",
                header=header,
                name=["shoulder", "elbow"],
                position=np.array(numbers[9:11]),
                velocity=np.array(numbers[11:13]),
                effort=np.array([]),
            )
            write("/arm/joint_states", log, joints)
            for j, name in enumerate(("shoulder", "elbow")):
                note(f"{name}/position", stamp, numbers[9 + j])
                note(f"arm::{name}/velocity", stamp, numbers[11 + j])
            nine = np.array(numbers[13:22])
            imu = make(
                "sensor_msgs/msg/Imu",
                header=header,
                orientation=quaternion,
                orientation_covariance=nine,
                angular_velocity=angular,
                angular_velocity_covariance=nine,
                linear_acceleration=linear,
                linear_acceleration_covariance=nine,
            )
            write("/imu", log, imu)
            note("imu/orientation_covariance/8", stamp, numbers[21])
            wrench = make("geometry_msgs/msg/Wrench", force=linear, torque=angular)
            write("/wrist", log, make("geometry_msgs/msg/WrenchStamped", header=header, wrench=wrench))
            ranges = np.array(numbers[:5], dtype=np.float32)
            scan = make(
                "sensor_msgs/msg/LaserScan",
                header=header,
                angle_min=np.float32(-1.5),
                angle_max=np.float32(1.5),
                angle_increment=np.float32(0.75),
                time_increment=np.float32(0),
                scan_time=np.float32(0.1),
                range_min=np.float32(0.1),
                range_max=np.float32(30),
                ranges=ranges,
                intensities=np.array([], dtype=np.float32),
            )
            write("/scan", log, scan)
            for j in range(5):
                note(f"scan/ranges/{j}", stamp, ranges[j])
            write("/battery", log, make("std_msgs/msg/Float64", data=numbers[22]))
            note("battery", log, numbers[22])
            write(
                "/range",
                log,
                make(
                    "sensor_msgs/msg/Range",
                    header=header,
                    radiation_type=1,
                    field_of_view=np.float32(0.2),
                    min_range=np.float32(0),
                    max_range=np.float32(4),
                    range=np.float32(numbers[23]),
                    variance=np.float32(0),
                ),
            )
            note("range/range", stamp, np.float32(numbers[23]))
            note("range/radiation_type", stamp, 1)

    Path(sys.argv[2]).write_text(json.dumps(expected), encoding="utf-8")
    print(f"keys {len(expected)}")


main()
