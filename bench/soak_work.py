"""What a soak does over and over: training, conversions, Programs, files, predictions, the window, runs.

Every piece of work is a context manager around a function; one call of that function is one unit, after which
nothing of it may be left. The window and the session are imported only by the work that needs them.
"""

from __future__ import annotations

import linecache
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import engine as paddle

Unit = Callable[[], None]
Work = Callable[[Path], AbstractContextManager[Unit]]
SECONDS = 120.0  # that a run may take to begin or to end


def _batch(rows: int = 4) -> tuple[Any, Any]:
    rng = np.random.default_rng(1)
    images = rng.standard_normal((rows, 1, 28, 28)).astype("float32")
    return paddle.to_tensor(images), paddle.to_tensor(rng.integers(0, 10, (rows, 1)))


@contextmanager
def training(folder: Path) -> Iterator[Unit]:
    """A step of LeNet: eagerly and converted in turn."""
    net = paddle.vision.models.LeNet()
    rule = paddle.optimizer.Adam(parameters=net.parameters())
    calls = [net, paddle.jit.to_static(lambda x: net(x))]
    x, label = _batch()

    def unit() -> None:
        calls.reverse()
        loss = paddle.nn.functional.cross_entropy(calls[0](x), label)
        loss.backward()
        rule.step()
        rule.clear_grad()

    yield unit


