"""An engine of one's own: spheres that fly freely and bounce on level planes.

    headland run worlds/ball.sdf --engine crates/engines/examples/bouncing_spheres.py
"""
import json
import sys


def say(message):
    print(json.dumps(message), flush=True)


class World:
    def __init__(self, scene):
        self.dt, self.gravity, self.rigids = scene["step_ns"] * 1e-9, scene["gravity"], scene["rigids"]
        shapes = [(rigid, shape) for rigid in self.rigids for shape in rigid["shapes"]]
        self.cannot = [f"joint `{joint['name']}`: there are no joints here" for joint in scene["joints"]]
        self.cannot += [f"link `{rigid['name']}`: no {shape['form']} here" for rigid, shape in shapes
                        if shape["form"] != ("plane" if rigid["motion"] == "static" else "sphere")]
        self.realised = ["spheres neither turn nor rub, and pass through each other"]
        self.planes = [(rigid["pose"][2], shape) for rigid, shape in shapes if shape["form"] == "plane"]

    def step(self, wrenches):
        contacts = []
        for i, rigid in enumerate(self.rigids):
            if rigid["motion"] == "static":
                continue
            force = [sum(w[1 + k] for w in wrenches if w[0] == i) for k in range(3)]
            for k in range(3):
                pull = self.gravity[k] if rigid["gravity"] else 0.0
                rigid["velocity"][k] += (pull + force[k] / rigid["mass"]) * self.dt
            for height, plane in self.planes:
                for shape in rigid["shapes"]:
                    depth = height + shape["radius"] - rigid["pose"][2] - shape["pose"][2]
                    speed = rigid["velocity"][2]
                    if depth >= 0.0 and speed < 0.0:
                        e = min(plane["restitution"], shape["restitution"])
                        rigid["velocity"][2] = -e * speed
                        push = (1.0 + e) * rigid["mass"] * -speed / self.dt
                        at = [rigid["pose"][0], rigid["pose"][1], height]
                        a, b, up = plane["body"], shape["body"], 1.0
                        if a > b:
                            a, b, up = b, a, -1.0
                        contacts.append([a, b, [*at, 0.0, 0.0, up, depth, 0.0, 0.0, up * push]])
            for k in range(3):
                rigid["pose"][k] += rigid["velocity"][k] * self.dt
        return {"rigids": [rigid["pose"] + rigid["velocity"] for rigid in self.rigids], "contacts": contacts}


say({"headland_engine": 1, "name": "bouncing-spheres", "version": "1.0"})
for line in sys.stdin:
    message = json.loads(line)
    if message["do"] == "start":
        world = World(message)
        say({"realised": world.realised, "cannot": world.cannot})
    elif message["do"] == "step":
        say(world.step(message["wrenches"]))
    else:
        break
