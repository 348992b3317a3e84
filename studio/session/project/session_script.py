"""The session as a script: the commands of the command line that do again what was done in the window."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from resources.settings import RUN_SETTINGS
from studio.session.sweep.words import setting_words
from studio.session.work.job import Job

BUILT_IN = tuple(value for value, _ in RUN_SETTINGS["data"].choices)

_HEAD = """#!/bin/sh
# What was done in Model Studio, to be done again without its window: sh {name} [FOLDER]
# Runs go into FOLDER, which is . unless given; a folder that holds a run already is not written over.
set -e
FOLDER="${{1:-.}}"
STUDIO="${{MODEL_STUDIO:-model-studio}}"
"""

_PYTHON = '''"""What was done in Model Studio, to be done again without its window: python {name} [FOLDER]

Runs go into FOLDER, which is . unless given; a folder that holds a run already is not written over.
"""

import os
import subprocess
import sys

FOLDER = sys.argv[1] if len(sys.argv) > 1 else "."


def out(path):
    return os.path.join(FOLDER, *path.split("/"))


def studio(*words):
    subprocess.run([os.environ.get("MODEL_STUDIO", "model-studio"), *words], check=True)

'''


@dataclass(frozen=True)
class Step:
    """One command, the words after ``model-studio``, where ``Out`` is a path in the script's folder; or a
    note alone."""

    words: tuple[str | Out, ...]
    note: str = ""


@dataclass(frozen=True)
class Out:
    """A path below the folder of the script."""

    path: str


class SessionScript:
    """Records what is done, in order. What was discarded, and what only continues what the script does in one
    go, is left out."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self._runs: dict[str, str] = {}  # folders of this session, and what they are called in the script
        self._epochs: dict[str, int] = {}
        self._prefixes: dict[str, str] = {}

    def record(self, job: Job) -> None:
        """A job begins. It adds its commands itself; those that leave nothing behind have none."""
        record = getattr(job, "record", None)
        if record is not None:
            record(self)

    def add(self, *words: str | Out) -> None:
        """Add a command: the words after ``model-studio``."""
        self.steps.append(Step(words))

    def trained(self, config: Mapping[str, Any], resume: bool) -> None:
        """Add a training into a new folder, or a resumed one that goes further than before."""
        folder, epochs = str(config["out"]), int(config.get("epochs", 0))
        before = self._epochs.get(folder, 0)
        if not resume:
            self._runs[folder] = f"runs/{Path(folder).name}"
            self.steps.append(Step(("train", *setting_words(_absolute(config)), "--out", self.run(folder))))
        elif folder not in self._runs:
            self.steps.append(Step((), f"not repeated: {folder}, made before this session, went on"))
        elif epochs > before:
            self.steps.append(Step(("train", "--out", self.run(folder), "--resume", "--epochs", str(epochs))))
        self._epochs[folder] = max(epochs, before)

    def stopped(self, folder: str, step: int) -> None:
        """The training in ``folder`` was stopped by hand; in the script it goes to its end."""
        if folder in self._runs:
            name = self._runs[folder]
            self.steps.append(Step((), f"{name} was stopped after step {step}; here it goes to its end"))

    def cancelled(self, folder: str) -> None:
        """The training in ``folder`` was discarded: nothing of it is left to do again."""
        name = self._runs.pop(folder, None)
        if name is not None:
            self.steps = [step for step in self.steps if Out(name) not in step.words]

    def run(self, folder: str) -> str | Out:
        """The folder of a run; a run of this session is in the script's folder."""
        name = self._runs.get(folder)
        return Out(name) if name else folder

    def out(self, folder: str, prefix: str) -> Out:
        """Where files exported from the run in ``folder`` to ``prefix`` go, in the script's folder."""
        out = f"exports/{Path(folder).name}/{Path(prefix).name or 'model'}"
        self._prefixes[os.path.abspath(prefix)] = out
        return Out(out)

    def predicted(self, prefix: str, image: str) -> None:
        """An image of a file was shown to a model."""
        known = self._prefixes.get(os.path.abspath(prefix))
        step = Step(("predict", Out(known) if known else prefix, image))
        if step not in self.steps:
            self.steps.append(step)

    def follow(self, event: Mapping[str, Any]) -> None:
        """An event of a training: one that was discarded is left out, one that was stopped gets a note."""
        if event["event"] == "cancelled":
            self.cancelled(str(event.get("folder", "")))
        elif event["event"] == "stopped" and event.get("reason") in ("early", "interrupted"):
            self.stopped(str(event.get("folder", "")), int(event.get("step", 0)))

    def text(self, name: str = "session.sh") -> str:
        """The script, for a POSIX shell."""
        lines = [_HEAD.format(name=shlex.quote(name))]
        for step in self.steps:
            # A line break in a name must not end the comment.
            lines += ["# " + " ".join(step.note.split())] if step.note else []
            lines += [" ".join(['"$STUDIO"', *map(_word, step.words)])] if step.words else []
        return "\n".join(lines) + "\n"

    def python(self, name: str = "session.py") -> str:
        """The script, for Python on any system."""
        lines = [_PYTHON.format(name=name)]
        for step in self.steps:
            lines += ["# " + " ".join(step.note.split())] if step.note else []
            words = [f"out({each.path!r})" if isinstance(each, Out) else repr(each) for each in step.words]
            lines += [f"studio({', '.join(words)})"] if words else []
        return "\n".join(lines) + "\n"


def checkpoint_words(checkpoint: str) -> list[str | Out]:
    """Which weights of a run: a kind, or the step of a checkpoint's file."""
    stem = Path(checkpoint).stem
    if stem.startswith("step-") and stem[5:].isdigit():
        return ["--step", str(int(stem[5:]))]
    return ["--checkpoint", checkpoint]


def _absolute(config: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with whole paths: the script may run in another folder."""
    whole = dict(config)
    for name in ("data", "corrections"):
        if config.get(name) and config[name] not in BUILT_IN:
            whole[name] = _whole_path(str(config[name]))
    file, separator, class_name = str(config.get("model", "")).rpartition(":")
    if separator:
        whole["model"] = f"{_whole_path(file)}:{class_name}"
    return whole


def _whole_path(path: str) -> str:
    whole = os.path.expanduser(path)
    # Only a relative one is looked for: a slow disk must not stop the window that records the session.
    if not os.path.isabs(whole) and os.path.exists(whole):
        whole = os.path.abspath(whole)
    return whole


def _word(word: str | Out) -> str:
    if isinstance(word, Out):
        return '"$FOLDER"/' + shlex.quote(word.path)
    return shlex.quote(word)


def script_bytes(path: Path, script: SessionScript) -> bytes:
    """The script for a file ``path``: Python where it ends so, else for a shell."""
    return (script.python if path.suffix == ".py" else script.text)(path.name).encode()


def write_script(path: Path, content: bytes) -> None:
    """Write a script to ``path``, executable. Raises SaveError."""
    from engine.files.atomic import atomic_write, saving

    atomic_write(path, lambda file: file.write(content))
    with saving(path):
        path.chmod(path.stat().st_mode | 0o100)
