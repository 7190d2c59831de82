"""build.py: the cffi builder of `drape._drape`; setup.py hands it to setuptools."""

import os
import sys

import cffi

folder = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, folder)

import declarations  # noqa: E402
import library  # noqa: E402

found = library.find(os.path.dirname(folder))
with open(os.path.join(folder, "glue.c"), encoding="utf-8") as file:
    glue = file.read()

builder = cffi.FFI()
builder.cdef(declarations.of_headers(found.include_dirs))
builder.cdef(declarations.of_glue(os.path.join(folder, "glue.h")))
builder.set_source(
    "drape._drape",
    declarations.includes() + glue,
    include_dirs=[*found.include_dirs, folder],
    extra_objects=found.objects,
    depends=[*found.objects, *(os.path.join(folder, name) for name in ("glue.c", "glue.h"))],
    extra_compile_args=["-std=c17", "-D_POSIX_C_SOURCE=200809L", "-g0", "-Wno-incompatible-pointer-types"],
    extra_link_args=found.link_args,
)
