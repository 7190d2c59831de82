#!/usr/bin/env python3
"""run.py PROGRAM [--seconds S] [--seed N] [--case K]: runs the program against files, names, disks and moments that were
chosen to do harm. It runs for S seconds (75) on all processors, and prints how many runs there were of each kind.

Case K of seed N is always the same, so a failure names both; --case runs that one alone and shows its commands. The
program should be one with sanitizers. Kinds of cases:

  mutation   a file of a corpus or of the program itself, changed at random, is read by the command it is for
  link       names of the run are links to, or FIFOs in the place of, something else
  disk       a file system that becomes full, or a limit on the size of files
  kill       a signal at a random moment; after SIGKILL the run is resumed and must give the same bytes

What must hold: the exit code is documented, no sanitizer reports, and the run ends within LIMIT seconds with memory below
MEMORY. No temporary file is left (except after SIGKILL), files under their final names are old or whole, and other files
are as they were.
"""
import argparse
import concurrent.futures
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

LIMIT = 60  # s, of a run: sanitizers on a busy machine
MEMORY = 2000  # MB
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CORPUS = os.path.join(ROOT, "fuzz", "corpus")
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "support"))
import abc_read  # noqa: E402
KINDS = ("mutation",) * 12 + ("link", "disk", "kill", "kill")
EXTREMES = [b"0", b"-1", b"1e999", b"nan", b"inf", b"2147483648", b"9223372036854775807", b"-9223372036854775808", b"1e-320",
            b"\x00", b"\xff" * 8, b"\x7f\xff\xff\xff", b"\x00\x00\x00\x80", b"[" * 40, b"{", b"*a", b"&a", b"\r", b"\n", b"\t"]


class Broken(Exception):
    pass


