"""What a stop of the debugger costs the window's thread, with a few operators and with 100,000."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QApplication

from bench.frames import Figure, wait
from bench.gui_diagrams import STALL_MS

OPERATORS = 100_000
FILE = "/models/net.py"


def debug_stops() -> list[Figure]:
    """The page Debug over a child that says what this says: each figure ends when the page is painted."""
    import engine  # noqa: F401  # the window would import it a moment after its start
    from studio.app import Studio
    from studio.session.debug.breakpoints import Breakpoint
    from studio.session.session import Session

    app = QApplication.instance()
    assert isinstance(app, QApplication)
    session = Session(runs_folder=Path(tempfile.mkdtemp()))
    studio = Studio(app, session)
    studio.window.resize(1280, 800)
    studio.show()
    studio.complete()
    studio.frame.show_page("debug")
    wait(lambda: not session.files.listing.working)
    QApplication.processEvents()
    debugging = session.debugging
    figures: list[Figure] = []
    for count in (40, OPERATORS):
        debugging.view.begin("bench")
        debugging.view.breakpoints = (
            Breakpoint("layer", layer="block0"),
            Breakpoint("operator", operator="conv2d"),
        )
        parts = [{"name": "forward", "program": _program(count), "rows": []}]
        source = "\n".join(f"line {n}" for n in range(60))
        opened = {"title": "bench", "notes": [], "parts": parts, "source": source, "source_file": FILE}
        of = f"{count:,} operators"
        figures.append(_timed(f"{of}, opened", debugging, {"event": "debug_opened", **opened}))
        for name, position in (("first", 1), ("next", 2), ("last", count)):
            debugging.view.state = "running"
            figures.append(_timed(f"{of}, {name} stop", debugging, _stopped(position)))
    studio.close()
    return figures


def _timed(name: str, debugging: Any, event: dict[str, Any]) -> Figure:
    clock, own = time.perf_counter(), time.process_time()
    debugging._follow({"time": 1.0, "request": debugging._moving, **event})
    QApplication.processEvents()
    taken, computed = time.perf_counter() - clock, time.process_time() - own
    return Figure(name, taken * 1e3, STALL_MS, computed * 1e3, by_own=True)


def _program(count: int) -> dict[str, Any]:
    operators = [
        {
            "type": "relu" if n % 3 else "conv2d",
            "inputs": {"X": [f"v{n}"]},
            "outputs": {"Out": [f"v{n + 1}"]},
            "attrs": {},
            "file": FILE,
            "line": 1 + n % 50,
            "layer": f"block{n // 100}.{n // 10 % 10}",
            "regions": [],
        }
        for n in range(count)
    ]
    flags = dict.fromkeys(("persistable", "parameter", "stop_gradient"), False)
    variables = [
        {"name": f"v{n}", "shape": [2, 3, 4, 4], "dtype": "float32", **flags} for n in range(count + 1)
    ]
    return {"blocks": [{"idx": 0, "parent": -1, "vars": variables, "ops": operators}]}


def _stopped(position: int) -> dict[str, Any]:
    counts = dict.fromkeys(("nan", "positive_infinite", "negative_infinite", "zero"), 0)
    value = {"shape": [2, 3, 4, 4], "dtype": "float32", **counts, "minimum": -1.0, "maximum": 1.0}
    stop = {
        "reason": "step",
        "position": position,
        "part": "forward",
        "where": [[0, position - 1]],
        "operator": "relu",
        "file": FILE,
        "line": 1 + (position - 1) % 50,
        "inputs": [{"name": f"v{position - 1}", **value}],
        "outputs": [{"name": f"v{position}", **value}],
    }
    rows: dict[str, Any] = {"breakpoints": [], "changes": [], "values": [], "updates": []}
    return {"event": "debug_stopped", "watching": -1, "stop": stop, **rows}


if __name__ == "__main__":
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    QApplication([])
    for figure in debug_stops():
        print(f"{figure.name:32} {figure.value:7.1f} ms, own {figure.own:7.1f}, budget {figure.budget:.0f}")
