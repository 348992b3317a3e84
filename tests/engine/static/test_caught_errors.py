"""Static graphs raise what scripts written for Paddle catch."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest


def test_runs_raise_the_classes_that_scripts_catch(static: Any) -> None:
    x = static.data("x", [None, 4])
    executor = static.Executor()
    with pytest.raises(RuntimeError, match="no variable 'zz'"):
        executor.run(feed={"x": np.ones((2, 4), "float32")}, fetch_list=["zz"])
    executor.close()
    with pytest.raises(RuntimeError, match="is closed"):
        executor.run(feed={"x": np.ones((2, 4), "float32")}, fetch_list=[x])


def test_building_raises_the_classes_that_scripts_catch(
    static: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(RuntimeError, match="print_phase 'no'"):
        static.Print(static.data("x", [2]), print_phase="no")
    with pytest.raises(AssertionError, match="no file name"):
        static.save(static.default_main_program(), f"{tmp_path}/")
    monkeypatch.setitem(sys.modules, "engine.kernels.cupy", None)
    with pytest.raises(AssertionError, match=r"cuda_places: .*gpu:0"):
        static.cuda_places()
