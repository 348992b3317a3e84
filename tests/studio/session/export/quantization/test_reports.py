"""A report that lies in files: read again, as text and as a table, and joined to the files' Program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine import jit, nn
from engine.jit.input_spec import InputSpec
from engine.quantization.report import QuantizationReport
from studio.session.export.quantization.reports import NO_REPORT
from studio.session.export.quantization.text import report_csv, report_text
from studio.session.session import Session
from studio.session.work.worker import ThreadWorker
from tests.studio.quantized import report

WAIT = 30.0


@pytest.fixture
def session(tmp_path: Path) -> Any:
    made = Session(ThreadWorker, tmp_path / "runs")
    made.files.begin()
    yield made
    made.close()


def save(prefix: Path, network: nn.Layer | None = None, **info: Any) -> str:
    """Inference files of one linear layer; their prefix."""
    spec = [InputSpec([None, 4], "float32", "x")]
    jit.save(network or nn.Linear(4, 3), str(prefix), input_spec=spec, info=info)
    return str(prefix)


def test_a_stored_report_is_shown_again_and_leads_to_the_program(session: Session, tmp_path: Path) -> None:
    network = nn.Linear(4, 3)
    known = {**report()["layers"][2], "name": "fc", "weight": network.weight.name}
    prefix = save(tmp_path / "model", network, quantization=report(layers=[known]))
    view, reports = session.quantization.view, session.quantization
    reports.show_files(prefix, "")
    assert view.loading
    assert session.wait_until(lambda: view.report is not None, WAIT)
    assert (view.loading, view.report.algo, view.message) == (False, "hist", "")
    assert session.wait_until(lambda: "no images" in view.why_no_images, WAIT)
    reports.choose_layer("fc")
    assert session.wait_until(lambda: session.graph.selected is not None, WAIT)
    assert session.graph.selected_operator()["type"] in ("matmul_v2", "mul")
    view.layer = ""
    place, session.graph.selected = session.graph.selected, None
    session.graph.select(*place)
    assert view.layer == "fc"
    assert session.blocked("quantization_report") == ""


def test_files_without_a_report_and_with_a_damaged_one(session: Session, tmp_path: Path) -> None:
    view = session.quantization.view
    plain, wrong = save(tmp_path / "plain"), save(tmp_path / "wrong", quantization={"algo": 3})
    session.quantization.show_files(plain, "")
    assert session.wait_until(lambda: not view.loading, WAIT)
    assert (view.report, view.message) == (None, NO_REPORT)
    session.quantization.show_files(wrong, "")
    assert session.wait_until(lambda: not view.loading, WAIT)
    assert view.report is None
    assert "not a report of a quantization" in view.message
    session.quantization.show_files(str(tmp_path / "nothing"), "")
    assert session.wait_until(lambda: not view.loading, WAIT)
    assert "nothing" in view.message
    assert session.blocked("save_quantization") == "No quantization is shown on Export."


def test_a_report_as_text_and_as_a_table() -> None:
    found = QuantizationReport.from_plain(report())
    text = report_text(found, "/x/model-int8")
    for line in (
        "Accuracy     97.70 % -> 97.58 % on 5 000 test samples (-0.12 points)",
        "Size         257 kB -> 80.0 kB (3.2 times smaller)",
        "One sample   310 µs -> 520 µs (1.7 times slower)",
        "fc1    mul     2.5        0.21 %  0.03 %        -0.02",
        "fc3  it fits the pattern fc3",
        "digit 4  98.00 %  96.00 %",
        "17      digit 4  digit 4  digit 9",
    ):
        assert line in text.splitlines()
    plain = report(method="weights_only", algo="", samples=0, latency={"float": 1e-3, "quantized": 1.01e-3})
    lines = report_text(QuantizationReport.from_plain(plain), "/x/model").splitlines()
    assert "Method       weights alone" in lines
    assert "One sample   1 ms -> 1 ms (about the same)" in lines
    table = report_csv(found).splitlines()
    assert table[3] == "fc1,mul,fc1.w_0,1,2.5,0.0021,0.0002625,0.02,"
    assert table[5] == "fc3,mul,fc3.w_0,0,,,,,it fits the pattern fc3"
