"""What operators did: bytes, operations and the user's line, added up by operator and by line."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

import engine as paddle
from engine import jit, nn
from engine.core.errors import ArgumentError
from engine.profiler import Profiler, load_profiler_result
from engine.profiler.report import ELSEWHERE, Row, rows_of, table_of
from engine.profiler.result import ProfilerResult
from engine.profiler.work import flops

HERE = str(Path(__file__).resolve())


class _Net(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2D(2, 4, 3)
        self.line = nn.Linear(4 * 6 * 6, 5)

    def forward(self, x: Any) -> Any:
        x = self.conv(x)
        x = nn.functional.tanh(x)
        return self.line(x.flatten(1))


_FIRST = inspect.getsourcelines(_Net.forward)[1]


def _recorded(static: bool) -> ProfilerResult:
    net = _Net()
    call = jit.to_static(net) if static else net
    x = paddle.rand([8, 2, 8, 8])
    call(x).sum().backward()
    recording = Profiler(on_trace_ready=lambda _: None, with_flops=True)
    with recording:
        call(x).sum().backward()
    assert recording.profiler_result is not None
    return recording.profiler_result


def _named(rows: list[Row]) -> dict[str, Row]:
    return {row.name: row for row in rows}


@pytest.mark.parametrize("static", [False, True], ids=["eager", "static"])
def test_operators_and_lines(static: bool) -> None:
    result = _recorded(static)
    by_operator, by_line = rows_of(result), rows_of(result, "line")
    for rows in (by_operator, by_line):
        assert rows == sorted(rows, key=lambda row: -row.seconds)
        assert all(row.seconds >= 0 and row.calls > 0 for row in rows)
    assert sum(r.seconds for r in by_operator) == pytest.approx(sum(r.seconds for r in by_line))
    assert sum(r.bytes for r in by_operator) == sum(r.bytes for r in by_line)
    operators, lines = _named(by_operator), _named(by_line)
    places = 8 * 4 * 6 * 6
    forward = operators["conv2d_fusion" if static else "conv2d"]
    assert (forward.calls, forward.flops) == (1, 2 * places * 2 * 9)
    assert operators["conv2d_grad"].flops == 2 * places * 2 * 9  # of the filters alone: x takes no gradient
    assert operators["matmul_v2"].flops >= 2 * 8 * 5 * (4 * 6 * 6) * 3
    # A line has its gradients, too.
    assert lines[f"{HERE}:{_FIRST + 1}"].flops >= 4 * places * 2 * 9
    assert f"{HERE}:{_FIRST + 2}" in lines
    assert lines[f"{HERE}:{_FIRST + 3}"].calls >= 4
    assert rows_of(result, "line", own=str(Path(HERE).parent))[0].name == ELSEWHERE


def test_time_within_another_kernel_counts_once() -> None:
    result = _recorded(True)
    begin, end = result.time_range()
    assert sum(row.seconds for row in rows_of(result)) <= (end - begin) / 1e9


def test_a_file_keeps_the_work(tmp_path: Path) -> None:
    result = _recorded(False)
    result.save(str(tmp_path / "trace.json"))
    again = load_profiler_result(str(tmp_path / "trace.json"))
    assert rows_of(again, "line") == rows_of(result, "line")
    event = next(e for e in result._chrome()["traceEvents"] if e.get("cat", "").startswith("Operator"))
    assert {"bytes", "line"} <= event["args"].keys() or "bytes" not in event["args"]
    conv = [e for e in result._chrome()["traceEvents"] if e["name"].startswith("conv2d[")]
    assert conv[0]["args"]["flops"] == 2 * 8 * 4 * 6 * 6 * 18
    assert conv[0]["args"]["line"] == f"{HERE}:{_FIRST + 1}"


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result, file = _recorded(False), tmp_path / "trace.json"
    file.write_text("before")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("engine.files.atomic.os.fsync", full)
    with pytest.raises(paddle.core.errors.SaveError, match=r"trace.json can't be written"):
        result.save(str(file))
    assert file.read_text() == "before"


@pytest.mark.parametrize(
    ("name", "taken", "given", "attrs", "expected"),
    [
        ("matmul_v2", [(3, 4), (4, 5)], [(3, 5)], {}, 120),
        ("matmul_v2", [(4, 3), (4, 5)], [(3, 5)], {"trans_x": True}, 120),
        ("product_of_rows", [(2, 3, 4), (2, 3, 5)], [(4, 5)], {}, 240),
        ("fused_attention", [(2, 3, 4), (2, 5, 4), (2, 5, 6)], [(2, 3, 6), (2, 3, 5)], {}, 2 * 30 * 10),
        (
            "fused_attention_grad",
            [(2, 3, 6), (2, 3, 5), (2, 3, 4), (2, 5, 4), (2, 5, 6)],
            [(2, 5, 6)],
            {"wanted": (False, True, True)},
            2 * 30 * 16,
        ),
        ("mul", [(2, 3, 4), (12, 5)], [(2, 5)], {"x_num_col_dims": 1}, 240),
        ("conv2d", [(1, 4, 5, 5), (6, 2, 3, 3)], [(1, 6, 3, 3)], {"groups": 2}, 2 * 54 * 18),
        (
            "conv2d_grad",
            [(1, 4, 5, 5), (6, 4, 3, 3), (1, 6, 3, 3)],
            [(1, 4, 5, 5), (6, 4, 3, 3)],
            {},
            2 * 2 * 54 * 36,
        ),
        ("conv2d_transpose", [(1, 4, 5, 5), (4, 2, 3, 3)], [(1, 2, 7, 7)], {}, 2 * 100 * 18),
        ("elementwise_add", [(3, 4), (4,)], [(3, 4)], {}, 12),
        ("reduce_sum", [(3, 4)], [(3,)], {}, 12),
        ("reshape2", [(3, 4)], [(12,)], {}, 0),
        ("fused_elementwise(relu, tanh, scale)", [(3, 4)], [(3, 4)], {}, 36),
        ("softmax", [(3, 4)], [(3, 4)], {}, -1),
        ("matmul_v2", [], [], {}, -1),
    ],
)
def test_operations(name: str, taken: Any, given: Any, attrs: Any, expected: int) -> None:
    assert flops(name, taken, given, attrs) == expected


def test_the_table() -> None:
    rows = [Row("a", 4, 0.003, 2_000_000, 6_000_000, 0.003), Row("/x/y/net.py:7", 2, 0.001)]
    lines = table_of(rows, 2, 0.008, "line").splitlines()
    assert lines[0].split() == ["line", "calls", "ms", "share", "MB", "GFLOP/s"]
    assert lines[1].split() == ["a", "2", "1.500", "37.5%", "1.00", "2.0"]
    assert lines[2].split() == ["y/net.py:7", "1", "0.500", "12.5%", "0.00", "-"]
    assert lines[3].split()[-2:] == ["2.000", "50.0%"]
    assert lines[4].split() == ["a", "step", "4.000"]
    with pytest.raises(ArgumentError, match="by 'file' is not one of operator, line"):
        rows_of(ProfilerResult([], {}), "file")
