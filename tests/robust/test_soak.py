"""What is done over and over leaves nothing behind: memory, descriptors, threads, processes and files.

Attacked: steps of training, conversions and Programs that are dropped, saving and loading, predictions, page
switches of the window, runs started and cancelled; and caches, with more shapes and names than they keep.
What must hold: after a warm-up a unit of work leaves no object of Python and nothing else; a cache keeps what
its size says. ``--long`` does 100,000 conversions and page switches; growth is printed (``pytest -rP``). The
hour with everything at once is ``python -m bench.soak``.
"""

from __future__ import annotations

import gc
import inspect
import itertools
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import MethodType

import numpy as np
import pytest

import engine as paddle
from bench.soak import measured
from bench.soak_work import WORK
from engine.core import frames
from engine.core.containers import lru
from engine.core.frames import is_internal

LONG = bool(os.environ.get("MODEL_STUDIO_LONG"))
HIDE_QT = bool(os.environ.get("MODEL_STUDIO_HIDE_QT"))

# Units of warm-up, and of each window; then those of --long.
UNITS = {
    "training": ((40, 30), (1000, 20_000)),
    "conversions": ((30, 15), (1000, 33_334)),
    "programs": ((60, 40), (1000, 10_000)),
    "files": ((8, 5), (200, 2_000)),
    "predictions": ((200, 200), (1000, 100_000)),
    "pages": ((40, 20), (1000, 33_334)),
    "runs": ((3, 1), (5, 50)),
}
WINDOWS, MOST_WINDOWS = 3, 12
# What leaks, leaks in every window; a cache that fills, or a table that grows by doubling, does not: so the
# window with the least growth counts. A thread or process that a busy machine delays grows in one window and
# shrinks in a later one: further windows follow while the growth is above a limit. Blocks of memory next to
# objects are still few per unit, where PySide or h5py remember each line that calls them, until --long has
# warmed them up.
MOST_OBJECTS = 0.5
MOST_BLOCKS = (
    {"files": 0.9, "pages": 0.9, "runs": 10.0} if LONG else {"files": 40.0, "pages": 40.0, "runs": 400.0}
)

# pytest-qt would keep what the offscreen platform says about each page.
WORKS = [n for n in UNITS if n != "pages"] + (
    [] if HIDE_QT else [pytest.param("pages", marks=pytest.mark.no_qt_log)]
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Temporary files of this test go to a separate folder."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def without_coverage(found: dict[str, float]) -> dict[str, float]:
    """``found`` without what line coverage notes and keeps of each thread that was started."""
    methods = (each for each in gc.get_objects() if type(each) is MethodType)
    notes = sum(type(each.__self__).__module__.startswith("coverage.") for each in methods)
    return {**found, "objects": found["objects"] - notes}


def _growth(seen: list[dict[str, float]], units: int) -> dict[str, list[float]]:
    """For each window, how much each series grew in one unit of work."""
    return {
        series: [(after[series] - before[series]) / units for before, after in itertools.pairwise(seen)]
        for series in ("objects", "blocks", "memory")
    }


def _above_a_limit(name: str, growth: dict[str, list[float]]) -> bool:
    return min(growth["objects"]) >= MOST_OBJECTS or min(growth["blocks"]) >= MOST_BLOCKS.get(name, 0.9)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.timeout(0 if LONG else 240)
@pytest.mark.parametrize("name", WORKS)
def test_work_leaves_nothing(name: str, folder: Path) -> None:
    warm_up, units = UNITS[name][LONG]
    folders = [folder / "runs", folder / "window-runs"]
    with WORK[name][0](folder) as unit:
        for _ in range(warm_up):
            unit()
        seen = [without_coverage(measured(folder, folders))]
        while len(seen) <= WINDOWS or (
            _above_a_limit(name, _growth(seen, units)) and len(seen) <= MOST_WINDOWS
        ):
            for _ in range(units):
                unit()
            seen.append(without_coverage(measured(folder, folders)))
    growth = _growth(seen, units)
    print(f"{name}: {len(seen) - 1} windows of {units:,} units; growth a unit: {growth}")
    assert not _above_a_limit(name, growth), growth
    for series in ("descriptors", "threads", "children", "files"):
        assert [each[series] for each in seen] == [seen[0][series]] * len(seen), series


# ----- caches ---------------------------------------------------------------------------------------------


@pytest.fixture
def small() -> Iterator[int]:
    """All caches of plans, calls and Programs keep this many entries."""
    before = {kind: lru.set_capacity(kind, 6) for kind in ("plans", "calls", "programs")}
    yield 6
    for kind, size in before.items():
        lru.set_capacity(kind, size)


def test_a_function_keeps_the_programs_of_the_last_shapes(small: int) -> None:
    function = paddle.jit.to_static(lambda x: paddle.nn.functional.relu(x * 2).sum())
    for size in range(1, 31):
        x = paddle.ones([size])
        x.stop_gradient = False
        function(x).backward()
        assert float(function(x)) == 2.0 * size
    assert len(function.program_cache) <= small


def test_a_function_with_open_sizes_keeps_the_last_plans(small: int) -> None:
    spec = paddle.static.InputSpec([None], "float32")
    function = paddle.jit.to_static(lambda x: (x * 2).sum(), input_spec=[spec])
    for size in range(1, 31):
        for stops in (True, False):
            x = paddle.ones([size])
            x.stop_gradient = stops
            assert float(function(x)) == 2.0 * size
    (concrete,) = function.program_cache
    runner = concrete.runner
    assert len(runner._inference) == len(runner._training) == small


def test_a_program_keeps_the_last_plans_and_calls(small: int) -> None:
    program = paddle.static.Program()
    paddle.enable_static()
    try:
        with paddle.static.program_guard(program, paddle.static.Program()):
            x = paddle.static.data("x", [None])
            results = [x * float(n) for n in range(20)]
    finally:
        paddle.disable_static()
    executor = paddle.static.Executor()
    for size in range(1, 31):
        executor.run(program, feed={"x": np.ones(size, "float32")}, fetch_list=[results[size % 20]])
    assert len(program.plans) <= small
    assert len(program.calls) <= small


def test_file_names_of_code_are_forgotten_when_they_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "_MOST_FILES", 50)
    for n in range(200):
        assert not is_internal(f"<cell {n}>")
        assert is_internal(frames.__file__)
        assert len(frames.INTERNAL) <= 50


def test_caches_of_plain_functions_have_a_size() -> None:
    """Every ``lru_cache`` of a function with arguments has one, but where its arguments are few anyway."""
    few = {
        "engine.core.operators.bounds.bounds_of": "operators",
        "engine.core.models.limits._of_environment": "how a variable of the environment is written",
        "engine.program.run.eager_kernels.eager_kernel": "operators",
        "engine.distributed.waiting._type": "the class of communicators",
        "engine.kernels.fast.compiler.log_problem": "why llvmlite can't be loaded",
        "engine.fluid.renamed.functions._body": "the rows of tables",
        "engine.fluid.renamed.functions._value": "the names in rows of tables",
    }
    found: dict[str, int | None] = {}
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] in ("engine", "studio", "resources"):
            for value in vars(module).values():
                if hasattr(value, "cache_parameters") and inspect.signature(value).parameters:
                    found[f"{value.__module__}.{value.__name__}"] = value.cache_parameters()["maxsize"]
    assert len(found) > 5
    assert {name for name, size in found.items() if size is None} <= few.keys()
