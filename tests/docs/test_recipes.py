"""Every recipe of CONTRIBUTING.md is carried out in a copy of the repository, and what it adds is used."""

from __future__ import annotations

import importlib.util
import textwrap
from pathlib import Path

import pytest

from tests.docs.recipes import PAGE, Step, carry_out, copy_repository, python, recipes

RECIPES = recipes()
needs_qt = pytest.mark.skipif(importlib.util.find_spec("PySide6") is None, reason="the window needs Qt")


MISFITS: dict[str, str] = {}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository after all recipes; one that does not fit leaves the others to their tests."""
    root = tmp_path_factory.mktemp("tree")
    copy_repository(root)
    for title, steps in RECIPES.items():
        try:
            for step in steps:
                carry_out(step, root)
        except (AssertionError, OSError) as error:
            MISFITS[title] = str(error)
    return root


def test_every_recipe_fits_the_files(tree: Path) -> None:
    assert MISFITS == {}


def script(root: Path, text: str) -> str:
    """What the script prints in a fresh process that imports the copy; its functions can be converted."""
    path = root / "script.py"
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    return python(root, str(path))


def passed(root: Path, *arguments: str) -> int:
    """Run tests of the copy, which may not fail; how many there were."""
    said = python(root, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", *arguments)
    return int(said.split(" passed")[0].split()[-1])


def test_the_page_has_a_recipe_for_every_kind() -> None:
    assert list(RECIPES) == [
        "An op", "An op with sub-blocks", "A kernel for a backend", "A conversion pass", "A layer",
        "An optimizer", "A widget or a chart", "A page of the studio", "A command of the command line",
        "A file format",
    ]  # fmt: skip
    page = PAGE.read_text(encoding="utf-8")
    assert [title for title in RECIPES if f"(#{title.lower().replace(' ', '-')})" not in page] == []
    assert all(steps and all(step.path or step.kind == "sh" for step in steps) for steps in RECIPES.values())


def test_a_recipe_that_does_not_fit_its_file_fails(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("one\ntwo\nfour\n")
    carry_out(Step("a.py", "diff", " one\n-two\n+three\n@@\n four\n+five\n"), tmp_path)
    assert (tmp_path / "a.py").read_text() == "one\nthree\nfour\nfive\n"
    with pytest.raises(AssertionError, match=r"a\.py has not exactly one place"):
        carry_out(Step("a.py", "diff", " one\n-two\n+three\n"), tmp_path)
    with pytest.raises(AssertionError, match="exists already"):
        carry_out(Step("a.py", "python", "one\n"), tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_what_the_recipes_make_keeps_the_rules_of_the_house(tree: Path) -> None:
    changed = sorted({step.path for steps in RECIPES.values() for step in steps if step.path})
    python(tree, "-m", "ruff", "check", "--no-cache", *changed)
    python(tree, "-m", "ruff", "format", "--no-cache", "--check", *changed)
    assert passed(tree, "tests/arch/test_tree.py", "tests/arch/test_imports.py::test_contracts_hold") > 50


@pytest.mark.timeout(240)
def test_op(tree: Path) -> None:
    # Four shapes, each in every way that the table has.
    assert passed(tree, "tests/engine/ops/test_table.py", "-k", "bump or every") > 20
    printed = script(
        tree,
        """
        import engine as paddle
        from engine import static
        from engine.core.opdef import OPS
        assert "bump" in OPS
        paddle.enable_static()
        x = static.data("x", [2, 3])
        x.stop_gradient = False
        y = paddle.nn.functional.bump(x)
        (g,) = static.gradients([y.sum()], [x])
        print(static.default_main_program())
    """,
    )
    assert "= bump(inputs={X=['x']}" in printed


@pytest.mark.timeout(120)
def test_op_with_sub_blocks(tree: Path) -> None:
    printed = script(
        tree,
        """
        import numpy as np
        import engine as paddle
        from engine import static
        from engine.program.build.repeating import repeat
        from engine.program.graph.check import check

        data = np.array([1.0, 2.0], "float32")
        want = ((data * 2 + data[0]) * 2 + data[0]) * 2 + data[0]
        start = paddle.to_tensor(data)
        np.testing.assert_array_equal(repeat(lambda v: v * 2 + start[0], start, 3).numpy(), want)

        paddle.enable_static()
        x = static.data("x", [2])
        first = x[0]
        y = repeat(lambda v: v * 2 + first, x, 3)
        z = y + 1
        program = static.default_main_program()
        pruned = static.normalize_program(program, [x], [z])
        executor = static.Executor()
        for one in (program, program.clone(for_test=True), pruned):
            check(one)
            (found,) = executor.run(one, feed={"x": data}, fetch_list=[z.name])
            np.testing.assert_array_equal(found, want + 1)
        print(program)
    """,
    )
    assert "= repeat(inputs={" in printed
    assert "body_block = block[1]" in printed
    assert "times = 3" in printed
    assert passed(tree, "tests/engine/ops/test_repeat.py") == 1


@pytest.mark.timeout(120)
def test_kernel(tree: Path) -> None:
    script(
        tree,
        """
        import numpy as np
        import engine as paddle
        from engine.core.opdef import OPS
        from engine.kernels.cpu.bumps import bump as kernel
        from engine.static import InputSpec

        calls = []
        OPS["bump"].override("cpu", lambda xp, x: calls.append(x.shape) or kernel(xp, x))
        x = paddle.to_tensor(np.linspace(-2, 2, 6, dtype="float32"))
        eager = paddle.nn.functional.bump(x)
        assert calls == [(6,)]

        @paddle.jit.to_static(input_spec=[InputSpec([None], "float32")])
        def f(x):
            return paddle.nn.functional.bump(x)

        planned = f(x)
        assert calls == [(6,), (6,)], calls
        want = np.exp(-x.numpy() ** 2)
        np.testing.assert_allclose(eager.numpy(), want, rtol=1e-6)
        np.testing.assert_array_equal(eager.numpy(), planned.numpy())
    """,
    )
    # Without the wrapping above: what the package itself put in place is the recipe's function.
    assert script(
        tree,
        """
        import engine
        from engine.core.opdef import OPS
        kernel, direct = OPS["bump"].kernel_for("cpu")
        print(kernel.__module__, direct)
    """,
    ).split() == ["engine.kernels.cpu.bumps", "False"]


@pytest.mark.timeout(240)
def test_conversion_pass(tree: Path) -> None:
    assert passed(tree, "tests/engine/jit/convert/passes/test_passes.py", "-k", "squares")
    shown = script(
        tree,
        """
        import engine as paddle

        @paddle.jit.to_static
        def f(x):
            return x ** 2

        print(f.code)
        assert float(f(paddle.to_tensor(3.0))) == 9.0
    """,
    )
    assert "return x * x" in shown


@pytest.mark.timeout(120)
def test_layer_and_optimizer_train_eagerly_and_statically(tree: Path) -> None:
    script(
        tree,
        """
        import numpy as np
        import engine as paddle
        from engine import nn, static

        data = np.array([[1.0, -2.0, 3.0]], "float32")

        def eagerly(forward, layer):
            rule = paddle.optimizer.SignSGD(0.25, parameters=layer.parameters())
            forward(paddle.to_tensor(data)).sum().backward()
            rule.step()
            return layer.weight.numpy()

        want = np.array([0.75, 1.25, 0.75], "float32")
        layer = nn.Gain(3)
        np.testing.assert_array_equal(eagerly(layer, layer), want)
        layer = nn.Gain(3)
        np.testing.assert_array_equal(eagerly(paddle.jit.to_static(layer), layer), want)

        paddle.enable_static()
        x = static.data("x", [None, 3])
        layer = nn.Gain(3)
        paddle.optimizer.SignSGD(0.25).minimize(layer(x).sum())
        executor = static.Executor()
        executor.run(static.default_startup_program())
        executor.run(feed={"x": data}, fetch_list=[])
        trained = static.global_scope().find_var(layer.weight.name).get_tensor()
        np.testing.assert_array_equal(trained.numpy(), want)
    """,
    )


@pytest.mark.timeout(240)
def test_optimizer_can_be_chosen(tree: Path) -> None:
    assert passed(tree, "tests/docs/test_settings.py", "tests/engine/training/test_rules.py") > 20
    assert "signsgd" in python(tree, "-m", "studio", "train", "--help")


@needs_qt
@pytest.mark.timeout(240)
def test_widget(tree: Path) -> None:
    assert passed(tree, "tests/widgets/test_all.py", "-k", "gauge or every") >= 4
    script(
        tree,
        """
        from PySide6.QtGui import QColor
        from PySide6.QtWidgets import QApplication
        from widgets import theme
        from widgets.gauge import Gauge
        app = QApplication([])
        gauge = Gauge()
        gauge.set_share(0.5)
        gauge.resize(100, 10)
        picture = gauge.grab().toImage()
        assert picture.pixelColor(20, 5) == QColor(theme.current().accent)
        assert picture.pixelColor(80, 5) == QColor(theme.current().track)
        try:
            gauge.set_share(2)
        except ValueError as error:
            assert "2" in str(error)
        else:
            raise AssertionError("a share of 2 was taken")
    """,
    )


@needs_qt
@pytest.mark.timeout(240)
def test_page(tree: Path, tmp_path: Path) -> None:
    script(
        tree,
        f"""
        from pathlib import Path
        from PySide6.QtWidgets import QApplication
        from studio.app import Studio
        from studio.session.runs import Run
        from studio.session.session import Session
        app = QApplication([])
        studio = Studio(app, Session(runs_folder=Path({str(tmp_path)!r})))
        studio.show()
        tab = studio.window.top.tab("facts")
        assert (tab.text(), studio.actions["page_facts"].shortcut().toString()) == ("Facts", "Ctrl+7")
        tab.click()
        assert studio.window.current_page() == "facts"
        line = studio.facts._page.line
        assert line.isVisible()
        assert line.text() == "0 runs in " + str(studio.session.runs_folder), line.text()
        assert studio.window.right.windowTitle() == "Facts"
        studio.session.runs = [Run("r", "r", "failed", {{}}, 0.0, 0, 1, 0, 0.5, "", 0)]
        studio.session.runs_changed.emit(studio.session.runs)
        assert line.text().startswith("1 runs")
        studio.close()
        studio.session.runs_changed.emit([])
        assert line.text().startswith("1 runs")
    """,
    )


@pytest.mark.timeout(120)
def test_command(tree: Path, tmp_path: Path) -> None:
    script(
        tree,
        f"""
        import json
        from pathlib import Path
        from typer.testing import CliRunner
        from engine.files.checkpoint import write_checkpoint
        from studio.cli import app
        run = Path({str(tmp_path)!r})
        for step in (30, 4):
            write_checkpoint(run / "checkpoints", step, {{}})
        done = CliRunner().invoke(app, ["checkpoints", str(run), "--json"])
        assert done.exit_code == 0, done.output
        assert [json.loads(line)["step"] for line in done.stdout.splitlines()] == [4, 30]
        assert "step-00000030.h5" in CliRunner().invoke(app, ["checkpoints", str(run)]).stdout.splitlines()[1]
        assert "checkpoints" in CliRunner().invoke(app, ["--help"]).stdout
        assert CliRunner().invoke(app, ["checkpoints", str(run / "nowhere")]).exit_code == 2
    """,
    )


@pytest.mark.timeout(120)
def test_file_format(tree: Path, tmp_path: Path) -> None:
    script(
        tree,
        f"""
        import os
        from pathlib import Path
        from engine.core.errors import DataError, FormatError, SaveError
        from engine.files.container import write_container
        from engine.files.labels import read_labels, write_labels
        folder = Path({str(tmp_path)!r})
        path = folder / "a.labels"
        names = ["cat", "hund", "猫"]
        write_labels(path, names)
        assert read_labels(path) == names

        def refused(error, work):
            try:
                work()
            except error as caught:
                assert str(path) in str(caught) or "nowhere" in str(caught), caught
            else:
                raise AssertionError(f"no {{error.__name__}}")

        whole, replace = path.read_bytes(), os.replace

        def full(*_):
            raise OSError(28, "No space left on device")

        os.replace = full
        refused(SaveError, lambda: write_labels(path, ["other"]))
        os.replace = replace
        assert path.read_bytes() == whole
        assert os.listdir(folder) == ["a.labels"]
        for position in range(0, len(whole), 97):
            path.write_bytes(whole[:position] + bytes([whole[position] ^ 1]) + whole[position + 1 :])
            refused(FormatError, lambda: read_labels(path))
        path.write_bytes(whole[:-1])
        refused(FormatError, lambda: read_labels(path))
        write_container(path, "labels", 1, {{"names": [1]}})
        refused(FormatError, lambda: read_labels(path))
        write_container(path, "checkpoint", 1, {{"names": ["a"]}})
        refused(FormatError, lambda: read_labels(path))
        refused(DataError, lambda: read_labels(folder / "nowhere"))
    """,
    )
