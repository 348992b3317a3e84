"""Measuring an edited model: the report of its steps, and errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from resources.local_code import read_code
from studio.session.code.measure_job import MeasureCode
from studio.session.code.measure_view import Measurement
from studio.session.work.job import Inbox, perform_sent, plain_job
from tests.studio.conftest import bars  # noqa: F401  (the fixture)

TEXT = """from engine import nn
from layer_width import WIDTH


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(784, WIDTH)

    def forward(self, x):
        x = x.flatten(1)
        return self.linear(x)
"""


TWO_INPUTS = """from engine import nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.words, self.linear = nn.Embedding(10, 3), nn.Linear(3, 5)

    def forward(self, x, words):
        x = x + self.words(words).mean(1)
        return self.linear(x), x
"""


def outcome(text: str, folder: Path, data: Path, inputs: str = "", **settings: Any) -> dict[str, Any]:
    events: list[Any] = []
    config = {"data": str(data), "batch_size": 4, **settings}
    agreed = read_code(folder / "net.py", text.encode()).digest
    job = MeasureCode(text, str(folder / "net.py"), "Net", config, steps=2, input_text=inputs, agreed=agreed)
    assert perform_sent(plain_job(job), events.append, Inbox())
    (event,) = events
    return dict(event)


def test_time_bytes_and_operations_of_operators_and_lines(bars: Path, tmp_path: Path) -> None:  # noqa: F811
    (tmp_path / "layer_width.py").write_text("WIDTH = 10\n")
    found = Measurement.of(outcome(TEXT, tmp_path, bars))
    product = next(row for row in found.operators if row.name == "matmul_v2")
    assert product.gflops is not None
    assert product.gflops > 0
    assert [part.line for part in product.parts] == [12]
    line = found.at_line(12)
    assert line is not None
    assert line.seconds >= product.seconds
    assert 0 < sum(row.share for row in found.operators) + found.between == pytest.approx(1)
    assert (found.steps, found.batch_size, found.compiled) == (2, 4, ())
    assert not (tmp_path / "net.py").exists()


def test_a_mistake_is_reported_with_its_line_and_the_name_of_the_file(bars: Path, tmp_path: Path) -> None:  # noqa: F811
    (tmp_path / "layer_width.py").write_text("WIDTH = 10\n")
    event = outcome(TEXT.replace("Linear(784", "Linear(783"), tmp_path, bars)
    assert (event["event"], event["line"]) == ("measure_failed", 12)
    assert "783" in event["what"]
    assert ".work" not in event["what"] + event["do"]


@pytest.mark.parametrize("static", [True, False])
def test_inputs_that_no_data_has_are_measured_with_random_numbers(tmp_path: Path, static: bool) -> None:
    event = outcome(TWO_INPUTS, tmp_path, tmp_path / "no data", "N, 3; N, 4 int64", static=static)
    found = Measurement.of(event)
    assert found.inputs == "N, 3; N, 4 int64"
    assert found.at_line(10) is not None
    assert found.at_line(11) is not None
    assert {"lookup_table_v2", "lookup_table_v2_grad"} <= {row.name for row in found.operators}


def test_corrections_of_the_settings_are_measured_too(bars: Path, tmp_path: Path) -> None:  # noqa: F811
    (tmp_path / "layer_width.py").write_text("WIDTH = 10\n")
    wrong = tmp_path / "corrections.json"
    wrong.write_text("{}")
    event = outcome(TEXT, tmp_path, bars, corrections=str(wrong))
    assert event["event"] == "measure_failed"
    assert "no file of corrections" in event["what"]
