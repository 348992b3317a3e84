"""Signals and closed pipes end ``model-studio train`` with its last checkpoint; each in a forked process."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import engine.training  # noqa: F401  (before the forks, which then need not import it)
from engine.files.checkpoint import latest_checkpoint, list_checkpoints, read_checkpoint
from engine.training.folder.checkpoint_keeper import CheckpointKeeper
from studio.cli.train import train_options
from studio.session.runs.runs_folder import read_run_line
from tests.studio.cli.forked import SECONDS, Victim

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="signals and fork are POSIX")


@pytest.fixture
def start(bars: Path, tmp_path: Path) -> Iterator[Callable[..., Victim]]:
    victims: list[Victim] = []

    def install(
        *words: str | Path, before: Callable[[], None] = lambda: None, closed: bool = False
    ) -> Victim:
        chosen = ["--data", bars, "--model", "linear", "--epochs", "100000", "--out", tmp_path / "run"]
        victims.append(
            Victim(tmp_path, ["train", *chosen, "--checkpoint-every", "0", *words], before, closed)
        )
        return victims[-1]

    yield install
    for victim in victims:
        victim.kill()


def steps(run: Path) -> int:
    try:
        return (run / "journal.jsonl").read_bytes().count(b'"event":"step"')
    except FileNotFoundError:
        return 0


@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_writes_the_last_checkpoint(
    start: Callable[..., Victim], tmp_path: Path, number: str
) -> None:
    out = tmp_path / "run"
    victim = start("--json", before=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL) and None)
    victim.wait_for(lambda: steps(out) > 3)
    os.kill(victim.pid, getattr(signal, number))
    assert victim.ended() == 1
    last = json.loads((out / "journal.jsonl").read_text().splitlines()[-1])
    assert (last["event"], last["reason"]) == ("stopped", "interrupted")
    assert list_checkpoints(out / "checkpoints")[-1].step == last["step"]
    go_on = f"continue with: model-studio train --out {out} --resume"
    assert victim.stderr.read_text() == f"stopped at step {last['step']}; {go_on}\n"


def test_a_training_started_with_sigint_ignored_stops_on_sigterm_only(
    start: Callable[..., Victim], tmp_path: Path
) -> None:
    out = tmp_path / "run"
    victim = start(before=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN) and None)
    victim.wait_for(lambda: steps(out) > 3)
    before = steps(out)
    for _ in range(3):
        os.kill(victim.pid, signal.SIGINT)
    victim.wait_for(lambda: steps(out) > before + 10)
    os.kill(victim.pid, signal.SIGTERM)
    assert victim.ended() == 1
    assert victim.stderr.read_text().startswith("stopped at step ")


def test_nohup_keeps_a_training_alive(start: Callable[..., Victim], tmp_path: Path) -> None:
    out = tmp_path / "run"
    victim = start("--epochs", "3000", before=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN) and None)
    victim.wait_for(lambda: steps(out) > 3)
    before = steps(out)
    os.kill(victim.pid, signal.SIGHUP)
    victim.wait_for(lambda: steps(out) > before + 10)
    line = read_run_line(out)
    assert line is not None
    assert line.state == "running"


def test_a_closed_terminal_writes_the_last_checkpoint(start: Callable[..., Victim], tmp_path: Path) -> None:
    out = tmp_path / "run"
    master, terminal = os.openpty()

    def take_terminal() -> None:
        import fcntl
        import termios

        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        os.close(master)
        fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
        for number in (0, 1, 2):
            os.dup2(terminal, number)
        os.close(terminal)

    victim = start(before=take_terminal)
    os.close(terminal)
    os.set_blocking(master, False)

    def read_on() -> bool:
        with contextlib.suppress(OSError):  # nothing there yet
            os.read(master, 65536)
        return steps(out) > 3

    victim.wait_for(read_on)
    os.close(master)
    assert victim.ended() == 1
    line = read_run_line(out)
    assert line is not None
    assert (line.state, line.checkpoint_step) == ("interrupted", line.step)
    assert line.step > 3


@pytest.mark.parametrize("json_too", [True, False])
def test_a_reader_that_is_gone_stops_the_training_with_a_checkpoint(
    start: Callable[..., Victim], tmp_path: Path, json_too: bool
) -> None:
    out = tmp_path / "run"
    reader, writer = os.pipe()

    def pipe() -> None:
        os.close(reader)
        os.dup2(writer, 1)
        os.close(writer)

    victim = start(*(["--json"] if json_too else []), before=pipe)
    os.close(writer)
    os.read(reader, 10)
    os.close(reader)
    assert victim.ended() == 1
    line = read_run_line(out)
    assert line is not None
    assert (line.state, line.checkpoint_step) == ("interrupted", line.step)
    assert victim.stderr.read_text().count("\n") == 1
    assert victim.stderr.read_text().startswith(f"stopped at step {line.step}; continue with: ")


def test_the_second_signal_ends_at_once_and_loses_no_checkpoint(
    start: Callable[..., Victim], tmp_path: Path
) -> None:
    out = tmp_path / "run"
    slow = tmp_path / "slow"

    def the_last_checkpoint_never_ends() -> None:
        real, fsync = CheckpointKeeper.write, os.fsync

        def sync(descriptor: int) -> None:
            if not list(out.rglob(".*.tmp")):  # the journal's, which comes first
                fsync(descriptor)
                return
            os.fsync = fsync
            slow.touch()
            time.sleep(SECONDS)

        def write(keeper: CheckpointKeeper, tree: dict[str, Any], reason: str, best: bool) -> None:
            if reason == "stop":
                os.fsync = sync
            real(keeper, tree, reason, best)

        CheckpointKeeper.write = write  # type: ignore[method-assign]

    victim = start("--json", before=the_last_checkpoint_never_ends)
    victim.wait_for((out / "checkpoints" / "step-00000008.h5").exists)
    os.kill(victim.pid, signal.SIGTERM)
    victim.wait_for(slow.exists)
    assert list(out.rglob(".*.tmp"))
    os.kill(victim.pid, signal.SIGINT)
    assert victim.ended() == 1
    latest = latest_checkpoint(out / "checkpoints")
    assert latest.entry is not None
    assert not latest.skipped
    assert read_checkpoint(latest.entry.path)["progress"]["step"] == latest.entry.step >= 8
    assert victim.stderr.read_text() == (
        f"stopped at once; {latest.entry.path.name} is kept; "
        f"continue with: model-studio train --out {out} --resume\n"
    )
    assert not list(out.rglob(".*.tmp"))


def test_a_signal_before_the_training_is_one_line_too(
    start: Callable[..., Victim], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = tmp_path / "there"

    def wait(*_: object, **__: object) -> None:
        there.touch()
        time.sleep(SECONDS)

    victim = start(
        before=lambda: (
            setattr(train_options, "new_run_folder", None)
            or monkeypatch.setattr("engine.training.TrainingConfig.from_dict", wait)
        )
    )
    victim.wait_for(there.exists)
    os.kill(victim.pid, signal.SIGTERM)
    assert victim.ended() == 1
    assert victim.stderr.read_text() == "stopped\n"


def test_streams_that_are_closed_from_the_start(start: Callable[..., Victim], tmp_path: Path) -> None:
    victim = start("--json", "--epochs", "1", closed=True)
    assert victim.ended() == 0
    line = read_run_line(tmp_path / "run")
    assert line is not None
    assert line.state == "finished"
