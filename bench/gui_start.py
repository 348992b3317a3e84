"""How fast the window comes, and what memory it takes: each start is a process of its own.

The time goes from the start of Python to the first paint of the window, with files in the system's cache and
with bytecode: a start that is not measured writes it, into a folder of its own, also where the environment
says that Python shall write none. Processor time is printed too, since a busy machine changes it least.
Decision 97 says what comes after the first image.
Memory is printed before and after the engine is imported: what is resident, libraries included, which the
budget is for; and what is this process's own, which would be free without it. Between the two are files'
pages (Qt, Python, NumPy) that other programs share and that the system drops when it wants.
Three further rows, of one start each, divide the memory before the engine: an empty window with the libraries
that the window imports, the window without its style sheet, and the window with its first page alone.
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

_TELL = """
def tell(when):
    with open("/proc/self/smaps_rollup") as file:
        sizes = {line.split(":")[0]: int(line.split()[1]) * 1.024e-3 for line in file if " kB" in line}
    own = sizes["Private_Clean"] + sizes["Private_Dirty"]
    print(f"{when} {sizes['Rss']:.1f}", flush=True)
    print(f"{when}_own {own:.1f}", flush=True)
"""

_EMPTY = """
from PySide6 import QtSvg
from PySide6.QtWidgets import QApplication, QMainWindow
import numpy
import psygnal
import pydantic

app = QApplication([])
window = QMainWindow()
window.resize(1280, 800)
window.show()
app.processEvents()
tell("idle")
"""

_CHILD = """
import gc
import sys
import time
gc.disable()  # as the command does
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication

from studio import app
from studio.controllers import start_up

def imported():
    tell("idle")
    before()
    tell("loaded")

if "no_style_sheet" in sys.argv:
    QApplication.setStyleSheet = lambda *_: None
if "first_page" in sys.argv:
    app.Studio.complete = lambda *_, **__: None
    app.Studio._build_next = lambda _: False

class Painted(QObject):
    seen = False
    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.Paint and not self.seen:
            self.seen = True
            print(f"shown {1000 * time.process_time():.1f}", flush=True)
        return False

before, start_up._import_engine = start_up._import_engine, imported
show = app.Studio.show
painted = Painted()
def shown(studio):
    studio.window.centralWidget().installEventFilter(painted)
    settled = studio.settled
    def end():
        settled()
        tell("settled")
        QApplication.quit()
    studio.settled = end
    show(studio)
app.Studio.show = shown
app.main(["model-studio"])
"""


# The values that the child reports, with titles and budgets.
ROWS = {
    "wall": ("window shown, warm (ms)", SHOWN_MS),
    "shown": ("of it processor time (ms)", SHOWN_MS),
    "idle": ("resident before the engine (MB)", IDLE_MB),
    "idle_own": ("of it the process's own (MB)", IDLE_MB),
    "loaded": ("resident with the engine (MB)", LOADED_MB),
    "loaded_own": ("of it the process's own (MB)", LOADED_MB),
    "settled": ("resident with all that a first run needs (MB)", None),
    "settled_own": ("of it the process's own (MB)", None),
}

# One start each, which divides the memory before the engine: program, its argument, title.
DIVIDED = (
    (_EMPTY, "", "an empty window with the libraries (MB)"),
    (_CHILD, "first_page", "before the engine, first page alone (MB)"),
    (_CHILD, "no_style_sheet", "before the engine, no style sheet (MB)"),
)


def one_start(bytecode: str, program: str = _CHILD, argument: str = "") -> dict[str, float]:
    """What one start takes, by the keys of ``ROWS``; ``bytecode`` is the folder for it."""
    env = {**os.environ, "PYTHONPYCACHEPREFIX": bytecode}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    begin = time.perf_counter()
    command = [sys.executable, "-c", _TELL + program, argument]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env)
    assert child.stdout is not None
    values: dict[str, float] = {}
    for line in child.stdout:
        word, _, value = line.strip().partition(" ")
        values[word] = float(value)
        if word == "shown":
            values["wall"] = 1000 * (time.perf_counter() - begin)
    # Without its style sheet the watched widget is not painted.
    needed = {"idle"} if (program, argument) != (_CHILD, "") else set(ROWS)
    if child.wait() or not needed <= set(values):
        raise SystemExit(
            f"bench.gui: the window ended early: exit status {child.returncode}, reported {values}"
        )
    return values


def main() -> None:
    """Print a table against the budgets; memory is measured where the system reports it (Linux)."""
    with tempfile.TemporaryDirectory() as bytecode:
        one_start(bytecode)
        starts = [one_start(bytecode) for _ in range(STARTS)]
        divided = [(title, one_start(bytecode, *rest)["idle"]) for *rest, title in DIVIDED]
    rows = [[f"{STARTS} starts", "median", "max", "budget"]]
    for key, (title, budget) in ROWS.items():
        values = [start[key] for start in starts]
        rows.append([title, f"{median(values):.0f}", f"{max(values):.0f}", str(budget or "-")])
    rows += [[title, f"{value:.0f}", f"{value:.0f}", "-"] for title, value in divided]
    print(table(rows))


if __name__ == "__main__":
    main()
