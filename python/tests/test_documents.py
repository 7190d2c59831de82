"""The examples run, and so do the programs of docs/python.md, one after the other in one place."""

import pathlib
import re
import subprocess
import sys

import pytest

FOLDER = pathlib.Path(__file__).resolve().parent.parent


@pytest.mark.parametrize("name, arguments, made", [
    ("solve_system.py", ["12"], []),
    ("my_wind.py", ["wind.html", "2", "11"], ["wind.html"]),
    ("compare_preconditioners.py", ["five", "15"], ["five.csv"]),
])
def test_examples(tmp_path, name, arguments, made):
    run = subprocess.run([sys.executable, FOLDER / "examples" / name, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout and all((tmp_path / file).stat().st_size > 100 for file in made)


def test_programs_of_the_manual(tmp_path, monkeypatch):
    text = (FOLDER.parent / "docs" / "python.md").read_text(encoding="utf-8")
    programs = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len(programs) >= 5
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    for program in programs:
        exec(compile(program, "docs/python.md", "exec"), names)
