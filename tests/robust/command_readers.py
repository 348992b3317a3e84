"""The command line given hostile files and odd names: one line, a known exit status, nothing run."""

from __future__ import annotations

import contextlib
import io
import os
import random
import shutil
from pathlib import Path
from typing import Any

from tests.robust.corpus import sample
from tests.robust.guarded_cases import forked_children
from tests.robust.model_readers import model_files
from tests.robust.mutations import mutated_bytes
from tests.robust.reader import Reader
from tests.robust.run_readers import run_files

_NAMES = [
    "m",
    "[red]x[/]",
    "a b",
    "\x1b[31m",
    "é",
    "-x",
    "--help ",
    "a\nb",
    "%s",
    "x" * 300,
    "\udc80",
    "..",
    "nul",
    "",
]


def command_case(draw: random.Random) -> dict[str, Any]:
    """A command, its arguments, and the files that it finds."""
    name = draw.choice(_NAMES) if draw.random() < 0.3 else "m"
    what = draw.choice(("inspect", "export", "resume", "train", "predict", "run", "graph"))
    files: dict[str, bytes] = {}
    if what in ("inspect", "predict", "graph"):
        files = {f"{name}.{suffix}": data for suffix, data in model_files(draw).items()}
    elif what in ("export", "resume"):
        files = {f"{name}/{place}": data for place, data in run_files(draw).items()}
    return {
        "do": what,
        "name": name,
        "files": files,
        "image": mutated_bytes(sample("digit.png"), draw, [sample("digit.jpg")]),
    }


def _arguments(case: dict[str, Any]) -> list[str]:
    name = case["name"]
    return {
        "inspect": ["inspect", "--json", name],
        "graph": ["graph", "--json", "--open", "all", "--svg", "p.svg", name],
        "predict": ["predict", name, "p.png"],
        "export": ["export", name, "--samples", "1"],
        "resume": ["train", "--resume", "--out", name, "--epochs", "1"],
        "train": ["train", "--model", name, "--out", "p.png", "--samples", "20"],
        "run": ["run", name or "nothing"],
    }[case["do"]]


def run_command(case: dict[str, Any], folder: Path) -> object:
    """Run the command in an empty folder; raises AssertionError where it does not end as it should."""
    from studio.cli import app

    place = folder / "command"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    for name, data in {**case["files"], "p.png": case["image"]}.items():
        with contextlib.suppress(OSError, ValueError):  # not a name of this file system
            path = place / name.lstrip("/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    out, err, status = io.StringIO(), io.StringIO(), 0
    before = os.getcwd()
    os.chdir(place)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), forked_children():
            app(_arguments(case), standalone_mode=True, prog_name="model-studio")
    except SystemExit as left:
        status = left.code if isinstance(left.code, int) else 0 if left.code is None else 1
    finally:
        os.chdir(before)
    said = err.getvalue()
    assert status in (0, 1, 2), f"exit status {status}: {said[:300]}"
    assert "Traceback" not in said, said[-600:]
    assert "\x1b[31m" not in said + out.getvalue(), said[:300]
    if status == 1:
        last = said.strip().splitlines()
        assert last, "failed without a word"
        assert len(last) <= 3, said[:600]
    return status


def command_readers() -> list[Reader]:
    """The commands that open what others made."""
    return [Reader("command line", command_case, run_command, (), 0, 256, processes=True)]
