"""Attacks trainings of the command line with faults of the run's folder, at every operation on files.

Static and eager, new and resumed, with code of the user. After each: exit status 0 with everything on disk,
or 1 with one line; nothing that was saved is lost, locked or left open, there are no temporary files; and the
next start, a resume where there is a checkpoint and else a new run, ends with the very weights of a run that
nothing disturbed.
"""

from __future__ import annotations

import os
import shutil
from functools import cached_property
from pathlib import Path

import pytest
import rich.style  # noqa: F401  # it draws a random number when it is imported, which the first training would do
from typer.testing import CliRunner, Result

from engine.files.checkpoint import list_checkpoints
from resources.locks import holder_of
from studio.cli import app
from tests.robust.faults import FAULTS, Fault, every_fault, temporaries
from tests.robust.file_operations import Operation, operations_of
from tests.robust.small_training import difference, final

LONG = bool(os.environ.get("MODEL_STUDIO_LONG"))


class Training:
    """A training of two epochs of two steps, and what it ends with when nothing goes wrong.

    Several faults attack one training, so what does not depend on the fault is computed once.
    """

    def __init__(self, data: Path, model: str, place: Path, *options: str) -> None:
        self.place, self.out = place, place / "run"
        self.words = [
            "--data",
            str(data),
            "--model",
            model,
            "--batch-size",
            "8",
            "--epochs",
            "2",
            "--lr",
            "0.01",
        ]
        self.words += ["--checkpoint-every", "1", "--keep", "2", "--seed", "3", *options]
        assert self.start().exit_code == 0
        self.end = final(self.out)
        self.plans: dict[bool, list[Operation]] = {}
        self.clear()

    @cached_property
    def first_epoch(self) -> Path:
        """The folder of a run that ended after one of the two epochs."""
        backup = self.place / "kept"
        assert call("train", *self.words, "--out", backup, "--epochs", "1").exit_code == 0
        return backup

    def clear(self) -> None:
        if self.out.exists():
            shutil.rmtree(self.out)

    def start(self, out: Path | None = None) -> Result:
        return call("train", *self.words, "--out", out or self.out)

    def resume(self) -> Result:
        return call("train", "--resume", "--out", self.out, "--epochs", "2")


def call(*words: str | Path) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def ended_well(done: Result, said: str) -> str:
    """Exit status 0, or 1 with one line; returns the line."""
    text = f"{said}: {done.exit_code} {done.output} {done.exception!r}"
    assert done.exit_code in (0, 1), text
    assert done.exception is None or isinstance(done.exception, SystemExit), text
    if done.exit_code == 0:
        return ""
    assert done.stderr.count("\n") == 1, text
    assert "Traceback" not in done.output, text
    return done.stderr


def attack(training: Training, fault: Fault, resumed: bool, short: int) -> int:
    answers: list[Result] = []

    def prepare() -> None:
        training.clear()
        answers.clear()
        if resumed:
            shutil.copytree(training.first_epoch, training.out)

    def act() -> None:
        answers.append(training.resume() if resumed else training.start())

    def check(error: BaseException | None, said: str) -> None:
        assert error is None, said
        ended_well(answers[0], said)
        out = training.out
        if answers[0].exit_code == 0:
            assert not difference(final(out), training.end), said
        elif resumed:
            assert list_checkpoints(out / "checkpoints"), said
        assert holder_of(out / "run.lock") is None, said
        # Where nothing can be removed or listed, what is left goes with the next start.
        if fault.name not in ("read_only", "no_descriptors") and "(unlink " not in said:
            assert not temporaries(out), f"{said}: {temporaries(out)}"
        if answers[0].exit_code == 0:
            return
        again = training.resume()
        if "start a new run in this folder" in again.stderr:
            again = training.start()
        elif "start a new run in another folder" in again.stderr:
            out = training.place / "another"
            shutil.rmtree(out, ignore_errors=True)
            again = training.start(out)
        assert again.exit_code == 0, f"{said}: {answers[0].output}: then {again.output} {again.exception!r}"
        assert not temporaries(out), f"{said}: {temporaries(out)}"
        assert not difference(final(out), training.end), said

    if resumed not in training.plans:
        prepare()
        training.plans[resumed] = operations_of(training.out, act)
    return every_fault(training.out, fault, prepare, act, check, short, training.plans[resumed])


@pytest.fixture(scope="module")
def static(few: Path, tmp_path_factory: pytest.TempPathFactory) -> Training:
    return Training(few, "linear", tmp_path_factory.mktemp("static"))


@pytest.fixture(scope="module")
def eager(few: Path, model: str, tmp_path_factory: pytest.TempPathFactory) -> Training:
    return Training(few, model, tmp_path_factory.mktemp("eager"), "--eager")


@pytest.mark.parametrize("resumed", [False, True], ids=["new", "resumed"])
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_static(static: Training, fault: Fault, resumed: bool) -> None:
    attack(static, fault, resumed, short=2)


@pytest.mark.parametrize("fault", FAULTS if LONG else FAULTS[:3], ids=lambda fault: fault.name)
def test_eager_with_code_of_the_user(eager: Training, fault: Fault) -> None:
    attack(eager, fault, False, short=2)
