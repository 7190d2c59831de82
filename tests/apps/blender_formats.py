"""Blender plays a point cache: blender --background --python-exit-code 3 --python blender_pc2.py -- FOLDER

FOLDER holds sheet.pc2, sheet_rest.obj and the same run as sheet_NNNN.obj. The rest mesh is imported as docs/formats.md
says, gets a Mesh Cache modifier, and its vertices are compared with the OBJ files at three frames."""
import os
import sys

import bpy

folder = sys.argv[sys.argv.index("--") + 1]


def vertices_of(path):
    with open(path) as lines:
        return [tuple(map(float, line.split()[1:4])) for line in lines if line.startswith("v ")]


bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.ops.wm.obj_import(filepath=os.path.join(folder, "sheet_rest.obj"), forward_axis="Y", up_axis="Z")
sheet = bpy.context.selected_objects[0]
cache = sheet.modifiers.new("cache", "MESH_CACHE")
cache.cache_format = "PC2"
cache.filepath = os.path.join(folder, "sheet.pc2")
cache.frame_start = 0

for frame in (0, 5, 10):
    bpy.context.scene.frame_set(frame)
    shown = sheet.evaluated_get(bpy.context.evaluated_depsgraph_get())
    got = [shown.matrix_world @ v.co for v in shown.data.vertices]
    want = vertices_of(os.path.join(folder, f"sheet_{frame:04d}.obj"))
    assert len(got) == len(want), (frame, len(got), len(want))
    off = max(max(abs(a - b) for a, b in zip(g, w)) for g, w in zip(got, want))
    moved = max(abs(w[2] - s[2]) for w, s in zip(want, vertices_of(os.path.join(folder, "sheet_0000.obj"))))
    print(f"frame {frame}: {len(got)} vertices, off by at most {off:.2e} m, moved by {moved:.3f} m")
    assert off < 1e-6, (frame, off)
    assert frame == 0 or moved > 1e-3, (frame, moved)
