"""Draws the scene in a JSON file with MuJoCo's and PyBullet's software renderers on one core.

render_peers.py SCENE.json N FOLDER PEER...: prints `name seconds` a line, processor seconds of one frame of
640 x 480, the least of three rounds of N frames; leaves each renderer's picture in FOLDER.
"""

import json
import os
import sys
import time

os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
os.environ.setdefault("MUJOCO_GL", "egl")
os.environ["LP_NUM_THREADS"] = "1"

import numpy as np

WIDTH, HEIGHT = 640, 480
scene = json.load(open(sys.argv[1]))
n_frames, folder = int(sys.argv[2]), sys.argv[3]


def timed(name, frame):
    best = float("inf")
    picture = frame()
    for _ in range(3):
        start = time.process_time()
        for _ in range(n_frames):
            picture = frame()
        best = min(best, (time.process_time() - start) / n_frames)
    print(name.replace(" ", "_"), best, flush=True)
    import cv2

    cv2.imwrite(f"{folder}/{name.replace(' ', '_')}.png", np.asarray(picture)[:, :, 2::-1])


def text(numbers):
    return " ".join(f"{x:.9g}" for x in numbers)


def mujoco_peer():
    import mujoco

    geoms = []
    for item in scene["items"]:
        size, kind = item["size"], item["kind"]
        size = {
            "box": [x / 2 for x in size],
            "sphere": size,
            "cylinder": [size[0], size[1] / 2] if len(size) > 1 else size,
            "capsule": [size[0], size[1] / 2] if len(size) > 1 else size,
            "plane": [size[0] / 2, size[1] / 2, 0.1] if len(size) > 1 else size,
        }[kind]
        geoms.append(
            f'<geom type="{kind}" size="{text(size)}" pos="{text(item["pos"])}" '
            f'quat="{text(item["quat"])}" rgba="{text(item["rgba"])}"/>'
        )
    camera = scene["camera"]
    xml = f"""<mujoco><visual><global offwidth="{WIDTH}" offheight="{HEIGHT}"/></visual>
    <worldbody><light directional="true" castshadow="true" pos="0 0 8" dir="{text(scene["sun"])}"/>
    <camera name="eye" pos="{text(camera["pos"])}" xyaxes="{text(camera["right"])} {text(camera["up"])}"
      fovy="{camera["fovy"]}"/>{"".join(geoms)}</worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    renderer = mujoco.Renderer(model, HEIGHT, WIDTH)

    def frame():
        renderer.update_scene(data, camera="eye")
        return renderer.render()

    timed("mujoco shadows", frame)
    for flag in (mujoco.mjtRndFlag.mjRND_SHADOW, mujoco.mjtRndFlag.mjRND_REFLECTION):
        renderer.scene.flags[flag] = False

    timed("mujoco no shadows", frame)


def pybullet_peer():
    import pybullet

    pybullet.connect(pybullet.DIRECT)
    for item in scene["items"]:
        size, kind = item["size"], item["kind"]
        how = {
            "box": lambda: dict(shapeType=pybullet.GEOM_BOX, halfExtents=[x / 2 for x in size]),
            "sphere": lambda: dict(shapeType=pybullet.GEOM_SPHERE, radius=size[0]),
            "cylinder": lambda: dict(shapeType=pybullet.GEOM_CYLINDER, radius=size[0], length=size[1]),
            "capsule": lambda: dict(shapeType=pybullet.GEOM_CAPSULE, radius=size[0], length=size[1]),
            # A plane that ends is a thin box.
            "plane": lambda: dict(
                shapeType=pybullet.GEOM_BOX, halfExtents=[size[0] / 2, size[1] / 2, 1e-4]
            ),
        }[kind]()
        shape = pybullet.createVisualShape(rgbaColor=item["rgba"], **how)
        w, x, y, z = item["quat"]
        pybullet.createMultiBody(0, -1, shape, item["pos"], [x, y, z, w])
    camera = scene["camera"]
    view = pybullet.computeViewMatrix(camera["pos"], camera["at"], [0, 0, 1])
    lens = pybullet.computeProjectionMatrixFOV(camera["fovy"], WIDTH / HEIGHT, 0.05, 50)

    def frame(shadow):
        image = pybullet.getCameraImage(
            WIDTH,
            HEIGHT,
            view,
            lens,
            lightDirection=[-x for x in scene["sun"]],
            shadow=shadow,
            flags=pybullet.ER_NO_SEGMENTATION_MASK,
            renderer=pybullet.ER_TINY_RENDERER,
        )
        return np.reshape(image[2], (HEIGHT, WIDTH, 4))

    timed("tinyrenderer shadows", lambda: frame(1))
    timed("tinyrenderer no shadows", lambda: frame(0))


for peer in sys.argv[4:]:
    {"mujoco": mujoco_peer, "pybullet": pybullet_peer}[peer]()