class Case:
    def __init__(self, program, seed, number, show):
        self.program, self.number, self.show = program, number, show
        self.random = random.Random(seed * 1000003 + number)
        self.kind = KINDS[number % len(KINDS)]
        self.folder = tempfile.mkdtemp(prefix="drape-hostile-")
        self.runs = 0

    def environment(self):
        return dict(os.environ, ASAN_OPTIONS=f"hard_rss_limit_mb={MEMORY}:allocator_may_return_null=1:detect_leaks=1",
                    UBSAN_OPTIONS="print_stacktrace=1")

    def start(self, words, limit_size=0):
        def prepare():
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            if limit_size:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit_size, limit_size))
        self.runs += 1
        self.words = words
        if self.show:
            print("  drape", *words, flush=True)
        return subprocess.Popen([self.program] + words, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, env=self.environment(), preexec_fn=prepare)

    def finish(self, process, codes=(0, 1, 2)):
        try:
            out, said = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise Broken(f"drape {' '.join(self.words)} does not end within {LIMIT} s")
        text = said.decode("utf-8", "replace")
        if "Sanitizer" in text or "runtime error" in text or "Assertion" in text:
            raise Broken(f"drape {' '.join(self.words)}:\n{text[-6000:]}")
        if process.returncode not in codes:
            raise Broken(f"drape {' '.join(self.words)}: exit code {process.returncode}; it said {text[-500:]}")
        if process.returncode in (1, 2) and not text and not out:
            raise Broken(f"drape {' '.join(self.words)}: exit code {process.returncode} without a word")
        return process.returncode, text

    def run(self, words, codes=(0, 1, 2), limit_size=0):
        return self.finish(self.start(words, limit_size), codes)

    def path(self, name):
        return os.path.join(self.folder, name)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def write(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data)

    def no_temporary_files(self):
        left = [n for n in os.listdir(self.folder) if ".part-" in n or ".spill-" in n]
        if left:
            raise Broken(f"drape {' '.join(self.words)}: left behind {left}")

    def small(self, frames, *more):
        """A run of few vertices."""
        scene = self.random.choice(["drooping", "pinned", "flag", "sphere"])
        return ["run", scene, "--resolution", str(self.random.choice([3, 4, 6])), "--frames", str(frames), "--threads", "1",
                *more]

    # ---- the kinds ----

    def mutate(self, data):
        data = bytearray(data)
        r = self.random
        for _ in range(r.choice([1, 1, 2, 4, 16])):
            at = r.randrange(len(data) + 1)
            how = r.randrange(7)
            if how == 0 and data:
                data[at % len(data)] ^= 1 << r.randrange(8)
            elif how == 1 and data:
                data[at % len(data)] = r.randrange(256)
            elif how == 2:
                del data[at:at + r.choice([1, 4, 64, 10**6])]
            elif how == 3:
                data[at:at] = r.choice(EXTREMES)
            elif how == 4:
                size = r.choice([1, 8, 100])
                data[at:at + size] = r.choice(EXTREMES)
            elif how == 5:
                part = data[at:at + r.choice([4, 32, 400])]
                data[at:at] = part * r.choice([1, 2, 50])
            else:
                data[at:at] = bytes(r.randrange(256) for _ in range(r.choice([1, 4, 16])))
        return bytes(data[:1 << 20])

    def mutation(self):
        r = self.random
        kind = r.choice(["scene", "obj", "ply", "cache", "system_file", "matrix_market", "vector_file", "ccd", "checkpoint"])
        if kind == "checkpoint":
            return self.mutated_checkpoint()
        names = sorted(os.listdir(os.path.join(CORPUS, kind)))
        with open(os.path.join(CORPUS, kind, r.choice(names)), "rb") as file:
            data = self.mutate(file.read())
        matrix = b"%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 1\n2 2 1\n3 3 1\n"
        if kind == "scene":
            self.write("a.yaml", data)
            words = r.choice([["check", "a.yaml"], ["check", "a.yaml", "--json"],
                              ["run", "a.yaml", "--resolution", "4", "--frames", "1", "-o", "a.pc2"]])
        elif kind in ("obj", "ply"):
            self.write("a." + kind, data)
            words = ["check", "a." + kind]
        elif kind == "cache":
            name = r.choice(["a.pc2", "a.mdd"])
            self.write(name, data)
            words = ["check-frames", name]
        elif kind == "ccd":
            self.write("a.csv", data)
            words = ["ccd", "a.csv"]
        elif kind == "vector_file":
            self.write("a.mtx", matrix)
            self.write("b.mtx", data)
            words = ["solve", "a.mtx", "--rhs", "b.mtx"]
        else:
            self.write("a.sys", data)
            words = ["solve", "a.sys", "-o", "x.bin"]
        self.run(words)
        self.no_temporary_files()

    def mutated_checkpoint(self):
        words = ["run", "drooping", "--resolution", "3", "--frames", "4", "--threads", "1", "-o", "a.pc2", "--checkpoint", "2"]
        process = self.start(words[:5] + ["100000"] + words[6:])
        while process.poll() is None and not os.path.exists(self.path("a.pc2.ckpt.1")):
            time.sleep(0.01)
        process.terminate()
        self.finish(process, (130,))
        name = self.random.choice(["a.pc2.ckpt", "a.pc2.ckpt.1", "a.pc2.ckpt.frames"])
        self.write(name, self.mutate(self.read(name)))
        self.run(words[:5] + [str(self.random.choice([3, 100]))] + words[6:] + ["--resume"])
        self.no_temporary_files()
        if os.path.exists(self.path("a.pc2.ckpt.frames")):
            self.run(["check-frames", "a.pc2.ckpt.frames"])

    def link(self):
        r = self.random
        outside = tempfile.mkdtemp(prefix="drape-outside-")
        try:
            victim = os.path.join(outside, "victim")
            with open(victim, "w") as file:
                file.write("precious")
            out = "a." + r.choice(["html", "pc2", "mdd", "usda", "glb", "abc", "obj", "ply"])
            name = r.choice([out, out + ".ckpt", out + ".ckpt.1", out + ".ckpt.frames", "r.json", "a_rest.obj", "a_0001.obj"])
            how = r.choice(["link", "hard", "fifo", "folder"])
            if how == "link":
                os.symlink(victim, self.path(name))
            elif how == "hard":
                os.link(victim, self.path(name))
            elif how == "fifo":
                os.mkfifo(self.path(name))
            else:
                os.symlink(outside, self.path("sub"))
                self.write("s.yaml", b"drape: 1\ncloth:\n  - grid: {width: 1 m, resolution: 4}\n    material: cotton\n"
                                     b"time: {step: 10 ms, fps: 100, duration: 20 ms}\noutput: sub/victim.html\n")
                self.run(["run", "s.yaml"], (2,))
            self.run(self.small(3, "-o", out, "--report", "r.json", "--checkpoint", "1"))
            self.no_temporary_files()
            with open(victim) as file:
                if file.read() != "precious" or sorted(os.listdir(outside)) != ["victim"]:
                    raise Broken(f"drape {' '.join(self.words)} changed a file through {how} {name}")
            for reader in (["run", name + ".yaml"], ["check", name + ".obj"], ["solve", name + ".sys"]):
                if how == "fifo":
                    os.mkfifo(self.path(reader[1]))
                    self.run(reader, (2,))
        finally:
            shutil.rmtree(outside)

    def readable(self, name):
        """Another reader finds it whole."""
        if name.endswith((".pc2", ".mdd")):
            self.run(["check-frames", name, "--mesh", name[:-4] + "_rest.obj"], (0, 1))
        elif name.endswith((".obj", ".ply")):
            self.run(["check", name], (0, 1))
        elif name.endswith(".glb"):
            data = self.read(name)
            if int.from_bytes(data[8:12], "little") != len(data):
                raise Broken(f"{name}: not as long as it says")
        elif name.endswith(".usda") and not self.read(name).endswith(b"}\n"):
            raise Broken(f"{name}: has no end")
        elif name.endswith(".abc"):
            try:
                abc_read.Archive(self.path(name))
            except abc_read.Wrong as wrong:
                raise Broken(f"{name}: {wrong}")
        elif name.endswith(".html") and b"</html>" not in self.read(name)[-100:]:
            raise Broken(f"{name}: has no end")

    def disk(self):
        r = self.random
        out = "a." + r.choice(["html", "pc2", "mdd", "usda", "glb", "abc", "obj", "ply"])
        words = self.small(40, "-o", out, "--quiet") + (["--checkpoint", "3"] if r.random() < 0.5 else [])
        mounted = False
        if r.random() < 0.5 and os.geteuid() == 0:
            size = r.choice([64, 128, 256])
            mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", self.folder],
                                     capture_output=True).returncode == 0
        try:
            code, said = self.run(words, (0, 1, 2), 0 if mounted else r.choice([4, 20, 60, 150]) * 1024)
            self.no_temporary_files()
            whole = [n for n in os.listdir(self.folder) if n.startswith("a") and ".ckpt" not in n]
            if code and "kept" in said and "none of" not in said and not whole:
                raise Broken(f"drape {' '.join(words)}: it promises frames, and there are none: {said}")
            for name in whole:
                self.readable(name)
        finally:
            if mounted:
                subprocess.run(["umount", self.folder])

    def kill(self):
        r = self.random
        scene = r.choice(["drooping", "flag", "sphere"])
        frames, out = 12, "a." + r.choice(["pc2", "mdd", "usda", "glb", "abc", "html"])
        words = ["run", scene, "--resolution", "8", "--frames", str(frames), "--threads", "1", "--quiet", "-o", out,
                 "--checkpoint", "2"]
        number = r.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
        self.write(out, b"old")
        process = self.start(words)
        time.sleep(r.random() ** 2 * 1.5)
        process.send_signal(number)
        self.finish(process, (0, 1, 130, -number))
        if number != signal.SIGKILL:
            self.no_temporary_files()
        if self.read(out) != b"old":
            self.readable(out)
        for name in os.listdir(self.folder):
            if ".part-" in name:
                os.unlink(self.path(name))
        there = [n for n in ("", ".1") if os.path.exists(self.path(out + ".ckpt" + n))]
        self.run(words + (["--resume"] if there else []), (0,))
        whole = self.read(out)
        os.unlink(self.path(out))
        self.run(words, (0,))
        if self.read(out) != whole:
            raise Broken(f"drape {' '.join(words)}: {number.name} and --resume gave other bytes")

    def do(self):
        try:
            getattr(self, self.kind)()
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)
        return self.kind, self.runs


