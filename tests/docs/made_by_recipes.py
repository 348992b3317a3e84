"""What the recipes make is used: test_recipes.py runs this in a copy of the repository that has it."""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import nn, static
from engine.core import names
from engine.core.operators.opdef import OPS
from engine.static import InputSpec


@pytest.fixture
def statically() -> Iterator[None]:
    """Static mode, with Programs, a scope and names of the test's own."""
    paddle.enable_static()
    programs = static.program_guard(static.Program(), static.Program())
    with names.guard(), programs, static.scope_guard(static.Scope()):
        yield
    paddle.disable_static()


def test_an_op(statically: None) -> None:
    x = static.data("x", [2, 3])
    x.stop_gradient = False
    y = paddle.nn.functional.bump(x)
    (g,) = static.gradients([y.sum()], [x])
    assert g.shape == x.shape
    assert "= bump(inputs={X=['x']}" in str(static.default_main_program())


def test_the_rows_of_the_op() -> None:
    from tests.engine.ops import test_table as table

    assert len(table.BY_OP["bump"]) >= 4
    table.test_every_operator_has_a_row()
    table.test_rows_listed_as_elsewhere_exist()
    table.test_every_rule_is_checked()
    table.test_forward("bump")
    table.test_infer_agrees_with_the_kernel("bump")
    table.test_gradient("bump")
    table.test_second_order("bump")
    table.test_dtype_is_preserved("bump")
    table.test_static_equals_eager("bump")


def test_an_op_with_sub_blocks(statically: None) -> None:
    from engine.program.build.repeating import repeat
    from engine.program.graph.check import check
    from engine.program.passes import optimize

    data = np.array([1.0, 2.0], "float32")
    want = ((data * 2 + data[0]) * 2 + data[0]) * 2 + data[0]
    x = static.data("x", [2])
    first = x[0]
    z = repeat(lambda v: v * 2 + x[0], x, 3) * first / first
    program = static.default_main_program()
    pruned = static.normalize_program(program, [x], [z])
    merged = optimize(program, 1, [z.name])  # the sub-block's x[0] is the one outside
    assert "slice" not in [o.type for o in merged.block(2).ops]
    (repeated,) = [o for o in merged.global_block().ops if o.type == "repeat"]
    assert first.name in [v.name for v in repeated.inputs[1]]
    executor = static.Executor()
    for one in (program, program.clone(for_test=True), pruned, merged):
        check(one)
        (found,) = executor.run(one, feed={"x": data}, fetch_list=[z.name])
        np.testing.assert_array_equal(found, want)
    text = str(program)
    assert "= repeat(inputs={" in text
    assert "body_block = block[2]" in text
    assert "times = 3" in text

    x.stop_gradient = False  # the gradient of a branch runs it again, with its random numbers
    dropped = static.nn.cond(
        x.sum() > 0, lambda: repeat(lambda v: paddle.nn.functional.dropout(v * 3, 0.3), x, 4), lambda: x
    )
    (slope,) = static.gradients([dropped.sum()], [x])
    check(program)
    paddle.seed(3)
    found, slopes = executor.run(program, feed={"x": data}, fetch_list=[dropped, slope])
    assert found.any()
    np.testing.assert_allclose(slopes * data, found, rtol=1e-5)


def test_a_kernel_for_a_backend() -> None:
    kernel, direct = OPS["bump"].kernel_for("cpu")
    assert (kernel.__module__, direct) == ("engine.kernels.cpu.bumps", False)

    calls = []
    OPS["bump"].override("cpu", lambda xp, x: calls.append(x.shape) or kernel(xp, x))
    try:
        x = paddle.to_tensor(np.linspace(-2, 2, 6, dtype="float32"))
        eager = paddle.nn.functional.bump(x)
        assert calls == [(6,)]
        spec = [InputSpec([None], "float32")]
        planned = paddle.jit.to_static(lambda x: paddle.nn.functional.bump(x), spec)(x)
        assert calls == [(6,), (6,)]
    finally:
        OPS["bump"].override("cpu", kernel)
    np.testing.assert_allclose(eager.numpy(), np.exp(-(x.numpy() ** 2)), rtol=1e-6)
    np.testing.assert_array_equal(eager.numpy(), planned.numpy())


