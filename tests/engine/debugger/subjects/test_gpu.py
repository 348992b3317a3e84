"""A training on a GPU (the stand-in for CuPy) in the debugger: values are fetched when they are seen."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from engine.core.place import place_guard
from engine.debugger import Above, AllZero, Debugger, of_config, of_run
from engine.training import TrainingRun
from tests.cupy_stand_in.module import installed
from tests.engine.debugger.subjects.conftest import Config


def test_a_step_on_a_gpu(config: Config, tmp_path: Path) -> None:
    settings = config(optimizer="momentum", out=str(tmp_path / "run"), samples=64, epochs=1, device="gpu")
    with installed(), place_guard("cpu"):
        TrainingRun(settings).run()
        debugger = Debugger(of_run(tmp_path / "run", checkpoint=0), keep_bytes=100_000)
        first = debugger.step()
        assert not isinstance(debugger.array(first.outputs[0]["name"]), np.ndarray)
        json.dumps(first.plain())
        assert debugger.until_nan(batches=2).reason == "finite"
        assert debugger.kept_bytes <= debugger.keep_bytes
        name = debugger.go_to(3).outputs[0]["name"]
        for kind in ("statistics", "histogram", "image", "rows"):
            json.dumps(debugger.view(name, kind), allow_nan=False)
        debugger.change(name, "fill", float("nan"))
        assert debugger.stop.outputs[0]["nan"] > 0
        debugger.restart()
        debugger.conditions = [Above(1e30), AllZero()]
        assert debugger.resume().reason in ("end", "condition")


def test_a_fault_on_a_gpu_is_found(config: Config) -> None:
    settings = config("return paddle.log(x * 0.0) if number == 2 else x", device="gpu")
    with installed(), place_guard("cpu"):
        stop = Debugger(of_config(settings)).until_nan()
    assert (stop.reason, stop.operator, stop.part) == ("not finite", "log", "forward")
