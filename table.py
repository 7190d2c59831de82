# table.py: opens the run in Blender, saves it as tablecloth.blend and renders one frame.
import os

import bpy

bpy.ops.wm.read_factory_settings(use_empty=True)
scene = bpy.context.scene
scene.render.fps = 25
scene.frame_start, scene.frame_end = 0, 75


def paint(thing, red, green, blue):
    material = bpy.data.materials.new("paint")
    material.use_nodes = True
    material.node_tree.nodes["Principled BSDF"].inputs["Base Color"].default_value = (red, green, blue, 1)
    thing.data.materials.append(material)


# The cloth: its mesh, moved by the point cache.
bpy.ops.wm.obj_import(filepath="tablecloth_rest.obj", forward_axis="Y", up_axis="Z")
cloth = bpy.context.selected_objects[0]
cache = cloth.modifiers.new("drape", "MESH_CACHE")
cache.cache_format = "PC2"
cache.filepath = os.path.abspath("tablecloth.pc2")
cache.frame_start = 0
bpy.ops.object.shade_smooth()
paint(cloth, 0.6, 0.01, 0.03)

# The table top of the scene, with a leg, and a floor.
bpy.ops.mesh.primitive_cylinder_add(vertices=64, radius=0.40, depth=0.03, location=(0, 0, 0.735))
paint(bpy.context.object, 0.5, 0.3, 0.15)
bpy.ops.mesh.primitive_cylinder_add(radius=0.04, depth=0.72, location=(0, 0, 0.36))
paint(bpy.context.object, 0.5, 0.3, 0.15)
bpy.ops.mesh.primitive_plane_add(size=20)

# Light and camera.
bpy.ops.object.light_add(type="AREA", location=(2, -2, 3), rotation=(0.76, 0, 0.79))
bpy.context.object.data.energy = 100
scene.world = bpy.data.worlds.new("sky")
scene.world.color = (0.3, 0.3, 0.3)
bpy.ops.object.camera_add(location=(1.9, -1.9, 1.55), rotation=(1.22, 0, 0.785))
scene.camera = bpy.context.object
scene.camera.data.lens = 65

scene.render.engine = "CYCLES"
scene.cycles.samples = int(os.environ.get("SAMPLES", "128"))
scene.cycles.use_denoising = False
scene.view_settings.view_transform = "Standard"
scene.render.resolution_x, scene.render.resolution_y = 480, 270
scene.render.filepath = "//blender.png"
bpy.ops.wm.save_as_mainfile(filepath=os.path.abspath("tablecloth.blend"))
scene.frame_set(scene.frame_end)
bpy.ops.render.render(write_still=True)