def test_a_conversion_pass() -> None:
    @paddle.jit.to_static
    def f(x: Any) -> Any:
        return x**2

    assert "return x * x" in f.code
    assert float(f(paddle.to_tensor(3.0))) == 9.0


def test_a_program_pass(statically: None) -> None:
    from engine.program.passes import optimize
    from engine.program.passes.pipeline import PIPELINE

    x = static.data("x", [2, 3])
    y = paddle.tanh(paddle.transpose(paddle.transpose(x, [1, 0]), [1, 0]))
    program = static.default_main_program()
    assert "cancel_transposes" in [each.rewrite.__name__ for each in PIPELINE]
    assert [o.type for o in program.global_block().ops] == ["transpose2", "transpose2", "tanh"]
    made = optimize(program, 1, [y.name])
    assert [o.type for o in made.global_block().ops] == ["tanh"]
    data = np.arange(6, dtype="float32").reshape(2, 3)
    for one in (program, made):
        (found,) = static.Executor().run(one, feed={"x": data}, fetch_list=[y.name])
        np.testing.assert_allclose(found, np.tanh(data), rtol=1e-6)


def test_a_fusion_in_plans(statically: None) -> None:
    from engine.program.run.plan import Plan

    x, y = static.data("x", [3, 2]), static.data("y", [3, 4])
    product = paddle.matmul(paddle.transpose(x, [1, 0]), y)
    program = static.default_main_program()
    specs = {v.name: v.spec for v in (x, y)}
    given = [np.random.default_rng(n).standard_normal((3, 2 * n)).astype("float32") for n in (1, 2)]
    plans = [Plan(program, program.global_block().ops, [x, y], [product], specs, passes=n) for n in (0, 1)]
    assert [[o.type for o in plan.ops] for plan in plans] == [["transpose2", "matmul_v2"], ["matmul_v2"]]
    np.testing.assert_array_equal(*(plan(given)[0] for plan in plans))


WANT = np.array([0.75, 1.25, 0.75], "float32")
DATA = np.array([[1.0, -2.0, 3.0]], "float32")


@pytest.mark.parametrize("convert", [lambda layer: layer, paddle.jit.to_static], ids=["eager", "converted"])
def test_layer_and_optimizer_train(convert: Callable[[Any], Any]) -> None:
    layer = nn.Gain(3)
    forward = convert(layer)
    rule = paddle.optimizer.SignSGD(0.25, parameters=layer.parameters())
    forward(paddle.to_tensor(DATA)).sum().backward()
    rule.step()
    np.testing.assert_array_equal(layer.weight.numpy(), WANT)


def test_a_layer(statically: None) -> None:
    layer = nn.Gain(3)
    assert repr(layer) == "Gain(channels=3)"
    paddle.optimizer.SignSGD(0.25).minimize(layer(static.data("x", [None, 3])).sum())
    executor = static.Executor()
    executor.run(static.default_startup_program())
    executor.run(feed={"x": DATA}, fetch_list=[])
    trained = static.global_scope().find_var(layer.weight.name).get_tensor()
    np.testing.assert_array_equal(trained.numpy(), WANT)

    paddle.disable_static()
    unit = nn.Normalize(1.0, name="unit")
    assert repr(unit) == "Normalize(p=1.0, axis=1, epsilon=1e-12, name=unit)"
    for call in (nn.Normalize(1.0), paddle.jit.to_static(nn.Normalize(1.0))):
        assert call(paddle.to_tensor([[1.0, -3.0]])).tolist() == [[0.25, -0.75]]


def test_an_optimizer() -> None:
    from typer.testing import CliRunner

    from studio.cli import app

    assert "signsgd" in CliRunner().invoke(app, ["train", "--help"]).stdout


