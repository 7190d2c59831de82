"""my_wind.py: a flag in a wind of one's own: a function of place and time, in Python.

    python3 my_wind.py [OUT.html] [FRAMES] [RESOLUTION]
"""

import sys

import numpy as np

import drape

DENSITY = 1.2  # kg/m^3, of the air times a drag coefficient


def air(points, time):
    """Velocity of the air, m/s: a breeze with waves that travel along x."""
    wave = np.sin(2 * np.pi * (points[:, 0] / 0.8 - 2.0 * time))
    return np.column_stack([6 + wave, 2.5 * wave, 0.3 * np.ones(len(points))])


class Wind:
    """Pressure on both sides of each triangle: DENSITY / 2 |vn| vn area, vn the air's velocity along the normal."""

    def __init__(self, triangles):
        self.triangles = np.array(triangles)

    def __call__(self, at):
        corners = at.x[self.triangles]
        normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])  # twice the area long
        length = np.linalg.norm(normal, axis=1, keepdims=True)
        relative = air(corners.mean(axis=1), at.time) - at.v[self.triangles].mean(axis=1)
        vn = (relative * normal).sum(axis=1, keepdims=True) / length
        third = DENSITY / 2 * np.abs(vn) * vn * normal / 2 / 3  # N at each corner
        force = np.zeros_like(at.x)
        for corner in range(3):
            np.add.at(force, self.triangles[:, corner], third)
        return force


def main():
    out = sys.argv[1] if len(sys.argv) > 1 else "my_wind.html"
    frames = int(sys.argv[2]) if len(sys.argv) > 2 else 50
    resolution = int(sys.argv[3]) if len(sys.argv) > 3 else 31

    # The flag that ships, without its own wind and without contact with itself.
    sim = drape.Simulation("flag", resolution=resolution, forces={"wind": [0, 0, 0]}, set={"contact.self": "false"})
    sim.add_force("my wind", Wind(sim.triangles), velocity_dependent=True)
    with sim.writer(out, title="A wind of my own") as file:
        file.frame()
        for _ in range(frames):
            certificate = sim.step(sim.steps_per_frame)
            file.frame()
    print(f"{out}: {frames} frames, {sim.time:.2f} s, stretch {certificate.stretch:.4f}, "
          f"the far edge is at most {np.abs(sim.positions[:, 1]).max():.3f} m from the plane that it began in")


if __name__ == "__main__":
    main()
