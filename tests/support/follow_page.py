"""follow_page.py PAGE [--full] [--print] [--without PROGRAM]: does what a page of the manual says, in the current folder, and
compares what it shows.

    <!-- file NAME -->      above a code block: the block is saved as NAME
    ```console              lines `$ COMMAND` are run; the lines below each are what it prints

Numbers are not compared, since they may differ from version to version; everything else is. A line `...` stands for any
number of lines. Without --full meshes are coarser and runs are shorter (QUICKER), to be quick. A command whose program
is not installed, or that is named after --without, is left out, and named at the end. --print prints what commands print."""
import re
import shutil
import subprocess
import sys

QUICKER = (("resolution: 61", "resolution: 21"), ("--resolution 31", "--resolution 15"), ("duration: 3 s", "duration: 0.6 s"))


def quicker(text):
    for long, short in QUICKER:
        text = text.replace(long, short)
    return text


def parts(text):
    """Yields ("file", name, content) and ("command", command, what it prints), in order."""
    name = None
    for comment, kind, body in re.findall(r"^<!-- file (\S+) -->$|^```(\w*)\n(.*?)^```$", text, re.M | re.S):
        if comment:
            name = comment
        elif name:
            yield "file", name, body
            name = None
        elif kind == "console":
            for command, printed in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", body, re.M):
                yield "command", command, printed


# What Blender says on a system without /etc/mtab, such as a bare one.
NOISE = "could not get a list of mounted file-systems\n"


def masked(text):
    text = re.sub(r"[-+]?\d+(\.\d+)?(e[-+]?\d+)?", "#", text)
    text = re.sub(r"  contacts #", "", text)
    text = re.sub(r"; time steps( and contact)? (took|added) [^;]*", "", text)  # only where the balance is known
    return re.sub(" +", " ", text)


def compare(command, wanted, got):
    lines = masked(wanted).splitlines(keepends=True)
    pattern = "".join("(?:.*\n)*?" if line == "...\n" else re.escape(line) for line in lines)
    if not re.fullmatch(pattern, masked(got.replace(NOISE, ""))):
        sys.exit(f"$ {command}\n---- the page shows\n{wanted}---- printed was\n{got}")


def main():
    page, full, left_out = sys.argv[1], "--full" in sys.argv, []
    without = [b for a, b in zip(sys.argv, sys.argv[1:]) if a == "--without"]
    with open(page) as file:
        text = file.read()
    count = 0
    for kind, what, content in parts(text):
        if kind == "file":
            with open(what, "w") as file:
                file.write(content if full else quicker(content))
            continue
        program = what.split()[0]
        if not shutil.which(program) or program in without:
            left_out.append(what)
            continue
        if not full:
            what = quicker(what)
        print("$", what, flush=True)
        run = subprocess.run(what, shell=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if run.returncode not in ((0, 1, 2) if "error" in content else (0,)):
            sys.exit(f"{what}: exit code {run.returncode}\n{run.stdout}")
        if "--print" in sys.argv:
            print(run.stdout, end="", flush=True)
        compare(what, content, run.stdout)
        count += 1
    print(f"{count} commands" + "".join(f"; left out: {what}" for what in left_out))
    if count == 0:
        sys.exit(f"{page} has no commands")


main()