@contextmanager
def shapes(folder: Path) -> Iterator[Unit]:
    """A call of one converted function, and of one Program, with sizes that come again only much later."""
    function = paddle.jit.to_static(lambda x: paddle.nn.functional.relu(x * 2).sum())
    program = paddle.static.Program()
    paddle.enable_static()
    try:
        with paddle.static.program_guard(program, paddle.static.Program()):
            fed = paddle.static.data("x", [None, None])
            result = paddle.nn.functional.relu(fed * 2).sum()
    finally:
        paddle.disable_static()
    executor = paddle.static.Executor()
    count = 0

    def unit() -> None:
        nonlocal count
        count = (count + 1) % 2000
        x = np.ones((1 + count // 100, 1 + count % 100), "float32")
        function(paddle.to_tensor(x))
        executor.run(program, feed={"x": x}, fetch_list=[result])

    yield unit


_SOURCE = """
def function(x):
    total = x * {n}.0
    if total.sum() > {n}.5:
        total = total + {n}.0
    else:
        total = total - {n}.0
    for _ in range(x.shape[0]):
        total = total * 0.5
    return total.sum()
"""


@contextmanager
def conversions(folder: Path) -> Iterator[Unit]:
    """A function of its own source is converted, called forwards and backwards, and dropped."""
    place = folder / "functions"
    place.mkdir()
    x = paddle.ones([2, 3])
    x.stop_gradient = False
    count = 0

    def unit() -> None:
        nonlocal count
        count += 1
        # Names come again, as linecache keeps what it has read of every file name for ever.
        path = place / f"function_{count % 7}.py"
        source = _SOURCE.format(n=count)
        path.write_text(source, encoding="utf-8")
        os.utime(path, ns=(count, count))  # linecache notices new text by its time
        linecache.checkcache(str(path))
        space: dict[str, Any] = {"__name__": "functions"}
        exec(compile(source, str(path), "exec"), space)
        paddle.jit.to_static(space["function"])(x).backward()
        x.clear_gradient()

    yield unit


@contextmanager
def programs(folder: Path) -> Iterator[Unit]:
    """A Program is built, run with its own Executor and scope, and dropped."""

    def unit() -> None:
        paddle.enable_static()
        try:
            main, startup = paddle.static.Program(), paddle.static.Program()
            with paddle.static.program_guard(main, startup), paddle.static.scope_guard(paddle.static.Scope()):
                x = paddle.static.data("x", [None, 4])
                with paddle.static.name_scope("head"):
                    loss = paddle.static.nn.fc(x, 3).mean()
                paddle.optimizer.SGD(0.1).minimize(loss)
                executor = paddle.static.Executor()
                executor.run(startup)
                executor.run(main, feed={"x": np.ones((2, 4), "float32")}, fetch_list=[loss])
                executor.close()
        finally:
            paddle.disable_static()

    yield unit


def _saved(folder: Path, width: int = 16) -> str:
    net = paddle.nn.Sequential(
        paddle.nn.Flatten(), paddle.nn.Linear(784, width), paddle.nn.ReLU(), paddle.nn.Linear(width, 10)
    )
    net.eval()
    prefix = str(folder / "model")
    paddle.jit.save(net, prefix, input_spec=[paddle.static.InputSpec([None, 1, 28, 28], "float32")])
    return prefix


@contextmanager
def files(folder: Path) -> Iterator[Unit]:
    """A model and a state are saved, loaded and used."""
    place = folder / "files"
    place.mkdir()
    x, _ = _batch(1)

    def unit() -> None:
        model = paddle.jit.load(_saved(place, 4))
        model.eval()
        model(x)
        paddle.save(model.state_dict(), str(place / "state.pdparams"))
        paddle.load(str(place / "state.pdparams"))

    yield unit


@contextmanager
def predictions(folder: Path) -> Iterator[Unit]:
    """A loaded model and a Predictor answer."""
    from engine import inference

    place = folder / "predictions"
    place.mkdir()
    prefix = _saved(place)
    model = paddle.jit.load(prefix)
    model.eval()
    predictor = inference.create_predictor(inference.Config(f"{prefix}.pdmodel", f"{prefix}.pdiparams"))
    x, _ = _batch(1)

    def unit() -> None:
        with paddle.no_grad():
            model(x)
        predictor.run([x])

    yield unit


@contextmanager
def pages(folder: Path) -> Iterator[Unit]:
    """The window shows its next page; the page Train its next quantity, tab and axis."""
    from PySide6.QtWidgets import QApplication

    from studio.app import Studio
    from studio.session import commands
    from studio.session.session import Session

    app = QApplication.instance() or QApplication([])
    session = Session(runs_folder=folder / "window-runs")
    studio = Studio(app, session)  # type: ignore[arg-type]
    studio.window.show()
    names = tuple(commands.PAGES)
    curves = studio.train_page.curves
    quantities = tuple(curves.quantities)
    for quantity in quantities:  # each plot is made when it is first shown, and stays
        curves.show_quantity(quantity)
    count = 0

    def unit() -> None:
        nonlocal count
        studio.frame.show_page(names[count % len(names)])
        count += 1
        turn = count // len(names)
        curves.show_quantity(quantities[turn % len(quantities)])
        curves.show_tab("layers" if turn % 2 else "curves")
        curves.axis.setCurrentIndex(turn % 3)
        app.processEvents()

    try:
        yield unit
    finally:
        studio.close()
        app.processEvents()


@contextmanager
def runs(folder: Path) -> Iterator[Unit]:
    """A training is started in a child process, waited for until it has made a step, and cancelled."""
    from studio.session.session import Session

    session = Session(runs_folder=folder / "runs")
    session.change_setting("model", "linear")
    session.change_setting("epochs", 1_000_000)
    problems: list[Any] = []
    session.problem.connect(problems.append)

    def unit() -> None:
        blocked = session.execute("start")
        started = not blocked and session.wait_until(lambda: session.train.step > 0, SECONDS)
        if not started or session.execute("cancel"):
            raise RuntimeError(f"soak: a run did not begin: {blocked!r}, {problems!r}")
        if not session.wait_until(lambda: not session.busy(), SECONDS) or problems:
            raise RuntimeError(f"soak: a run did not end: {session.train.state!r}, {problems!r}")

    try:
        yield unit
    finally:
        session.close()


WORK: dict[str, tuple[Work, int]] = {
    "training": (training, 40),
    "shapes": (shapes, 40),
    "conversions": (conversions, 25),
    "programs": (programs, 25),
    "files": (files, 8),
    "predictions": (predictions, 200),
    "pages": (pages, 50),
    "runs": (runs, 1),
}
"""Every kind of work by name, with the units that one turn has."""
