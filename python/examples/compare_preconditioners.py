"""compare_preconditioners.py: how five preconditioners converge on the linear system of a cloth, as a picture.

    python3 compare_preconditioners.py [OUT] [RESOLUTION]

Writes OUT.csv, and OUT.png where matplotlib is installed, else OUT.svg.
"""

import os
import sys
import tempfile

import numpy as np

import drape

PRECONDITIONERS = ("none", "diagonal", "block_diagonal", "ssor", "amg")


def cloth_system(resolution):
    """The system of a step of a sheet that droops."""
    sim = drape.Simulation("drooping", resolution=resolution, integrator="linearised-euler")
    sim.step(5)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "step.sys")
        sim.export_system(path)
        return drape.read_system(path)


def histories(system):
    """Residuals relative to b, by preconditioner, one per iteration."""
    found = {}
    for precond in PRECONDITIONERS:
        _, result = drape.solve(system.A, system.b, system.constraints, method="ppcg", precond=precond, stop="residual",
                                tol=1e-8, history=5000, positions=system.positions)
        print(f"{precond:15} {result.iterations:5} iterations, {1000 * (result.setup_seconds + result.solve_seconds):8.2f} ms, {result.reason}")
        found[precond] = result.history["residual"]
    return found


def write_csv(path, found):
    with open(path, "w", encoding="utf-8") as file:
        file.write("precond,iteration,residual\n")
        for precond, residuals in found.items():
            file.writelines(f"{precond},{k},{residual:.6e}\n" for k, residual in enumerate(residuals))


def draw(path, found):
    """By matplotlib, or as a plain SVG file: log10 of the residual over the iterations."""
    try:
        import matplotlib
        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        return draw_svg(path + ".svg", found)
    for precond, residuals in found.items():
        pyplot.semilogy(residuals, label=precond)
    pyplot.xlabel("iterations"), pyplot.ylabel("|r| / |b|"), pyplot.legend()
    pyplot.savefig(path + ".png")
    return path + ".png"


def draw_svg(path, found):
    width, height, colors = 640, 360, ("#888", "#c50", "#070", "#06c", "#a0a")
    longest = max(len(residuals) for residuals in found.values())
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-10 -10 {width + 170} {height + 20}" font-family="sans-serif">\n')
        for line, (color, (precond, residuals)) in enumerate(zip(colors, found.items())):
            x = width * np.arange(len(residuals)) / longest
            y = -np.log10(np.maximum(residuals, 1e-9)) * height / 9
            points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y))
            file.write(f'<polyline fill="none" stroke="{color}" points="{points}"/>\n')
            file.write(f'<text x="{width + 10}" y="{20 * line + 20}" fill="{color}">{precond}: {len(residuals) - 1}</text>\n')
        file.write("</svg>\n")
    return path


def main():
    out = sys.argv[1] if len(sys.argv) > 1 else "preconditioners"
    found = histories(cloth_system(int(sys.argv[2]) if len(sys.argv) > 2 else 61))
    write_csv(out + ".csv", found)
    print(f"{out}.csv, {draw(out, found)}")


if __name__ == "__main__":
    main()
