"""OpenCV decides whether our lenses are right.

lens_check.py project FOLDER: for every camera in cameras.json, a file of rows x y z u v says where
we project directions; prints how far OpenCV's pixels are from ours at most, one line a camera.

lens_check.py undistort FOLDER: undistorts distorted.png by OpenCV with the intrinsics in
cameras.json and prints the mean difference from pinhole.png in grey levels, where both see.
"""

import json
import pathlib
import sys

import cv2
import numpy as np


def matrix(camera):
    fx, fy, cx, cy = camera["fx"], camera["fy"], camera["cx"], camera["cy"]
    return np.array([[fx, 0, cx], [0, fy, cy], [0, 0, 1.0]])


def project(folder):
    for i, camera in enumerate(json.loads((folder / "cameras.json").read_text())):
        rows = np.fromfile(folder / f"rows{i}.f64").reshape(-1, 5)
        # OpenCV's fisheye does not look at strides.
        points, ours = np.ascontiguousarray(rows[:, :3]).reshape(-1, 1, 3), rows[:, 3:]
        zero, k = np.zeros(3), np.array(camera["coefficients"])
        skew = camera["skew"]
        if camera["model"] == "fisheye":
            theirs, _ = cv2.fisheye.projectPoints(points, zero, zero, matrix(camera), k, alpha=skew)
        elif skew:
            # The model without K, which has no skew there; then K by hand.
            bent, _ = cv2.projectPoints(points, zero, zero, np.eye(3), k)
            x, y = bent[:, 0, 0], bent[:, 0, 1]
            u = camera["fx"] * (x + skew * y) + camera["cx"]
            theirs = np.stack([u, camera["fy"] * y + camera["cy"]], axis=1)
        else:
            theirs, _ = cv2.projectPoints(points, zero, zero, matrix(camera), k)
        off = np.abs(theirs.reshape(-1, 2) - ours).max()
        print(camera["name"], len(rows), off)


def undistort(folder):
    for i, camera in enumerate(json.loads((folder / "cameras.json").read_text())):
        pinhole = cv2.imread(str(folder / f"pinhole{i}.png"))
        distorted = cv2.imread(str(folder / f"distorted{i}.png"))
        k = np.array(camera["coefficients"])
        if camera["model"] == "fisheye":
            back = cv2.fisheye.undistortImage(distorted, matrix(camera), k, Knew=matrix(camera))
            mask = cv2.fisheye.undistortImage(
                np.full_like(distorted, 255), matrix(camera), k, Knew=matrix(camera)
            )
        else:
            back = cv2.undistort(distorted, matrix(camera), k)
            mask = cv2.undistort(np.full_like(distorted, 255), matrix(camera), k)
        seen = mask[:, :, 0] == 255
        off = np.abs(back.astype(float) - pinhole.astype(float))[seen]
        print(camera["name"], seen.mean(), off.mean())


{"project": project, "undistort": undistort}[sys.argv[1]](pathlib.Path(sys.argv[2]))
