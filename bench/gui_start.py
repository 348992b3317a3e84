"""How fast the window comes, and what memory it takes: each start is a process of its own.

The time goes from the start of Python to the first paint of the window, with files in the system's cache and
with bytecode: a start that is not measured writes it, into a folder of its own, also where the environment
says that Python shall write none. Processor time is told beside it, since a busy machine changes it least.
Decision 97 says what comes after the first picture.
Memory is what the system says is resident, libraries included, before and after the engine is imported.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from statistics import median

from bench.timing import table

STARTS = 5
SHOWN_MS, IDLE_MB, LOADED_MB = 1000, 150, 200

_CHILD = """
import gc
import os
import time
gc.disable()  # as the command does
from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QApplication

from studio import app

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6

def imported():
    print(f"idle {resident():.1f}", flush=True)
    before()
    print(f"loaded {resident():.1f}", flush=True)
    QTimer.singleShot(500, QApplication.instance().quit)

class Painted(QObject):
    seen = False
    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.Paint and not self.seen:
            self.seen = True
            print(f"shown {1000 * time.process_time():.1f}", flush=True)
        return False

before, app._import_engine = app._import_engine, imported
show = app.Studio.show
painted = Painted()
def shown(studio):
    studio.window.centralWidget().installEventFilter(painted)
    show(studio)
app.Studio.show = shown
app.main(["model-studio"])
"""


def one_start(bytecode: str) -> tuple[float, float, float, float]:
    """Milliseconds until the window is painted, those of the processor, and MB before and after the engine is
    imported; ``bytecode`` is the folder for it."""
    env = {**os.environ, "PYTHONPYCACHEPREFIX": bytecode}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    begin = time.perf_counter()
    child = subprocess.Popen([sys.executable, "-c", _CHILD], stdout=subprocess.PIPE, text=True, env=env)
    assert child.stdout is not None
    told: dict[str, float] = {}
    for line in child.stdout:
        word, _, value = line.strip().partition(" ")
        told[word] = float(value)
        if word == "shown":
            told["wall"] = 1000 * (time.perf_counter() - begin)
    if child.wait() or len(told) < 4:
        raise SystemExit(f"bench.gui: the window ended early: exit status {child.returncode}, told {told}")
    return told["wall"], told["shown"], told["idle"], told["loaded"]


def main() -> None:
    """Print a table against the budgets; memory is measured where the system tells it (Linux)."""
    with tempfile.TemporaryDirectory() as bytecode:
        one_start(bytecode)
        starts = [one_start(bytecode) for _ in range(STARTS)]
    shown, processor, idle, loaded = (sorted(values) for values in zip(*starts, strict=True))
    rows = [[f"{STARTS} starts", "median", "max", "budget"]]
    for name, values, budget in (
        ("window shown, warm (ms)", shown, SHOWN_MS),
        ("of it processor time (ms)", processor, SHOWN_MS),
        ("resident before the engine (MB)", idle, IDLE_MB),
        ("resident with the engine (MB)", loaded, LOADED_MB),
    ):
        rows.append([name, f"{median(values):.0f}", f"{values[-1]:.0f}", str(budget)])
    print(table(rows))


if __name__ == "__main__":
    main()
