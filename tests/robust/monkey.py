"""Random actions on the real window: ``python -m tests.robust.monkey --seed 1 --actions 1000``.

Clicks, keys, drops, commands and settings are drawn; children are killed and stopped; questions and file
dialogs are answered by chance; the window is closed, interrupted and killed, and each state that it leaves
is opened again. What must not happen: an uncaught error, a warning of Python, Qt or the log, a turn of the
window's loop of over a second, a process that stays, a window that shows something else than the session has,
memory that grows after the first thousand actions. The last 50 actions before a failure are printed; timing
is not repeated, the actions drawn are.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.robust.monkey_files import write_files
from tests.robust.monkey_watch import FREEZE, TOKEN, of_token, waited

ROOT = Path(__file__).resolve().parents[2]
STUCK = 60.0  # seconds without an action
LEFT = 15.0  # seconds that children may outlive the window's process, without waits for a processor
SHOWN = 50
MOST_GROWTH = 30_000_000
USER_DIRS = ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR")


@contextmanager
def screen() -> Iterator[dict[str, str]]:
    """The environment of an X server of our own; of Qt's offscreen platform where there is none."""
    if shutil.which("Xvfb") is None:
        yield {"QT_QPA_PLATFORM": "offscreen"}
        return
    reader, writer = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writer), "-screen", "0", "1280x800x24", "-nolisten", "tcp"],
        pass_fds=[writer],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(writer)
    try:
        with os.fdopen(reader) as outcome:
            yield {"QT_QPA_PLATFORM": "xcb", "DISPLAY": f":{outcome.readline().strip()}"}
    finally:
        server.terminate()
        server.wait()


@dataclass
class Outcome:
    """What came of the actions; ``findings`` are in words."""

    seed: int
    findings: list[str] = field(default_factory=list)
    actions: int = 0
    starts: int = 0
    kills: int = 0
    clock: float = 0.0
    own: float = 0.0
    processor: float = 0.0
    growth: int = 0
    measured: int = 0
    problems: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    def __str__(self) -> str:
        return (
            f"seed {self.seed}: {self.actions} actions, {self.starts} starts, {self.kills} kills, "
            f"longest gap {self.clock:.2f} s on the clock, {self.own:.2f} s without waiting for a processor; "
            f"growth {self.growth / 1e6:.1f} MB in {self.measured} measurements, "
            f"{len(self.findings)} findings, {self.seconds:.0f} s"
        )


