"""abc_check.py FILE.abc STEM [FPS]: whether an archive holds what STEM_0000.obj, STEM_0001.obj, ... of the same run do:
every vertex of every frame to 1e-6, triangles, normals, texture coordinates, bounds, times. Prints what it saw."""
import math
import sys

sys.dont_write_bytecode = True
import abc_read  # noqa: E402
from abc_read import require  # noqa: E402


class Mesh:
    def __init__(self, name):
        self.name, self.v, self.vn, self.vt, self.f = name, [], [], [], []


def turn(p):
    """z up becomes y up."""
    return (p[0], p[2], -p[1])


def read_obj(path):
    meshes, counts = [], {"v": 0, "vt": 0, "vn": 0}
    with open(path) as file:
        for line in file:
            words = line.split()
            if line.startswith("o "):
                meshes.append(Mesh(line[2:].rstrip("\n")))
                start = dict(counts)
            elif words and words[0] in counts:
                getattr(meshes[-1], words[0]).append(tuple(float(word) for word in words[1:]))
                counts[words[0]] += 1
            elif words and words[0] == "f":
                corners = [(word + "//").split("/")[:3] for word in words[1:]]
                meshes[-1].f.append([(int(v) - 1 - start["v"], int(vt) - 1 - start["vt"] if vt else None)
                                     for v, vt, _ in corners])
    return meshes


def near(a, b, allowed=1e-6):
    return all(abs(x - y) <= allowed * (1 + max(map(abs, b))) for x, y in zip(a, b))


def transform(m, p):
    return tuple(p[0] * m[k] + p[1] * m[4 + k] + p[2] * m[8 + k] + m[12 + k] for k in range(3))


def matrix_of(node, frame):
    xform = node.property(".xform")
    require(xform.find(".inherits").sample(frame) is True, "inherits")
    if not xform.has(".vals"):
        require([p.name for p in xform.children] == [".inherits"], "an Xform without values")
        return [float(i % 5 == 0) for i in range(16)]
    require(xform.find(".ops").sample(0) == 0x30 and xform.find("isNotConstantIdentity").sample(0), "operations")
    values = xform.find(".vals").sample(frame)
    animated = {i for i in range(16)
                for f in range(frame + 1) if xform.find(".vals").sample(f)[i] != xform.find(".vals").sample(0)[i]}
    require(animated <= set(xform.find(".animChans").sample(frame)), "channels that move")
    rows = [values[4 * i : 4 * i + 3] for i in range(3)]
    for i in range(3):
        for j in range(3):
            require(abs(sum(x * y for x, y in zip(rows[i], rows[j])) - (i == j)) < 1e-12, "not a rotation")
    return values


def bounds_of(points):
    low, high = [min(c) for c in zip(*points)], [max(c) for c in zip(*points)]
    return tuple(low + high) if points else tuple([sys.float_info.max] * 3 + [-sys.float_info.max] * 3)


def check_mesh(mesh, node, frame, wanted):
    where = "%s, frame %d: " % (mesh.path, frame)
    geom, matrix = mesh.property(".geom"), matrix_of(node, frame)
    points = geom.find("P").sample(frame)
    require(len(points) == len(wanted.v), where + "vertices")
    world = [transform(matrix, p) for p in points]
    for i, (p, v) in enumerate(zip(world, wanted.v)):
        require(near(p, turn(v)), where + "vertex %d: %s, not %s" % (i, p, turn(v)))
    require(geom.find(".selfBnds").sample(frame) == bounds_of(points), where + ".selfBnds")
    require(geom.find(".faceCounts").sample(frame) == [3] * len(wanted.f), where + "counts")
    require(geom.find(".faceIndices").sample(frame) == [v for f in wanted.f for v, _ in reversed(f)], where + "corners")
    require(geom.find(".faceIndices").constant and geom.find(".faceCounts").constant, where + "triangles that change")
    require(geom.has("N") == bool(wanted.vn), where + "normals")
    for n, vn in zip(geom.find("N").sample(frame) if wanted.vn else [], wanted.vn):
        require(near(n, turn(vn), 3e-6) and abs(math.hypot(*n) - 1) < 1e-6, where + "normal %s, not %s" % (n, turn(vn)))
    require(geom.has("uv") == bool(wanted.vt), where + "texture coordinates")
    if wanted.vt:
        uv, index = geom.find("uv/.vals").sample(frame), geom.find("uv/.indices").sample(frame)
        own = [wanted.vt[t] for f in wanted.f for _, t in reversed(f)]
        require(len(index) == len(own) and all(near(uv[i], vt) for i, vt in zip(index, own)), where + "uv")
        require(geom.find("uv").metadata["geoScope"] == "fvr", where + "uv are not of corners")
    return world


def schemas(archive):
    for node in archive.top.children:
        require(node.metadata["schema"] == "AbcGeom_Xform_v3" and len(node.children) == 1, "schema of " + node.path)
        mesh = node.children[0]
        require(mesh.metadata["schemaObjTitle"] == "AbcGeom_PolyMesh_v1:.geom", "schema of " + mesh.path)
        require(mesh.name == node.name + "Shape", "name of " + mesh.path)
        require(mesh.property(".geom/P").metadata == {"geoScope": "vtx", "interpretation": "point"}, "P of " + mesh.path)


def check(path, stem, fps=25.0):
    archive = abc_read.Archive(path)
    schemas(archive)
    require(archive.metadata["_ai_Application"].startswith("drape "), "application")
    require(abs(float(archive.metadata["_ai_DCC_FPS"]) - fps) < 1e-6 * fps, "frame rate")
    require("_ai_DateWritten" not in archive.metadata, "a date")
    top = archive.top.property(".childBnds")
    frames = top.count
    most, step, times = archive.times[top.list]
    require(top.list == 1 and times == [0.0] and abs(step - 1 / fps) <= 1e-12, "times: %g, %s" % (step, times))
    require(most == frames or all(p.constant for m in archive.meshes() for p in [m.property(".geom/P")]), "most samples")
    for frame in range(frames):
        wanted, reach = read_obj("%s_%04d.obj" % (stem, frame)), []
        require(len(wanted) == len(archive.top.children), "%d meshes" % len(archive.top.children))
        for node, mesh in zip(archive.top.children, wanted):
            reach += check_mesh(node.children[0], node, frame, mesh)
        require(near(top.sample(frame), bounds_of(reach)), "frame %d: .childBnds" % frame)
    return archive, frames


if __name__ == "__main__":
    try:
        checked, count = check(sys.argv[1], sys.argv[2], *map(float, sys.argv[3:]))
    except abc_read.Wrong as wrong:
        sys.exit("%s: %s" % (sys.argv[1], wrong))
    print(count, "frames of", " ".join(node.name for node in checked.top.children))
