"""The report about a GPU, in small, on the stand-in for CuPy; and the line where there is no GPU."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from bench import driver_calls
from bench.driver_calls import Calls
from bench.gpu import Plan, main, report
from bench.gpu_operators import sizes
from bench.nets import Job
from engine.kernels.choice import kernels
from tests.cupy_stand_in import counts
from tests.cupy_stand_in.module import installed


@contextmanager
def counting() -> Iterator[Calls]:
    calls = Calls()
    with counts.counted() as seen:
        yield calls
    calls.launches, calls.waits = seen.launches, seen.waits


def small(**changes: object) -> Plan:
    given = {
        "operators": ("relu", "reduce_sum"),
        "kernels": 0,
        "jobs": {"MLP": Job("mlp", 4, (6, 5, 10))},
        "precisions": ("float32", "float16"),
        "rounds": 1,
        "samples": 64,
        "tested": 10,
        "counting": counting,
    }
    return Plan(**{**given, **changes})  # type: ignore[arg-type]


def test_a_small_report(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    said: list[str] = []
    with installed(), kernels.guard("numpy"):
        text, sound = report(small(), said.append)
    assert sound, text
    assert text == "\n".join(said) + "\n"
    assert "- Stand-in, compute capability 8.0, 8.0 GiB" in text
    assert "torch is not installed" in text
    assert "2 operators" in text
    for mode in ("eager", "static, no graph", "static, CUDA graph"):
        rows = [line for line in said if line.startswith("| float") and f", {mode} |" in line]
        assert len(rows) == 2
        assert all(int(row.split("|")[4].split("/")[0].split("+")[0]) > 0 for row in rows), rows
    losses = {line.split("|")[-2].strip() for line in said if line.startswith("| float32, ")}
    assert len(losses) == 1, "every mode computes the same"
    assert "All results are right." in text


def test_kernels_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    from bench import gpu_operators

    chosen = [size for size in sizes() if size.title == "cross entropy 64x10"]
    monkeypatch.setattr(gpu_operators, "sizes", lambda: chosen)
    said: list[str] = []
    with installed(), kernels.guard("numpy"):
        report(small(sections=("kernels",), kernels=1), said.append)
    assert sum(line.startswith("| cross entropy 64x10 |") for line in said) == 1


def test_a_wrong_result_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    from bench import gpu_operators

    monkeypatch.setattr(gpu_operators, "_difference", lambda got, want: "differs by 1")
    with installed(), kernels.guard("numpy"):
        text, sound = report(small(sections=("operators",), operators=("relu",)), lambda line: None)
    assert not sound
    assert "- wrong: " in text
    assert "**Some results are wrong" in text


def test_without_a_gpu_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("CUPY_TF32", "0")
    monkeypatch.setitem(sys.modules, "engine.kernels.cupy", None)
    assert main([]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("bench.gpu: the GPU needs CuPy, which is not installed")
    assert said.err.count("\n") == 1


def test_calls_of_the_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    """CUPTI's part is played: what it calls back with is added up by name."""

    class Cupti:
        def cuptiSubscribe(self, _: object, callback: object, __: object) -> int:
            self.callback = callback
            return 0

        def cuptiEnableDomain(self, *_: object) -> int:
            return 0

        def cuptiUnsubscribe(self, _: object) -> int:
            return 0

        def call(self, name: bytes) -> None:
            for site in (0, 1):
                data = driver_calls._Data(site, name)
                self.callback(None, 1, 0, driver_calls.ctypes.byref(data))  # type: ignore[operator]

    cupti = Cupti()
    monkeypatch.setattr(driver_calls, "library", lambda: cupti)
    with driver_calls.counted() as calls:
        for name in (
            b"cuLaunchKernel",
            b"cuLaunchKernelEx",
            b"cuGraphLaunch",
            b"cuStreamSynchronize",
            b"cuMemAlloc",
        ):
            cupti.call(name)
    assert calls == Calls(2, 1, 1)
    assert calls.text() == "2 + 1 graph / 1"
    monkeypatch.setattr(driver_calls, "library", lambda: None)
    with driver_calls.counted() as nothing:
        assert nothing is None
