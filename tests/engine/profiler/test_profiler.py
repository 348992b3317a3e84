"""Profiler: which steps it records, what it records of them, what it writes and prints."""

from __future__ import annotations

import json
import threading
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import nn, profiler
from engine.core.errors import AbsentError, ArgumentError, ConditionError, FormatError, ModeError, SaveError
from engine.core.operators.opdef import OPS
from engine.core.spans import watch
from engine.profiler import Profiler, ProfilerState, RecordEvent, SortedKeys, SummaryView, make_scheduler
from engine.profiler.states import TracerEventType


def _quiet(_: Any) -> None:
    pass


def _network() -> tuple[Any, Any]:
    network = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    return network, paddle.optimizer.SGD(0.1, parameters=network.parameters())


def _step(network: Any, optimizer: Any) -> None:
    network(paddle.ones([3, 4])).mean().backward()
    optimizer.step()
    optimizer.clear_grad()


def _calls(found: Profiler, kind: str) -> Counter[str]:
    assert found.profiler_result is not None
    return Counter(span.name for span in found.profiler_result.spans() if span.kind == kind)


def test_operators_are_counted_by_name_and_phase() -> None:
    network, optimizer = _network()
    with Profiler(on_trace_ready=_quiet) as found:
        for _ in range(3):
            _step(network, optimizer)
            found.step()
    operators = _calls(found, "Operator")
    assert {name: operators[name] for name in ("matmul_v2", "elementwise_add", "relu", "sgd_flat")} == {
        "matmul_v2": 6,
        "elementwise_add": 6,
        "relu": 3,
        "sgd_flat": 3,
    }
    assert {name: n for name, n in operators.items() if name.endswith("_grad")} == {
        "matmul_v2_grad": 6,
        "elementwise_add_grad": 6,
        "relu_grad": 3,
        "reduce_mean_grad": 3,
    }
    assert _calls(found, "Forward") == {"Sequential": 3, "Linear": 6, "ReLU": 3}
    assert _calls(found, "Backward") == {"Gradient Backward": 3}
    assert _calls(found, "Optimization") == {"Optimization Step": 3}
    assert _calls(found, "OperatorInner")["matmul_v2"] == 3 * 3  # two gradients each, the input has none


def test_plans_are_recorded_also_those_compiled_before() -> None:
    layer = paddle.jit.to_static(nn.Linear(4, 8))
    x = paddle.ones([2, 4])
    expected = layer(x).numpy()
    with Profiler(on_trace_ready=_quiet) as found:
        layer(x)
        layer(paddle.ones([5, 4]))  # another shape: compiled while it is recorded
    assert _calls(found, "Operator")["matmul_v2"] == 2
    np.testing.assert_array_equal(layer(x).numpy(), expected)
    with Profiler(on_trace_ready=_quiet) as again:
        layer(paddle.ones([5, 4]))
    assert _calls(again, "Operator")["matmul_v2"] == 1


def test_operators_run_their_own_kernels_before_and_after() -> None:
    kernels = {name: opdef.namespace.get("kernel") for name, opdef in OPS.items()}
    plain = OPS["tanh"].kernel_for("cpu")[0]
    with Profiler(on_trace_ready=_quiet):
        paddle.tanh(paddle.ones([2]))
        assert OPS["tanh"].kernel_for("cpu")[0] is not plain
        assert OPS["tanh"].namespace["kernel"] is not plain
    assert OPS["tanh"].namespace["kernel"] is plain
    changed = {n for n, k in kernels.items() if k is not None and OPS[n].namespace["kernel"] is not k}
    assert not changed
    assert watch.recorder is None
    assert watch.timer is None


def test_times_lie_within_each_other() -> None:
    network, optimizer = _network()
    with Profiler(on_trace_ready=_quiet) as found, RecordEvent("mine"):
        _step(network, optimizer)
    assert found.profiler_result is not None
    ((root,),) = found.profiler_result.get_data().values()
    assert (root.span.kind, root.span.name) == ("ProfileStep", "ProfileStep#0")
    mine = next(node for node in root.children if node.span.name == "mine")
    assert mine.span.kind == "PythonUserDefined"
    assert [child.span.kind for child in mine.children if child.span.kind != "Operator"] == [
        "Forward",
        "Backward",
        "Optimization",
    ]
    for node in root.walk():
        assert sum(child.time for child in node.children) <= node.time


