"""Drives the application through its main job and saves an image of every page: python docs/tour.py DIR.

The data, an own model with its plan and its time, a short training on the built-in digits with its live
loss, its layers, the graph, a batch in the debugger, an export, a quantization, loading its files, a drawn
digit with its explanation and activations, the help; light and dark, 1280x800 unless ``--size`` says
otherwise; in Chinese with ``--language zh_CN``, which needs a font with its characters (Debian and Ubuntu:
fonts-noto-cjk).
QT_SCALE_FACTOR=2 makes them as a screen at 200 % shows them. Settings and runs go to a folder that is
removed; yours are not touched.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("QT_SCALE_FACTOR", "1")

from PySide6.QtCore import QEventLoop, QPoint, QPointF, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

SIZE = "1280x800"
LIMIT = 40.0
# A three, as a hand draws it: shares of the pad's side.
THREE = (
    (0.30, 0.24),
    (0.40, 0.17),
    (0.53, 0.16),
    (0.64, 0.22),
    (0.67, 0.32),
    (0.61, 0.42),
    (0.50, 0.47),
    (0.45, 0.48),
    (0.55, 0.49),
    (0.66, 0.55),
    (0.70, 0.66),
    (0.66, 0.77),
    (0.55, 0.84),
    (0.42, 0.84),
    (0.31, 0.77),
)


class Tour:
    """Waits for what happens instead of sleeping, and saves what is seen."""

    def __init__(
        self,
        folder: Path,
        samples: int,
        epochs: int,
        size: str,
        runs: Path | None = None,
        language: str = "en",
    ) -> None:
        from studio.app import Studio
        from studio.session.session import Session

        self.folder = folder
        self.app = QApplication.instance() or QApplication(sys.argv[:1])
        assert isinstance(self.app, QApplication)
        self.app.setApplicationName("Model Studio")
        session = Session(runs_folder=runs)
        session.change_preferences(language=language)
        self.studio = Studio(self.app, session)
        self.studio.frame.use_theme("light")
        width, height = (int(part) for part in size.split("x"))
        self.studio.window.resize(width, height)
        self.session = self.studio.session
        self.session.change_setting("samples", samples)
        self.session.change_setting("epochs", epochs)
        self.images: list[Path] = []
        # Wakes ``wait``, which would otherwise poll and take a core from the training.
        self._ticks = QTimer(interval=10)
        self._ticks.start()

    def wait(self, condition: Callable[[], bool], what: str, seconds: float = LIMIT) -> None:
        """Let the application work until ``condition`` holds."""
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise SystemExit(f"tour: waited {seconds:.0f} s for {what}; the log says:\n{self._log()}")
            self.app.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)

    def _log(self) -> str:
        output = self.studio.window.output
        output.log.flush()
        return "\n".join([output.log.text(), *(problem.text for problem in output.problems.problems())])

    def settle(self, seconds: float = 0.12) -> None:
        """Let batched redraws happen."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.app.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)
        for _ in range(3):  # on a busy machine the time may end between a change and its layout
            self.app.processEvents()

    def save(self, name: str, widget: QWidget | None = None) -> None:
        """Save the window (or a part of it), light and dark."""
        for theme in ("light", "dark"):
            self.studio.frame.use_theme(theme)
            self.settle()
            path = self.folder / f"{name}{'' if theme == 'light' else '-dark'}.png"
            if not (widget or self.studio.window).grab().save(str(path), "PNG", 0):
                raise SystemExit(f"tour: can't write {path}; give a folder that can be written to")
            self.images.append(path)
            print(path, flush=True)
        self.studio.frame.use_theme("light")

    def run(self) -> None:
        """The main job."""
        from studio.windows.code.code_page import PLANNED
        from studio.windows.graph.graph_page import DIAGRAM

        studio, session = self.studio, self.session
        studio.show()
        self.settle()
        self.save("welcome")
        self._show("data")
        self.wait(lambda: session.data.samples is not None, "the samples")
        self.save("data")
        self._show("code")
        session.model_editor.new("cnn", Path(os.environ["XDG_DATA_HOME"]) / "net.py")
        self.wait(
            lambda: session.model_editor.view.state not in ("idle", "checking"), "the dry run of the model"
        )
        self.save("code")
        QTest.mouseClick(studio.code_page.tabs[PLANNED], Qt.MouseButton.LeftButton)
        trials = session.model_editor.trials
        planning, measuring = trials.planning.view, trials.measuring.view
        self.wait(lambda: planning.found is not None, "the plan of the model")
        studio.code_page.editor.show_line(_line(studio.code_page.editor.code(), "F.relu"))
        self.save("plan")
        studio.actions.trigger("measure_model")
        self.wait(lambda: measuring.found is not None, "the measurement of the model")
        self.save("time")
        session.change_setting("model", "lenet")
        self._show("train")
        begin = time.monotonic()
        QTest.mouseClick(studio.train_page.welcome.start, Qt.MouseButton.LeftButton)
        self.wait(lambda: session.train.step > 0, "the first step")
        print(f"first step after {time.monotonic() - begin:.1f} s", flush=True)
        self.wait(lambda: len(session.mistakes.view.tables) > 0, "the first epoch")
        self.wait(lambda: session.train.evaluating is False and _mid_epoch(session.train), "the second epoch")
        self.save("train")
        self._show("runs")
        self.save("runs")
        self._show("graph")
        conv = [n for n, op in enumerate(session.graph.program["blocks"][0]["ops"]) if op["type"] == "conv2d"]
        session.graph.select(0, conv[-1])
        self.save("graph")
        QTest.mouseClick(studio.graph_page.tabs[DIAGRAM], Qt.MouseButton.LeftButton)
        self.wait(lambda: session.graph_tools.diagram.shown is not None, "the diagram")
        studio.graph_page.bar.color_chosen.emit("parameters")
        self.save("diagram")
        self._show("train")
        self.wait(lambda: not session.busy(), "the end of the training")
        self.save("train-finished")
        QTest.mouseClick(studio.train_page.curves.tabs["layers"], Qt.MouseButton.LeftButton)
        self.save("layers")
        QTest.mouseClick(studio.train_page.curves.tabs["curves"], Qt.MouseButton.LeftButton)
        self._measure_step()
        self._debug()
        self._show("runs")
        self.wait(lambda: not studio.diagrams.busy, "the diagram")
        self.save("runs")
        self._show("export")
        studio.actions.trigger("export")
        self.wait(lambda: session.export.state in ("done", "failed") and not session.busy(), "the export")
        self.save("export")
        self._quantize()
        QTest.mouseClick(studio.export_page.predict_button, Qt.MouseButton.LeftButton)
        self.wait(lambda: session.predict.model is not None, "the exported model")
        self._draw()
        self.wait(lambda: bool(session.predict.ranking), "a prediction")
        self.save("predict")
        self._explain()
        studio.actions.trigger("palette")
        self.save("palette", studio.frame.palette)
        studio.frame.palette.reject()
        studio.actions.trigger("help")
        assert studio.help.shown is not None
        self.save("help", studio.help.shown)
        studio.help.close()
        self.save_problem()

    def _explain(self) -> None:
        """Why the digit is read so, and what the operators compute for it."""
        from studio.windows.graph.graph_page import DIAGRAM

        session, page = self.session, self.studio.predict_page
        view, activations = session.explaining.predict.view, session.explaining.activations.view
        self.studio.actions.trigger("explain")
        self.wait(lambda: view.found is not None, "the map")
        self.save("why")
        page.show_why(False)
        self._show("graph")
        graph = self.studio.graph_page
        self.wait(lambda: bool(session.graph.program), "the Program of the exported model")
        graph.show_view(DIAGRAM)
        QTest.mouseClick(graph.bar.activations, Qt.MouseButton.LeftButton)
        self.wait(lambda: any(each.channels is not None for each in activations.found.values()), "channels")
        place = next(at for at, each in activations.found.items() if each.channels is not None)
        session.graph.select(*place)
        self.settle(0.5)
        self.save("activations")
        QTest.mouseClick(graph.bar.activations, Qt.MouseButton.LeftButton)
        self._show("predict")

    def _measure_step(self) -> None:
        """A whole step of the training as a diagram, coloured by the time of its operators."""
        self._show("graph")
        page, tools = self.studio.graph_page, self.session.graph_tools
        before = self.session.graph.program
        QTest.mouseClick(page.bar.step, Qt.MouseButton.LeftButton)
        self.wait(lambda: self.session.graph.program not in (None, before), "the step")
        self.studio.actions.trigger("measure_step")
        self.wait(lambda: tools.coloring.measured_step is not None, "the measurement of the step")
        page.bar.color_chosen.emit("time")
        ops = self.session.graph.program["blocks"][0]["ops"]
        self.session.graph.select(0, [n for n, op in enumerate(ops) if op["type"].startswith("conv2d")][1])
        self.settle(1.0)
        self.save("step")
        page.bar.color_chosen.emit("")
        QTest.mouseClick(page.bar.step, Qt.MouseButton.LeftButton)

    def _debug(self) -> None:
        """A batch of the run up to a breakpoint, and one of its values."""
        from studio.session.debug.breakpoints import Breakpoint

        self._show("debug")
        debugging = self.session.debugging
        view, page = debugging.view, self.studio.debug_page
        debugging.toggle_breakpoint(Breakpoint("layer", layer="conv2"))
        debugging.toggle_breakpoint(Breakpoint("operator", operator="relu", hits=5))
        self.studio.actions.trigger("debug")
        self.wait(lambda: view.state == "standing", "the batch")
        self.studio.actions.trigger("debug_continue")
        self.wait(lambda: view.state == "standing" and view.stop.position > 0, "the breakpoint")
        self.wait(lambda: len(page.tensor.image.planes().values) > 0, "the channels")
        self.save("debug")
        self.studio.actions.trigger("debug_stop")

    def _quantize(self) -> None:
        """The same run with integer weights, and what that cost."""
        page, session = self.studio.export_page, self.session
        page.form.control("quantize").setFocus()
        QTest.keyClick(page.form.control("quantize"), Qt.Key.Key_Down)
        self.save("quantize-choices")
        self.studio.actions.trigger("export")
        self.wait(
            lambda: session.export.state in ("done", "failed") and not session.busy(), "the quantization"
        )
        self.save("quantized")

    def save_problem(self) -> None:
        """A dropped file that is not an image is reported without stopping anything."""
        self.studio.opening.take([str(Path(__file__).resolve().with_name("settings.md"))])
        self.studio.window.show_output(1)
        self.save("problem")

    def _show(self, page: str) -> None:
        self.studio.actions.trigger(f"page_{page}")
        self.settle(0.05)

    def _draw(self) -> None:
        pad = self.studio.predict_page.pad
        self.settle(0.05)
        side = min(pad.width(), pad.height())
        points = [QPoint(round(x * side), round(y * side)) for x, y in THREE]
        QTest.mousePress(pad, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, points[0])
        for before, after in pairwise(points):
            for step in (0.5, 1.0):
                QTest.mouseMove(pad, (QPointF(before) + QPointF(after - before) * step).toPoint())
                self.app.processEvents()
        QTest.mouseRelease(pad, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, points[-1])
        self.settle(0.05)