class Home:
    """The folder of one count: the user's folders, what is dropped, what the windows wrote."""

    def __init__(self, folder: Path, seed: int, env: dict[str, str], freeze: float) -> None:
        self.folder, self._seed, self.token = folder, seed, uuid.uuid4().hex
        self.env = {**os.environ, **env, "HOME": str(folder / "home"), TOKEN: self.token}
        for name in USER_DIRS:
            (folder / "home" / name).mkdir(parents=True, mode=0o700)
            self.env[name] = str(folder / "home" / name)
        (folder / "temporary").mkdir()
        self.env |= {
            FREEZE: str(freeze),
            "TMPDIR": str(folder / "temporary"),
            "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
            "MODEL_STUDIO_KERNELS": "numpy",
        }

    def lines(self, name: str) -> list[str]:
        path = self.folder / name
        return path.read_text().splitlines() if path.exists() else []

    @property
    def done(self) -> int:
        """The number of the last action."""
        return max((int(line.split()[0]) for line in self.lines("actions")), default=0)

    def window(self, first: int, last: int, outcome: Outcome) -> None:
        """One process of the window, from its start to its end."""
        outcome.starts += 1
        shutil.rmtree(self.folder / "files", ignore_errors=True)  # file dialogs can delete and rename
        write_files(self.folder / "files", self._seed)
        words = [str(self.folder), str(self._seed), str(first), str(last)]
        with (self.folder / "errors").open("wb") as errors:
            process = subprocess.Popen(
                [sys.executable, "-W", "default", "-m", "tests.robust.monkey_window", *words],
                env=self.env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                cwd=self.folder,
                start_new_session=True,
            )
            self._wait(process, outcome)
        self._left(outcome)  # first: stopped children have standard output open
        assert process.stdout is not None
        figures = process.stdout.read().strip().splitlines()
        process.stdout.close()
        said = (self.folder / "errors").read_text(errors="replace")
        if process.returncode == -signal.SIGKILL:
            outcome.kills += 1
        elif process.returncode or not figures:
            outcome.findings.append(f"exit status {process.returncode}\n{said[-6000:]}")
        if "Traceback" in said or "Error" in said or "Warning" in said:
            outcome.findings.append(f"standard error of the window:\n{said[-6000:]}")
        if figures:
            self._take(json.loads(figures[-1]), outcome)

    def _wait(self, process: subprocess.Popen[str], outcome: Outcome) -> None:
        seen, since = -1, time.monotonic()
        while True:
            try:
                process.wait(1.0)
                return
            except subprocess.TimeoutExpired:
                now = self.done
            if now != seen:
                seen, since = now, time.monotonic()
            elif time.monotonic() - since > STUCK:
                process.send_signal(signal.SIGUSR1)
                time.sleep(1.0)
                outcome.findings.append(f"no action for {STUCK:.0f} s")
                process.kill()

    def _left(self, outcome: Outcome) -> None:
        began = time.monotonic()
        for pid in of_token(self.token):  # what the monkey has stopped can't end
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
        before: dict[int, float] = {}
        while left := of_token(self.token):
            clock = time.monotonic() - began
            own = [
                clock - waited(pid) + before.setdefault(pid, waited(pid))
                for pid, line in left.items()
                if "resource_tracker" not in line  # which sleeps until the others have ended
            ]
            if max(own, default=0.0) > LEFT or clock > 10 * LEFT:
                outcome.findings.append(f"processes that stayed: {left}")
                for pid in left:
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                return
            time.sleep(0.1)

    @staticmethod
    def _take(figures: dict[str, Any], outcome: Outcome) -> None:
        outcome.clock = max(outcome.clock, figures["clock"])
        outcome.own = max(outcome.own, figures["own"])
        outcome.processor = max(outcome.processor, figures["processor"])
        outcome.problems.update(figures["problems"])
        memories = figures["memories"]
        if memories:
            outcome.growth = max(outcome.growth, memories[-1] - memories[0])
            outcome.measured += len(memories)


def attack(seed: int, actions: int, place: Path, freeze: float = 1.0) -> Outcome:
    """Carry out ``actions`` actions and open what they leave.

    ``freeze`` has the seconds of a turn of the loop that are a failure: a processor that others use as well
    takes twice as long.
    """
    outcome, began = Outcome(seed), time.monotonic()
    with screen() as env:
        home = Home(place, seed, env, freeze)
        first, before = 0, -1
        while before < first < actions:
            home.window(first, actions, outcome)
            before, first = first, home.done
        home.window(actions, actions, outcome)
    outcome.actions = home.done
    for line in home.lines("findings"):
        found = json.loads(line)
        outcome.findings.append(f"{found['kind']} after {found['after']}: {found['text']}")
    if outcome.growth > MOST_GROWTH:
        outcome.findings.append(f"memory grew by {outcome.growth / 1e6:.1f} MB")
    if outcome.findings:
        outcome.findings.append(
            "\n".join([f"the last of {outcome.actions} actions:", *home.lines("actions")[-SHOWN:]])
        )
    outcome.seconds = time.monotonic() - began
    return outcome


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--actions", type=int, default=1000)
    parser.add_argument("--freeze", type=float, default=1.0, help="seconds of a turn that are too long")
    parser.add_argument("--keep", type=Path, help="a new folder that keeps everything")
    given = parser.parse_args()
    if given.keep:
        given.keep.mkdir()
        outcome = attack(given.seed, given.actions, given.keep.resolve(), given.freeze)
    else:
        with tempfile.TemporaryDirectory(prefix="monkey-") as place:
            outcome = attack(given.seed, given.actions, Path(place), given.freeze)
    print("\n\n".join(outcome.findings))
    for text, number in outcome.problems.most_common():
        print(f"{number} x {text}")
    print(outcome)
    sys.exit(1 if outcome.findings else 0)


if __name__ == "__main__":
    main()
