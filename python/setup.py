"""Builds the package `drape`: libdrape by CMake, and an extension over its public headers by cffi.

    pip install --no-build-isolation .                 # in this folder; builds libdrape of the tree around it
    DRAPE_BUILD=../build pip install ...               # takes libdrape.a of a build that is there
    DRAPE_BUILD=installed pip install ...              # takes the library that pkg-config finds as `drape`
"""

import os
import re
import sys

from setuptools import setup
from setuptools.command.build_ext import build_ext

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "native"))

import library  # noqa: E402


class BuildLibraryFirst(build_ext):
    def run(self):
        library.find(here).make()
        super().run()


def version():
    with open(os.path.join(here, "drape", "__init__.py"), encoding="utf-8") as file:
        return re.search(r'^__version__ = "(.*)"$', file.read(), re.MULTILINE).group(1)


setup(
    name="drape",
    version=version(),
    description="Implicit cloth simulation, its linear solvers and its integrators",
    license="MIT",
    packages=["drape"],
    package_data={"drape": ["py.typed"]},
    python_requires=">=3.10",
    install_requires=["cffi>=1.15", "numpy", "scipy"],
    cmdclass={"build_ext": BuildLibraryFirst},
    cffi_modules=[os.path.join(os.path.relpath(here), "native", "build.py") + ":builder"],
    options={"bdist_wheel": {"py_limited_api": "cp310"}},
    zip_safe=False,
)
