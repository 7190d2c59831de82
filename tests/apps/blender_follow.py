"""Blender writes point caches: blender --background --python-exit-code 3 --python blender_follow.py -- FOLDER

A grid of 6 x 6 vertices waves, turns and travels for 12 frames. FOLDER gets sheet.obj, the grid at frame 0,
and sheet.pc2 and sheet.mdd by Blender's own exporters. In shown.json is where Blender's Mesh Cache modifier has the vertices of
sheet.pc2 at every quarter of a frame."""
import json
import os
import sys

import bpy

FRAMES = 13
folder = sys.argv[sys.argv.index("--") + 1]

bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.context.scene.render.fps = 24
bpy.ops.mesh.primitive_grid_add(x_subdivisions=5, y_subdivisions=5, size=0.5)
sheet = bpy.context.object
wave = sheet.modifiers.new("wave", "WAVE")
wave.height = 0.03
wave.width = 0.2
wave.narrowness = 8
wave.speed = 0.02
wave.time_offset = -40
for frame, place, turn in ((0, (0, 0, 1), (0, 0, 0)), (FRAMES - 1, (0.2, 0.1, 1.2), (0.3, -0.4, 0.8))):
    sheet.location = place
    sheet.rotation_euler = turn
    sheet.keyframe_insert("location", frame=frame)
    sheet.keyframe_insert("rotation_euler", frame=frame)


def evaluated(frame):
    bpy.context.scene.frame_set(frame)
    shown = sheet.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return [tuple(shown.matrix_world @ v.co) for v in shown.data.vertices]


frames = [evaluated(f) for f in range(FRAMES)]
for addon in ("io_export_pc2", "io_shape_mdd"):
    bpy.ops.preferences.addon_enable(module=addon)
bpy.ops.export_shape.pc2(filepath=os.path.join(folder, "sheet.pc2"), rot_x90=False, world_space=True, apply_modifiers=True,
                         range_start=0, range_end=FRAMES - 1, sampling="1")
bpy.ops.export_shape.mdd(filepath=os.path.join(folder, "sheet.mdd"), fps=24, frame_start=0, frame_end=FRAMES - 1, use_rest_frame=False)
with open(os.path.join(folder, "sheet.obj"), "w") as out:
    for vertex in frames[0]:
        out.write("v %.9g %.9g %.9g\n" % vertex)
    for face in sheet.data.polygons:
        out.write("f " + " ".join(str(v + 1) for v in face.vertices) + "\n")

# What Blender's own Mesh Cache modifier makes of the file, at frames and between them.
bpy.ops.mesh.primitive_grid_add(x_subdivisions=5, y_subdivisions=5, size=0.5)
player = bpy.context.object
cache = player.modifiers.new("cache", "MESH_CACHE")
cache.cache_format = "PC2"
cache.filepath = os.path.join(folder, "sheet.pc2")
cache.frame_start = 0
cache.interpolation = "LINEAR"
shown = []
for quarter in range(4 * (FRAMES - 1) + 1):
    bpy.context.scene.frame_set(quarter // 4, subframe=quarter % 4 / 4)
    mesh = player.evaluated_get(bpy.context.evaluated_depsgraph_get())
    shown.append([tuple(mesh.matrix_world @ v.co) for v in mesh.data.vertices])
with open(os.path.join(folder, "shown.json"), "w") as out:
    json.dump(shown, out)
print(f"wrote {FRAMES} frames of {len(frames[0])} vertices")
