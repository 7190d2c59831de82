#!/usr/bin/env python3
"""Counts what is wrong with a mesh file, slowly and by other means than the doctor, and compares.

    recount_mesh.py FILE < output of `drape check --json FILE`

Reads OBJ and PLY by itself. Polygons of more than four corners are left to the doctor: where a file has some, only
what does not depend on how they are cut is compared. Prints what differs; exit code 1 where anything does.
"""
import collections
import itertools
import json
import struct
import sys

LEAST_AREA = 1e-12  # of the square of the longest edge: below that a triangle has none


def read_obj(text):
    """Vertices, polygons as lists of vertex numbers from 0."""
    vertices, faces = [], []
    for line in text.replace("\\\r\n", " ").replace("\\\n", " ").splitlines():
        words = line.split("#")[0].split()
        if not words:
            continue
        if words[0] == "v":
            vertices.append(tuple(float(w) for w in words[1:4]))
        elif words[0] in ("f", "fo"):
            corners = [int(w.split("/")[0]) for w in words[1:]]
            faces.append([c - 1 if c > 0 else len(vertices) + c for c in corners])
    return vertices, faces


TYPES = {"char": "b", "int8": "b", "uchar": "B", "uint8": "B", "short": "h", "int16": "h", "ushort": "H",
         "uint16": "H", "int": "i", "int32": "i", "uint": "I", "uint32": "I", "float": "f", "float32": "f",
         "double": "d", "float64": "d"}


def read_header(data):
    """Whether it is ascii, the mark of the byte order, the elements, and where they begin."""
    end = data.index(b"end_header")
    begin = data.index(b"\n", end) + 1
    kind, elements = None, []
    for line in data[:end].decode("latin-1").splitlines():
        words = line.split()
        if words[:1] == ["format"]:
            kind = words[1]
        elif words[:1] == ["element"]:
            elements.append((words[1], int(words[2]), []))
        elif words[:1] == ["property"]:
            elements[-1][2].append(words[1:])
    return kind == "ascii", ">" if kind == "binary_big_endian" else "<", elements, begin


def read_ply(data):
    ascii_, order, elements, at = read_header(data)
    words = iter(data[at:].split()) if ascii_ else None

    def number(kind):
        nonlocal at
        if ascii_:
            return float(next(words))
        value = struct.unpack_from(order + TYPES[kind], data, at)[0]
        at += struct.calcsize(TYPES[kind])
        return value

    vertices, faces = [], []
    for name, count, properties in elements:
        for _ in range(count):
            row = {}
            for p in properties:
                if p[0] == "list":
                    row[p[3]] = [number(p[2]) for _ in range(int(number(p[1])))]
                else:
                    row[p[1]] = number(p[0])
            if name == "vertex":
                vertices.append((row["x"], row["y"], row["z"]))
            if name == "face":
                faces.append([int(v) for v in row.get("vertex_indices", row.get("vertex_index"))])
    return vertices, faces


def minus(a, b):
    return tuple(p - q for p, q in zip(a, b))


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def dot(a, b):
    return sum(p * q for p, q in zip(a, b))


def cut_quad(x, q):
    """Along the shorter of the diagonals that lie inside."""
    a, b, c, d = (x[v] for v in q)
    normal = cross(minus(c, a), minus(d, b))

    def inside(t):
        return dot(normal, cross(minus(x[t[1]], x[t[0]]), minus(x[t[2]], x[t[0]]))) > 0

    first = [(q[0], q[1], q[2]), (q[0], q[2], q[3])]
    second = [(q[0], q[1], q[3]), (q[1], q[2], q[3])]
    if all(map(inside, first)) != all(map(inside, second)):
        return first if all(map(inside, first)) else second
    return first if dot(minus(c, a), minus(c, a)) <= dot(minus(d, b), minus(d, b)) else second


def has_no_area(x, t):
    edges = [minus(x[t[(k + 1) % 3]], x[t[k]]) for k in range(3)]
    normal = cross(edges[0], edges[1])
    return not dot(normal, normal) ** 0.5 > LEAST_AREA * max(dot(e, e) for e in edges)


def fans_at(vertex, triangles):
    """Groups of triangles at a vertex that hang together by edges there."""
    groups = []
    for t in triangles:
        rim = set(t) - {vertex}
        touching = [g for g in groups if g & rim]
        groups = [g for g in groups if not g & rim] + [rim.union(*touching)]
    return len(groups)


def count(vertices, faces):
    used = {v for f in faces for v in f}
    places = {vertices[v] for v in used}
    counts = {"unreferenced-vertex": len(vertices) - len(used), "duplicate-vertex": len(used) - len(places)}
    if any(len(f) > 4 for f in faces):
        return counts
    triangles = [t for f in faces for t in (cut_quad(vertices, f) if len(f) == 4 else [tuple(f)])]
    triangles = [t for t in triangles if len(set(t)) == 3]
    edges = collections.Counter(frozenset(e) for t in triangles for e in itertools.combinations(t, 2))
    around = collections.defaultdict(list)
    for t in triangles:
        for v in t:
            around[v].append(t)
    counts["non-manifold-edge"] = sum(n > 2 for n in edges.values())
    counts["duplicate-triangle"] = len(triangles) - len({frozenset(t) for t in triangles})
    counts["degenerate-triangle"] = sum(has_no_area(vertices, t) for t in triangles)
    counts["bow-tie-vertex"] = sum(fans_at(v, ts) > 1 for v, ts in around.items())
    return counts


def main():
    path = sys.argv[1]
    data = open(path, "rb").read()
    vertices, faces = read_ply(data) if data.startswith(b"ply") else read_obj(data.decode("latin-1"))
    report = json.load(sys.stdin)
    found = collections.Counter()
    for finding in report["findings"]:
        found[finding["code"]] += finding["count"]
    if not faces:
        wrong = [] if found["bad-mesh"] == 1 else ["a file without faces was not refused"]
    else:
        wrong = [f"{code}: {found[code]} found, {n} counted" for code, n in count(vertices, faces).items()
                 if found[code] != n]
        if report["vertices"] != len(vertices):
            wrong.append(f"{report['vertices']} vertices read, {len(vertices)} counted")
    for line in wrong:
        print(f"{path}: {line}")
    sys.exit(1 if wrong else 0)


main()
