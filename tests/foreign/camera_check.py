"""Readers that are not ours look at the pictures of a recording.

camera_check.py RECORDING: reads it with mcap-ros2-support and OpenCV, and prints one line per thing
that is found out:

  undistorted MEAN ALONE   `lens`, undistorted with its own CameraInfo, against `eye`: the mean
                           difference in grey levels; and that of `eye` itself, distorted and
                           undistorted by OpenCV, which is what mixing pixels twice does
  compressed TOPIC N       pictures of a topic that OpenCV decodes to the size of their CameraInfo
  disparity OURS THEIRS    how far the crate is shifted between the stereo pictures by matching
                           blocks, against fx * baseline / depth
  points MOST              how far points of the cloud are from the rays of their pixels at most [px]
  labels SORTED            the labels that the segmentation camera shows
  latency SECS             between stamp and log time of `worn`
"""

import sys

import cv2
import numpy as np
from mcap_ros2.reader import read_ros2_messages

topics = {}
for message in read_ros2_messages(sys.argv[1]):
    topics.setdefault(message.channel.topic, []).append(message)


def first(topic):
    return topics[topic][0].ros_msg


def picture(message):
    kinds = {"rgb8": (np.uint8, 3), "mono8": (np.uint8, 1), "32FC1": (np.float32, 1)}
    kinds["16UC1"] = (np.uint16, 1)
    dtype, n = kinds[message.encoding]
    flat = np.frombuffer(bytes(message.data), dtype=dtype)
    assert message.step == message.width * n * np.dtype(dtype).itemsize
    shape = (message.height, message.width, n) if n > 1 else (message.height, message.width)
    return flat.reshape(shape)


def compressed(message):
    return cv2.imdecode(np.frombuffer(bytes(message.data), np.uint8), cv2.IMREAD_COLOR)


eye = picture(first("/rig/eye/image_raw"))[:, :, ::-1].astype(float)
lens = compressed(first("/rig/lens/image_raw/compressed"))
info = first("/rig/lens/camera_info")
k, d = np.array(info.k).reshape(3, 3), np.array(info.d)
assert info.distortion_model == "plumb_bob"
back = cv2.undistort(lens, k, d).astype(float)
height, width = lens.shape[:2]
pixels = np.stack(np.meshgrid(np.arange(width), np.arange(height)), -1).reshape(-1, 1, 2)
source = cv2.undistortPoints(pixels.astype(float), k, d, P=k).reshape(height, width, 2)
source = source.astype(np.float32)
itself = cv2.remap(eye, source[..., 0], source[..., 1], cv2.INTER_LINEAR)
itself = cv2.undistort(itself, k, d)
# What the pinhole does not see, OpenCV cannot distort.
inner = np.s_[12:-12, 12:-12]
off = [np.abs(picture - eye)[inner].mean() for picture in (back, itself)]
print("undistorted", off[0], off[1])

for name in ["lens", "worn"]:
    info = first(f"/rig/{name}/camera_info")
    messages = topics[f"/rig/{name}/image_raw/compressed"]
    good = [m for m in messages if compressed(m.ros_msg).shape == (info.height, info.width, 3)]
    print("compressed", name, len(good))

left, right = (picture(first(f"/rig/stereo/{side}/image_raw")) for side in ["left", "right"])
depth = picture(first("/rig/depth/depth/image_raw"))
p = np.array(first("/rig/stereo/right/camera_info").p).reshape(3, 4)
# A patch on the crate, where the depth camera between the two sees it.
v, u = 84, 100
z = depth[v, u]
patch = left[v - 6 : v + 7, u - 6 : u + 7].astype(np.float32)
row = right[v - 6 : v + 7].astype(np.float32)
score = cv2.matchTemplate(row, patch, cv2.TM_SQDIFF)[0]
at = int(score.argmin())
print("disparity", u - 6 - at, -p[0, 3] / z)

cloud = first("/rig/depth/points")
points = np.frombuffer(bytes(cloud.data), np.float32).reshape(cloud.height, cloud.width, 4)[:, :, :3]
k = np.array(first("/rig/depth/camera_info").k).reshape(3, 3)
good = np.isfinite(points[:, :, 2])
pixels = (points[good].astype(float) @ k.T)
pixels = pixels[:, :2] / pixels[:, 2:]
vv, uu = np.nonzero(good)
print("points", np.abs(pixels - np.stack([uu, vv], 1)).max(), good.mean())
print("labels", sorted(set(picture(first("/rig/classes/labels_map")).flatten().tolist())))
worn = topics["/rig/worn/image_raw/compressed"][0]
stamp = worn.ros_msg.header.stamp
print("latency", worn.log_time_ns * 1e-9 - stamp.sec - stamp.nanosec * 1e-9, stamp.nanosec)