def _line(text: str, words: str) -> int:
    """The first line of a text that has these words."""
    return next(number for number, line in enumerate(text.splitlines(), 1) if words in line)


def _mid_epoch(train: object) -> bool:
    step, each = train.step, max(1, train.steps_per_epoch)  # type: ignore[attr-defined]
    return not train.busy or step % each > 0.2 * each  # type: ignore[attr-defined]


def check(images: Sequence[Path]) -> None:
    """The images are there and none is blank."""
    from PySide6.QtGui import QImage

    for path in images:
        image = QImage(str(path))
        colors = {image.pixel(x, y) for x in range(0, image.width(), 7) for y in range(0, image.height(), 7)}
        if len(colors) < 8:
            raise SystemExit(f"tour: {path} is blank: {len(colors)} colours")


def use_home(home: str) -> None:
    """Keep the user's settings and data below ``home``: call it before anything of ours is imported. It holds
    for child processes too."""
    for variable, name in (("XDG_CONFIG_HOME", "config"), ("XDG_DATA_HOME", "data")):
        os.environ[variable] = os.path.join(home, name)
    for name in ("APPDATA", "LOCAL_APPDATA"):
        os.environ[f"WIN_PD_OVERRIDE_{name}"] = os.path.join(home, "data")


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the images."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, metavar="DIR", help="where the images go")
    parser.add_argument("--samples", type=int, default=9000, help="training images")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--size", default=SIZE, metavar="WIDTHxHEIGHT", help="of the window")
    parser.add_argument("--language", default="en", metavar="NAME", help="of the window: en or zh_CN")
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="model-studio-tour-", ignore_cleanup_errors=True) as home:
        use_home(home)
        tour = Tour(options.folder, options.samples, options.epochs, options.size, language=options.language)
        try:
            tour.run()
        finally:
            tour.studio.close()
    check(tour.images)
    print(f"{len(tour.images)} images in {time.monotonic() - begin:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