def attempt(program, seed, number, show=False):
    case = Case(program, seed, number, show)
    try:
        kind, runs = case.do()
        return kind, runs, None
    except Broken as why:
        return case.kind, case.runs, f"case {number} of seed {seed}, {case.kind}: {why}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--seconds", type=float, default=75)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--case", type=int)
    options = parser.parse_args()
    program = os.path.abspath(options.program)
    if options.case is not None:
        why = attempt(program, options.seed, options.case, True)[2]
        print(why or "good")
        return 1 if why else 0
    end = time.monotonic() + options.seconds
    cases, runs, broken = {}, {}, []
    workers = os.cpu_count() or 1
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        waiting, number = set(), 0
        while waiting or time.monotonic() < end:
            while len(waiting) < workers and time.monotonic() < end and len(broken) < 5:
                waiting.add(pool.submit(attempt, program, options.seed, number))
                number += 1
            if not waiting:
                break
            done, waiting = concurrent.futures.wait(waiting, return_when=concurrent.futures.FIRST_COMPLETED)
            for result in done:
                kind, count, why = result.result()
                cases[kind] = cases.get(kind, 0) + 1
                runs[kind] = runs.get(kind, 0) + count
                if why:
                    broken.append(why)
    for why in broken:
        print("----", why)
    print("; ".join(f"{cases[k]} {k} cases, {runs[k]} runs" for k in sorted(cases)))
    print(f"{sum(cases.values()) - len(broken)} passed, {len(broken)} failed, {sum(runs.values())} runs, seed {options.seed}")
    return 1 if broken or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
