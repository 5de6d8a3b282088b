"""Writes scenes as COLLADA and glTF and prints what the libraries that wrote them read back:
file, triangles, lowest corner, highest corner, volume. Lengths in metres, axes as they stand."""

import pathlib
import sys

import collada
import numpy as np
import trimesh
from trimesh import transformations

N_SCENES = 6


def some_transform(rng):
    """A turn, a stretch that is the same along every axis, a shift."""
    matrix = transformations.random_rotation_matrix(rng.random(3))
    matrix[:3, :3] *= rng.uniform(0.2, 3.0)
    matrix[:3, 3] = rng.normal(size=3)
    return matrix


def some_shapes(rng):
    return [
        trimesh.creation.box(rng.uniform(0.1, 2.0, 3)),
        trimesh.creation.cylinder(radius=0.3, height=1.0, sections=16),
        trimesh.creation.icosphere(subdivisions=1, radius=0.5),
    ]


def write_gltf(path, rng, chained):
    scene, parent = trimesh.Scene(), None
    for i, shape in enumerate(some_shapes(rng)):
        scene.add_geometry(
            shape,
            node_name=f"node_{i}",
            geom_name=f"shape_{i}",
            parent_node_name=parent if chained else None,
            transform=some_transform(rng),
        )
        parent = f"node_{i}"
    scene.export(path)


def read_gltf(path):
    return trimesh.load_scene(path).to_geometry().triangles


def write_collada(path, rng, chained):
    """Centimetres; each node holds its shape, and the next node where they are chained."""
    document = collada.Collada()
    document.assetInfo.unitname, document.assetInfo.unitmeter = "centimeter", 0.01
    nodes = []
    for i, shape in enumerate(some_shapes(rng)):
        numbers = collada.source.FloatSource(f"points_{i}", shape.vertices.ravel(), ("X", "Y", "Z"))
        geometry = collada.geometry.Geometry(document, f"shape_{i}", f"shape_{i}", [numbers])
        inputs = collada.source.InputList()
        inputs.addInput(0, "VERTEX", f"#points_{i}")
        geometry.primitives.append(geometry.createTriangleSet(shape.faces.ravel(), inputs, "none"))
        document.geometries.append(geometry)
        matrix = collada.scene.MatrixTransform(some_transform(rng).ravel())
        shown = collada.scene.GeometryNode(geometry, [])
        nodes.append(collada.scene.Node(f"node_{i}", children=[shown], transforms=[matrix]))
    if chained:
        for outer, inner in zip(nodes, nodes[1:]):
            outer.children.append(inner)
        nodes = nodes[:1]
    scene = collada.scene.Scene("scene", nodes)
    document.scenes.append(scene)
    document.scene = scene
    document.write(path)


def read_collada(path):
    document = collada.Collada(path)
    parts = [
        part.vertex[part.vertex_index]
        for shown in document.scene.objects("geometry")
        for part in shown.primitives()
    ]
    return np.concatenate(parts).astype(float) * document.assetInfo.unitmeter


def main():
    folder = pathlib.Path(sys.argv[1])
    rng = np.random.default_rng(7)
    for i in range(N_SCENES):
        for ending, write, read in [("glb", write_gltf, read_gltf), ("dae", write_collada, read_collada)]:
            path = str(folder / f"scene_{i}.{ending}")
            write(path, rng, chained=i % 2 == 1)
            corners = read(path)
            a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
            volume = np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0
            points = corners.reshape(-1, 3)
            figures = [*points.min(axis=0), *points.max(axis=0), volume]
            print(f"scene_{i}.{ending}", len(corners), *(repr(float(x)) for x in figures))


main()
