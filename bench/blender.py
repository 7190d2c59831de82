"""Blender's part of `drape bench blender`:

    blender --background --factory-startup --threads T --python-exit-code 3 --python blender.py -- FOLDER

FOLDER/task.json says what to simulate. FOLDER/cloth and FOLDER/ball hold the vertices of a mesh (3 doubles each) followed
by its triangles (3 32-bit integers each). FOLDER/frames gets the vertices of every frame after the first (3 32-bit floats
each, which is what Blender computes with). FOLDER/seconds gets a line for each: wall-clock and processor seconds that it took.

Whatever is not set here is as Blender comes."""
import array
import json
import os
import sys
import time

import bpy

folder = sys.argv[sys.argv.index("--") + 1]
with open(os.path.join(folder, "task.json")) as file:
    task = json.load(file)


def threes(file, kind, count):
    numbers = array.array(kind)
    numbers.fromfile(file, 3 * count)
    return list(zip(numbers[0::3], numbers[1::3], numbers[2::3]))


def mesh_of(name):
    with open(os.path.join(folder, name), "rb") as file:
        vertices = threes(file, "d", task[name]["vertices"])
        triangles = threes(file, "i", task[name]["triangles"])
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(vertices, [], triangles)
    thing = bpy.data.objects.new(name, mesh)
    bpy.context.collection.objects.link(thing)
    return thing


bpy.ops.wm.read_factory_settings(use_empty=True)
scene = bpy.context.scene
scene.render.fps = task["fps"]
scene.frame_start, scene.frame_end = 1, 1 + task["frames"]
scene.gravity = (0, 0, -9.81)

collides = "ball" in task
if collides:
    ball = mesh_of("ball")
    ball.modifiers.new("collision", "COLLISION")
    ball.collision.thickness_outer = 0.001  # the least there is: the cloth's own distance counts

sheet = mesh_of("cloth")
cloth = sheet.modifiers.new("cloth", "CLOTH")
cloth.settings.quality = task["steps"]
if task["pins"]:
    sheet.vertex_groups.new(name="pins").add(task["pins"], 1, "REPLACE")
    cloth.settings.vertex_group_mass = "pins"
cloth.collision_settings.use_collision = collides
cloth.collision_settings.distance_min = task["distance"]
cloth.collision_settings.use_self_collision = collides
cloth.collision_settings.self_distance_min = task["distance"]
cloth.point_cache.frame_start, cloth.point_cache.frame_end = scene.frame_start, scene.frame_end

scene.frame_set(scene.frame_start)
with open(os.path.join(folder, "frames"), "wb") as frames, open(os.path.join(folder, "seconds"), "w") as seconds:
    for frame in range(scene.frame_start + 1, scene.frame_end + 1):
        wall, processor = time.perf_counter(), time.process_time()
        scene.frame_set(frame)
        shown = sheet.evaluated_get(bpy.context.evaluated_depsgraph_get())
        seconds.write("%.6f %.6f\n" % (time.perf_counter() - wall, time.process_time() - processor))
        positions = array.array("f", bytes(12 * len(shown.data.vertices)))
        shown.data.vertices.foreach_get("co", positions)
        positions.tofile(frames)