def test_a_name_of_fluid() -> None:
    from engine import fluid
    from tests.engine.fluid.renamed import test_functions as rows

    found = fluid.layers.bump
    (each,) = (row for _, row in rows.TABLES if row.name == "bump")
    rows.test_a_row_fits_both_functions("engine.fluid.layers.ops", each)
    rows.test_no_name_has_two_rows()
    text = "(input: 'Any', use_cudnn: 'bool' = False, name: 'str | None' = None) -> 'Any'"
    assert (str(inspect.signature(found)), found.__doc__) == (text, "``exp(-input * input)``.")
    with fluid.dygraph.guard():
        x = fluid.dygraph.to_variable(np.array([0.0, 1.0], "float32"))
        np.testing.assert_allclose(found(x, True).numpy(), np.exp([0.0, -1.0]), rtol=1e-6)


def test_a_widget_or_a_chart(request: pytest.FixtureRequest) -> None:
    gui = pytest.importorskip("PySide6.QtGui", reason="the window needs Qt")
    from widgets import theme
    from widgets.gauge import Gauge

    qtbot = request.getfixturevalue("qtbot")
    gauge = Gauge()
    qtbot.addWidget(gauge)
    gauge.set_share(0.5)
    gauge.resize(100, 10)
    image = gauge.grab().toImage()
    assert image.pixelColor(20, 5) == gui.QColor(theme.current().accent)
    assert image.pixelColor(80, 5) == gui.QColor(theme.current().track)
    with pytest.raises(ValueError, match="2"):
        gauge.set_share(2)