def test_threads_are_recorded_apart() -> None:
    with Profiler(on_trace_ready=_quiet) as found:
        thread = threading.Thread(target=lambda: paddle.tanh(paddle.ones([2])))
        thread.start()
        thread.join()
        paddle.tanh(paddle.ones([2]))
    assert found.profiler_result is not None
    threads = {span.thread for span in found.profiler_result.spans() if span.name == "tanh"}
    assert len(threads) == 2


def test_blocks_of_the_user() -> None:
    @RecordEvent("decorated")
    def work() -> None:
        outer.begin()
        outer.begin()
        outer.end()
        outer.end()
        outer.end()  # nothing is open any more

    outer = RecordEvent("twice", TracerEventType.UserDefined)
    work()
    with Profiler(on_trace_ready=_quiet) as found:
        work()
    assert _calls(found, "PythonUserDefined") == {"decorated": 1}
    assert _calls(found, "UserDefined") == {"twice": 2}


STATES = ProfilerState.CLOSED, ProfilerState.READY, ProfilerState.RECORD, ProfilerState.RECORD_AND_RETURN
# What Paddle 2.6.2 gives for the steps from 0 on, by the numbers of the states.
SCHEDULES: list[tuple[dict[str, int], str]] = [
    ({"closed": 1, "ready": 1, "record": 4, "repeat": 1}, "0122230000"),
    ({"closed": 1, "ready": 1, "record": 2, "skip_first": 1}, "00123012301"),
    ({"closed": 0, "ready": 1, "record": 1}, "131313"),
    ({"closed": 2, "ready": 1, "record": 1, "repeat": 2, "skip_first": 2}, "00001300130000"),
]


@pytest.mark.parametrize(("numbers", "expected"), SCHEDULES)
def test_schedules(numbers: dict[str, int], expected: str) -> None:
    state = make_scheduler(**numbers)  # type: ignore[arg-type]
    assert [state(n) for n in range(len(expected))] == [STATES[int(c)] for c in expected]


def test_schedules_that_make_no_sense() -> None:
    with pytest.raises(ConditionError, match="record=0"):
        make_scheduler(closed=0, ready=1, record=0)
    with pytest.raises(AssertionError, match="start < end: got \\(3, 3\\)"):
        Profiler(scheduler=(3, 3))
    with pytest.warns(UserWarning, match="ready is 0"):
        make_scheduler(closed=0, ready=0, record=1)


RECORDINGS = [
    ((2, 4), [["ProfileStep#2", "ProfileStep#3"]]),
    (make_scheduler(closed=1, ready=1, record=1), [["ProfileStep#2"], ["ProfileStep#5"]]),
]


@pytest.mark.parametrize(("scheduler", "recorded"), RECORDINGS, ids=["pair", "repeated"])
def test_recordings_of_a_schedule(scheduler: Any, recorded: list[list[str]]) -> None:
    seen: list[list[str]] = []

    def ready(found: Profiler) -> None:
        assert found.profiler_result is not None
        seen.append(list(_calls(found, "ProfileStep")))
        assert _calls(found, "Operator")["tanh"] == len(seen[-1])

    with Profiler(scheduler=scheduler, on_trace_ready=ready) as found:
        for _ in range(6):
            paddle.tanh(paddle.ones([2]))
            found.step()
    assert seen == recorded


def test_schedules_that_lose_something_warn() -> None:
    states = iter([ProfilerState.RECORD, ProfilerState.CLOSED, ProfilerState.READY, ProfilerState.CLOSED])
    found = Profiler(scheduler=lambda step: next(states), on_trace_ready=_quiet)
    found.start()
    with pytest.warns(UserWarning, match="from RECORD to CLOSED in step 1: what was recorded is lost"):
        found.step()
    found.step()
    with pytest.warns(UserWarning, match="from READY to CLOSED"):
        found.step()
    found.stop()
    assert found.profiler_result is None


