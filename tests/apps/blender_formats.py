"""Blender opens what drape writes: blender --background --python-exit-code 3 --python blender_formats.py -- FOLDER

FOLDER holds one run as sheet.pc2, sheet.mdd, sheet_rest.obj, sheet.glb, sheet_NNNN.obj and sheet_NNNN.ply. Each is opened as
docs/formats.md says, and its vertices are compared with the numbers in the OBJ files at three frames."""
import os
import sys

import bpy
import numpy

numpy.bool = bool  # Debian's importer of glTF is older than its numpy, which has no such name any more

FRAMES = (0, 5, 10)
folder = sys.argv[sys.argv.index("--") + 1]


def path_of(name):
    return os.path.join(folder, name)


def wanted(frame):
    with open(path_of(f"sheet_{frame:04d}.obj")) as lines:
        return [tuple(map(float, line.split()[1:4])) for line in lines if line.startswith("v ")]


def begin():
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.render.fps = 25


def imported():
    meshes = [o for o in bpy.context.selected_objects if o.type == "MESH"]
    assert len(meshes) == 1, meshes
    return meshes[0]


def compare(what, sheet, frame):
    bpy.context.scene.frame_set(frame)
    shown = sheet.evaluated_get(bpy.context.evaluated_depsgraph_get())
    got = [shown.matrix_world @ v.co for v in shown.data.vertices]
    want = wanted(frame)
    assert len(got) == len(want), (what, frame, len(got), len(want))
    off = max(max(abs(a - b) for a, b in zip(g, w)) for g, w in zip(got, want))
    moved = max(abs(w[2] - s[2]) for w, s in zip(want, wanted(0)))
    print(f"{what} frame {frame}: {len(got)} vertices, off by at most {off:.2e} m, moved by {moved:.3f} m")
    assert off < 1e-6, (what, frame, off)
    assert frame == 0 or moved > 1e-3, (what, frame, moved)
    assert shown.data.uv_layers, what


def cache(kind):
    begin()
    bpy.ops.wm.obj_import(filepath=path_of("sheet_rest.obj"), forward_axis="Y", up_axis="Z")
    sheet = imported()
    modifier = sheet.modifiers.new("cache", "MESH_CACHE")
    modifier.cache_format = kind
    modifier.filepath = path_of(f"sheet.{kind.lower()}")
    modifier.frame_start = 0
    for frame in FRAMES:
        compare(kind, sheet, frame)


def glb():
    begin()
    bpy.ops.import_scene.gltf(filepath=path_of("sheet.glb"))
    for frame in FRAMES:
        compare("GLB", imported(), frame)


def sequence(kind):
    for frame in FRAMES:
        begin()
        if kind == "OBJ":
            bpy.ops.wm.obj_import(filepath=path_of(f"sheet_{frame:04d}.obj"), forward_axis="Y", up_axis="Z")
        else:
            bpy.ops.import_mesh.ply(filepath=path_of(f"sheet_{frame:04d}.ply"))
        compare(kind, imported(), frame)


cache("PC2")
cache("MDD")
glb()
sequence("OBJ")
sequence("PLY")