def test_a_page_of_the_studio(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    core = pytest.importorskip("PySide6.QtCore", reason="the window needs Qt")
    from studio.app import Studio
    from studio.session.runs.runs_folder import Run
    from studio.session.session import Session

    app = request.getfixturevalue("qapp")
    studio = Studio(app, Session(runs_folder=tmp_path))
    studio.show()
    tab = studio.window.top.tab("facts")
    assert (tab.text(), studio.actions["page_facts"].shortcut().toString()) == ("Facts", "Ctrl+9")
    tab.click()
    assert studio.window.current_page() == "facts"
    line = studio.facts._page.line
    assert line.isVisible()
    assert line.text() == f"0 runs in {studio.session.runs_folder}"
    assert studio.window.right.windowTitle() == "Facts"
    studio.session.runs = [Run("r", "r", "failed", {}, 0.0, 0, 1, 0, 0.5, "", 0)]
    studio.session.runs_changed.emit(studio.session.runs)
    assert line.text().startswith("1 runs")
    studio.close()
    studio.session.runs_changed.emit([])
    assert line.text().startswith("1 runs")
    app.sendPostedEvents(None, core.QEvent.Type.DeferredDelete.value)


def test_a_setting_of_an_export(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    core = pytest.importorskip("PySide6.QtCore", reason="the window needs Qt")
    from typer.testing import CliRunner

    from resources.settings.export import ExportSettings
    from studio.app import Studio
    from studio.cli import app as command_line
    from studio.session.export.export_job import Export
    from studio.session.project.session_script import SessionScript
    from studio.session.session import Session

    options = CliRunner().invoke(command_line, ["export", "--help"], env={"COLUMNS": "200"}).stdout
    assert "--note" in options
    assert "A text that the files carry" in options
    assert "`--note`" in Path("docs/settings.md").read_text(encoding="utf-8")
    script = SessionScript()
    script.record(Export("runs/a", "runs/a/inference/model", ExportSettings(note="two words")))
    assert "--note 'two words'" in script.text()

    app = request.getfixturevalue("qapp")
    session = Session(runs_folder=tmp_path)
    studio = Studio(app, session)
    studio.show()
    studio.frame.show_page("export")
    form = studio.export_page.form
    assert (form.label("note"), form.control("note").toolTip()) == (
        "Note",
        "A text that the files carry. (note)",
    )
    form.set_value("note", "mine")
    assert session.export.settings.note == "mine"
    assert '"note":"mine"' in session.project.model_dump_json()
    session.export.change(note="yours")
    assert form.value("note") == "yours"
    session.export.prefix, session.export.run_folder = str(tmp_path / "model"), str(tmp_path)
    session.export.change(note=3)
    assert session.export.why_not == "Note: must be a text: got 3; give e.g. for the demo"
    session.export.change(note="")
    entries = studio._palette_entries()
    assert "Setting: Export, Note" in [entry.title for entry, _ in entries]
    studio.close()
    app.sendPostedEvents(None, core.QEvent.Type.DeferredDelete.value)


def test_a_command_of_the_studio(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    core = pytest.importorskip("PySide6.QtCore", reason="the window needs Qt")
    from studio.app import Studio
    from studio.session.session import Session

    app = request.getfixturevalue("qapp")
    studio = Studio(app, Session(runs_folder=tmp_path))
    action = studio.actions["copy_run_folder"]
    file_menu = next(menu for menu in studio.window.top.menu.actions() if "File" in menu.text())
    assert action in file_menu.menu().actions()
    assert action.shortcut().toString() == "Ctrl+Shift+C"
    assert action.toolTip() == "Copy run folder: No run is selected."
    assert studio.actions.trigger("copy_run_folder") == "No run is selected."
    studio.session.select_run(str(tmp_path / "run"))
    studio.actions.refresh()
    assert action.isEnabled()
    action.trigger()
    assert app.clipboard().text() == str(tmp_path / "run")
    studio.close()
    app.sendPostedEvents(None, core.QEvent.Type.DeferredDelete.value)


def test_a_command_of_the_command_line(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from engine.files.checkpoint import write_checkpoint
    from studio.cli import app

    for step in (30, 4):
        write_checkpoint(tmp_path / "checkpoints", step, {})
    done = CliRunner().invoke(app, ["states", str(tmp_path), "--json"])
    assert done.exit_code == 0, done.output
    assert [json.loads(line)["step"] for line in done.stdout.splitlines()] == [4, 30]
    lines = CliRunner().invoke(app, ["states", str(tmp_path)]).stdout.splitlines()
    assert "step-00000030.h5" in lines[1]
    assert "states" in CliRunner().invoke(app, ["--help"]).stdout
    assert CliRunner().invoke(app, ["states", str(tmp_path / "nowhere")]).exit_code == 2


def test_a_file_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from engine.core.errors import DataError, FormatError, SaveError
    from engine.files.labels import read_labels, write_labels
    from engine.files.native.container import write_container

    path = tmp_path / "a.labels"
    found = ["cat", "hund", "猫"]
    write_labels(path, found)
    assert read_labels(path) == found

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    whole = path.read_bytes()
    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", full)
        with pytest.raises(SaveError, match=r"a\.labels"):
            write_labels(path, ["other"])
    assert path.read_bytes() == whole
    assert os.listdir(tmp_path) == ["a.labels"]

    def refused() -> None:
        with pytest.raises(FormatError, match=r"a\.labels"):
            read_labels(path)

    for position in range(0, len(whole), 97):
        path.write_bytes(whole[:position] + bytes([whole[position] ^ 1]) + whole[position + 1 :])
        refused()
    path.write_bytes(whole[:-1])
    refused()
    write_container(path, "labels", 1, {"names": [1]})
    refused()
    write_container(path, "checkpoint", 1, {"names": ["a"]})
    refused()
    with pytest.raises(DataError, match="nowhere"):
        read_labels(tmp_path / "nowhere")


def test_a_job_of_a_child_process(tmp_path: Path) -> None:
    from studio.session.count_job import CountClasses
    from studio.session.session import Session
    from studio.session.work.worker import ThreadWorker

    session = Session(ThreadWorker, tmp_path / "runs")
    events: list[Any] = []
    task = session.tasks.start(CountClasses("digits"), events.append)
    assert session.tasks.shown == (task,)
    assert task.title.format(task.subject) == "Counting the classes of digits"
    assert session.wait_until(task.take, 60.0), events
    assert (task.state, session.tasks.shown) == ("done", ())
    assert task.result is not None
    counts = task.result["counts"]
    assert task.result in events
    assert len(counts) == 10
    assert counts.min() > 0
    session.close()
