"""library.py: where libdrape is. DRAPE_BUILD in the environment chooses; see setup.py."""

import dataclasses
import os
import shutil
import subprocess


@dataclasses.dataclass
class Library:
    include_dirs: list
    objects: list
    link_args: list
    source: str = ""  # to be built by CMake
    build: str = ""

    def make(self):
        """Runs CMake where that is how the library comes about; what is up to date stays."""
        if not self.source:
            return
        options = ["TESTS", "BENCH", "INSTALL", "CHOLMOD"]
        generator = ["-G", "Ninja"] if shutil.which("ninja") else []
        _run(["cmake", "-S", self.source, "-B", self.build, *generator, "-DCMAKE_BUILD_TYPE=Release", *(f"-DDRAPE_{name}=OFF" for name in options)])
        _run(["cmake", "--build", self.build, "--target", "drape", "--parallel", str(os.cpu_count() or 1)])


def find(folder):
    """folder: that of setup.py."""
    choice = os.environ.get("DRAPE_BUILD", "")
    source = os.path.dirname(folder)
    in_tree = os.path.exists(os.path.join(source, "include", "drape", "io.h"))
    if choice == "installed" or (not choice and not in_tree):
        return _installed()
    if not in_tree:
        raise SystemExit(f"DRAPE_BUILD={choice}: {source} is not the source of drape, whose headers belong to it")
    needed = _pkg_config("--libs", "jansson", "libfyaml", "zlib")
    # The symbols of the library stay inside: another libdrape in the same process does no harm.
    links = ["-Wl,--exclude-libs,ALL", "-Wl,--strip-debug", *needed, "-pthread", "-lm"]
    build = os.path.abspath(choice) if choice else os.path.join(folder, "build", "cmake")
    archive = os.path.join(build, "libdrape.a")
    if choice and not os.path.exists(archive):
        raise SystemExit(f"there is no {archive}; DRAPE_BUILD is a folder that drape was built in, or `installed`")
    return Library([os.path.join(source, "include")], [archive], links, "" if choice else source, build)


def _installed():
    folders = [flag[2:] for flag in _pkg_config("--cflags-only-I", "--keep-system-cflags", "drape")]
    libdir = os.path.normpath(_pkg_config("--variable=libdir", "drape")[0])
    return Library(folders, [], [*_pkg_config("--libs", "drape"), f"-Wl,-rpath,{libdir}"])


def _run(command):
    try:
        subprocess.run(command, check=True)
    except FileNotFoundError:
        raise SystemExit(f"{command[0]} is not installed (Debian: cmake ninja-build gcc)") from None
    except subprocess.CalledProcessError:
        raise SystemExit("libdrape was not built: the message of CMake is above") from None


def _pkg_config(*arguments):
    try:
        run = subprocess.run(["pkg-config", *arguments], capture_output=True, text=True, check=True)
    except FileNotFoundError:
        raise SystemExit("pkg-config is not installed") from None
    except subprocess.CalledProcessError as error:
        raise SystemExit(f"pkg-config {' '.join(arguments)}: {error.stderr.strip()}") from None
    return run.stdout.split()
