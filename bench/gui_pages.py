"""Memory of the window while its pages are switched and a training runs: ``python -m bench.gui_pages``.

Every page in turn, 1,000 switches in about five minutes (an hour: ``--seconds 3.6``). The memory of this
process without that of files is measured after a fifth of the switches, when all caches are filled, and at
the end; garbage is collected and free memory given back before. A training adds its history: the points of
its curves and the tables of its epochs; with ``--idle`` nothing trains. Linux only, as it reads /proc.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from functools import partial
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("QT_LOGGING_RULES", "default.warning=false")  # what that platform can't do

from PySide6.QtWidgets import QApplication

from bench.arguments import duration, positive
from bench.frames import Figure
from bench.soak import isolated, measured, trimmed
from bench.turns import Turns, described
from studio.app import Studio
from studio.session import commands
from studio.session.session import Session

GROWTH_MB = 10.0
SWITCHES, SECONDS = 1000, 0.3
WARM_UP = 5  # the share of switches before the first measurement: one in so many
MEASUREMENTS = 10


def pages(switches: int, seconds: float, trains: bool) -> list[Figure]:
    """Switch pages, train meanwhile, and print what memory, objects, threads and descriptors become."""
    application = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(application, QApplication)
    folder = Path(os.environ["TMPDIR"])
    studio = Studio(application, Session(runs_folder=folder / "runs"))
    studio.window.resize(1280, 800)
    names, turns, found = list(commands.PAGES), Turns(), list[dict[str, float]]()
    session = studio.session
    try:
        turns.start(studio, 60.0)
        for setting, value in (("data", "digits"), ("model", "lenet"), ("epochs", 1_000_000)):
            session.change_setting(setting, value)
        if trains:
            studio.actions.trigger("start")
            turns.live(lambda: session.train.step > 20, 120.0)
        turns.turns.clear()  # what came until here is the start's
        for switch in range(1, switches + 1):
            name = names[switch % len(names)]
            turns.doing = f"{name}, {'later' if switch > len(names) else 'first'} visit"
            turns.handle(partial(studio.frame.show_page, name))
            turns.live_for(seconds)
            if switch % max(1, switches // MEASUREMENTS) == 0 or switch == max(1, switches // WARM_UP):
                trimmed()
                found.append({"switch": switch, **measured(folder, [folder])})
                print("  ".join(f"{name} {value:,.0f}" for name, value in found[-1].items()), flush=True)
        if trains and not session.train.busy:
            raise SystemExit(f"gui_pages: the training has ended: {session.train.message}")
    finally:
        turns.close()
        studio.close()
    for visit, shown in (("first", 2), ("later", 5)):
        for turn in turns.slowest_of(f"{visit} visit", shown):
            print(described(turn))
    first = next(each for each in found if each["switch"] >= switches // WARM_UP)
    grown = (found[-1]["memory"] - first["memory"]) / 1024
    count = f"memory from switch {first['switch']:,.0f} to {switches:,}"
    return [Figure(count, grown, GROWTH_MB, unit="MiB")]


def main() -> int:
    """Measure and print; 1 where memory grows by more than the budget."""
    parser = argparse.ArgumentParser("bench.gui_pages", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--switches", type=positive, default=SWITCHES)
    parser.add_argument("--seconds", type=duration, default=SECONDS, help="that each page is shown")
    parser.add_argument("--idle", action="store_true", help="without a training: the page switches alone")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gui-pages-") as folder:
        isolated(Path(folder))
        figures = pages(options.switches, options.seconds, not options.idle)
    for figure in figures:
        sign = "holds" if figure.holds else "MISSED"
        print(f"{figure.name}: {figure.value:+.1f} {figure.unit}, budget {figure.budget:g}: {sign}")
    return 0 if all(figure.holds for figure in figures) else 1


if __name__ == "__main__":
    raise SystemExit(main())