def test_files(tmp_path: Path) -> None:
    network, optimizer = _network()
    handler = profiler.export_chrome_tracing(str(tmp_path / "log"), "worker")
    with Profiler(on_trace_ready=handler, record_shapes=True) as found:
        _step(network, optimizer)
    (written,) = (tmp_path / "log").iterdir()
    assert written.name.startswith("worker_time_")
    assert written.name.endswith(".paddle_trace.json")
    content = json.loads(written.read_text(encoding="utf-8"))
    matmul = next(e for e in content["traceEvents"] if e["name"].startswith("matmul_v2["))
    assert (matmul["ph"], matmul["cat"], matmul["args"]["input_shapes"]) == (
        "X",
        "Operator",
        [[3, 4], [4, 8]],
    )
    assert found.profiler_result is not None
    found.export(str(tmp_path / "a.pb"), format="pb")
    for path in (written, tmp_path / "a.pb"):
        loaded = profiler.load_profiler_result(str(path))
        assert loaded.spans() == found.profiler_result.spans()
        assert loaded.get_extra_info() == found.profiler_result.get_extra_info()
    with pytest.raises(ArgumentError, match="format 'xml'"):
        found.export(str(tmp_path / "a.xml"), format="xml")
    with pytest.raises(SaveError):
        found.export(str(tmp_path / "no" / "a.json"))
    with pytest.raises(SaveError):
        profiler.export_protobuf(str(written))
    with pytest.raises(ModeError, match="nothing is recorded yet"):
        Profiler(on_trace_ready=_quiet).export("x.json")
    with pytest.raises(AbsentError):
        profiler.load_profiler_result(str(tmp_path / "none.pb"))
    for text in ("{}", "[]", '{"schemaVersion": "1.0.2"}', "\x08"):
        (tmp_path / "other").write_text(text)
        with pytest.raises(FormatError):
            profiler.load_profiler_result(str(tmp_path / "other"))


def _rows(text: str, title: str) -> list[list[str]]:
    """The rows of a printed table, cells apart, without its heading."""
    lines = text.splitlines()
    start = next(n for n, line in enumerate(lines) if line.strip("-") == title)
    rules = [n for n, line in enumerate(lines) if n > start and set(line) <= {"-", " "} and line]
    return [
        [cell.strip() for cell in line.split("  ") if cell.strip()] for line in lines[rules[1] + 1 : rules[2]]
    ]


def test_tables(capsys: pytest.CaptureFixture[str]) -> None:
    network, optimizer = _network()
    with Profiler(on_trace_ready=_quiet) as found:
        for _ in range(2):
            with RecordEvent("mine"):
                _step(network, optimizer)
            found.step()
    found.summary(time_unit="us")
    text = capsys.readouterr().out
    assert text.count("Time unit: us") == 4
    model = {row[0]: row[1] for row in _rows(text, "Model Summary")}
    assert model == {"ProfileStep": "3", "Forward": "2", "Backward": "2", "Optimization": "2", "Others": "-"}
    operators = {row[0]: row[1] for row in _rows(text, "Operator Summary") if len(row) > 1}
    assert (operators["relu"], operators["sgd_flat"], operators["matmul_v2_grad"]) == ("2", "2", "4")
    assert [row[:2] for row in _rows(text, "UserDefined Summary")[1:]] == [["mine", "2"]]
    for by in SortedKeys:
        found.summary(sorted_by=by, op_detail=False, views=SummaryView.OperatorView)
        rows = _rows(capsys.readouterr().out, "Operator Summary")[1:]
        place = ["Total", "Avg", "Max", "Min"].index(by.name[3:])
        values = [float(row[2].split(" / ")[place]) for row in rows]
        assert values == sorted(values, reverse=True)
    found.summary(views=[SummaryView.DeviceView, SummaryView.KernelView], thread_sep=True)
    assert "CPU(Process)" in capsys.readouterr().out
    with pytest.raises(ArgumentError, match="time_unit 'h'"):
        found.summary(time_unit="h")


def test_one_records_at_a_time() -> None:
    with Profiler(on_trace_ready=_quiet):
        other = Profiler(on_trace_ready=_quiet)
        with pytest.raises(ModeError, match="another one is recording"):
            other.start()
        other.timer_only = True
        other.stop()


def test_unsupported_profiler_targets_raise_a_warning() -> None:
    with pytest.warns(UserWarning, match=r"Profiling ProfilerTarget.XPU is not supported in current context"):
        found = Profiler(
            targets=[profiler.ProfilerTarget.CPU, profiler.ProfilerTarget.XPU], on_trace_ready=_quiet
        )
    assert found.targets == {profiler.ProfilerTarget.CPU}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Profiler(on_trace_ready=_quiet, emit_nvtx=True, custom_device_types=["npu"])


def test_the_path_of_utils() -> None:
    assert profiler.utils.load_profiler_result is profiler.load_profiler_result
    assert not profiler.utils.in_profiler_mode()
    with Profiler(on_trace_ready=_quiet):
        assert profiler.utils.in_profiler_mode()
