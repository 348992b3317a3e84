"""What a dry run finds out: shapes, numbers, errors at the lines of the text, and the conversion."""

from __future__ import annotations

import ast
import gc
import threading
import warnings
from pathlib import Path
from typing import Any

import pytest

from engine.training.training_run import TrainingRun
from studio.session.code import job as job_module
from studio.session.code.job import CheckCode
from studio.session.code.templates import ALL, Template
from studio.session.train.run_settings import RunSettings
from studio.session.work.job import Inbox, perform

HEAD = "import engine as paddle\nfrom engine import nn\n\n\nclass Net(nn.Layer):\n"
MODEL = HEAD + (
    "    def __init__(self):\n"  # 6
    "        super().__init__()\n"
    "        self.conv = nn.Conv2D(1, 4, 3, padding=1)\n"
    "        self.linear = nn.Linear(4 * 28 * 28, 10)\n"
    "    def forward(self, x):\n"  # 10
    "        if x.mean() > 0:\n"
    "            x = self.conv(x)\n"
    "        else:\n"
    "            x = self.conv(-x)\n"
    "        x = paddle.flatten(x, start_axis=1)\n"  # 15
    "        return self.linear(x)\n"
)


def check(text: str, tmp_path: Path, inputs: Any = (), name: str = "Net", **more: Any) -> dict[str, Any]:
    outcome: list[Any] = []
    config = {"data": "digits", **more}
    assert perform(
        CheckCode(text, str(tmp_path / "mine.py"), name, tuple(inputs), config), outcome.append, Inbox()
    )
    assert [event["event"] for event in outcome] == ["code_checked"]
    return dict(outcome[0])


def test_the_class_gets_the_arguments_of_the_settings(tmp_path: Path) -> None:
    text = (
        "from engine import nn\n"
        "class Net(nn.Layer):\n"
        "    def __init__(self, width):\n"
        "        super().__init__()\n"
        "        self.linear = nn.Linear(784, width)\n"
        "    def forward(self, x):\n"
        "        return self.linear(x.flatten(1))\n"
    )
    assert check(text, tmp_path, model_params={"width": 3})["output"] == [-1, 3]
    [problem] = check(text, tmp_path)["problems"]
    assert "it takes width" in problem["what"] + problem["do"] + problem["where"]


def test_shapes_numbers_and_operators_stand_at_their_lines(tmp_path: Path) -> None:
    found = check(MODEL, tmp_path)
    assert found["problems"] == []
    assert [
        (row["name"], row["kind"], row["shape"], row["parameters"], row["operations"])
        for row in found["layers"]
    ] == [("conv", "Conv2D", [-1, 4, 28, 28], 40, 4 * 784 * 10), ("linear", "Linear", [-1, 10], 31370, 31360)]
    assert found["lines"][12]["shapes"] == [[-1, 4, 28, 28]]
    assert found["lines"][15]["shapes"] == [[-1, 3136]]
    assert (found["lines"][16]["parameters"], found["lines"][16]["operations"]) == (31370, 31360)
    assert (found["parameters"], found["operations"], found["output"]) == (31410, 62720, [-1, 10])
    made = {
        (operator["type"], operator["line"])
        for block in found["program"]["blocks"]
        for operator in block["ops"]
        if operator["file"] == str(tmp_path / "mine.py")
    }
    # Both branches are in the Program; each line of the text has its operators.
    assert {("conv2d", 12), ("conv2d", 14), ("conditional_block", 11), ("matmul_v2", 16)} <= made
    forward = found["functions"][0]
    assert (forward["name"], forward["first"], forward["last"]) == ("Net.forward", 10, 16)
    assert forward["passes"][0][0] == "original"
    assert "ifs" in [name for name, _ in forward["passes"]]
    for _, text in forward["passes"]:
        ast.parse(text)


@pytest.mark.parametrize(
    ("change", "stage", "line", "words"),
    [
        (("4 * 28 * 28", "99"), "eager", 16, "99"),
        (("nn.Conv2D(1, 4, 3", "nn.Conv3D_(1, 4, 3"), "make", 8, "Conv3D_"),
        (("import engine as paddle", "import nonexistent as paddle"), "import", 1, "nonexistent"),
        (("28, 10)", "28, 7)"), "output", 0, "10 scores"),
        (("return self.linear(x)", "yield self.linear(x)"), "output", 0, "no Tensor"),
        (("def forward(self, x):\n", "async def forward(self, x):\n"), "output", 0, "no Tensor"),
    ],
)
@pytest.mark.filterwarnings("ignore:coroutine")
def test_errors_stand_at_the_line_of_the_text(
    change: tuple[str, str], stage: str, line: int, words: str, tmp_path: Path
) -> None:
    assert change[0] in MODEL
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # the coroutine of the asynchronous forward
        found = check(MODEL.replace(*change), tmp_path)
        gc.collect()
    problem = found["problems"][0]
    assert (problem["stage"], problem["line"]) == (stage, line)
    assert words in f"{problem['what']} {problem['do']}"
    assert ".work" not in str(found["problems"])  # the scratch copy is internal


def test_problems_of_the_conversion_alone_are_marked_as_such(tmp_path: Path) -> None:
    flatten = "        x = paddle.flatten(x, start_axis=1)\n"
    text = MODEL.replace(flatten, "        if x.mean() > -9:\n    " + flatten)
    found = check(text, tmp_path)
    assert [(each["stage"], each["line"]) for each in found["problems"]] == [("static", 17)]
    assert found["layers"]  # it does run eagerly
    assert found["program"] == {}


def test_any_input_can_be_fed(tmp_path: Path) -> None:
    text = HEAD + (
        "    def __init__(self):\n        super().__init__()\n        self.table = nn.Embedding(5, 3)\n"
        "    def forward(self, x, i):\n        return x + self.table(i)\n"
    )
    found = check(text, tmp_path, [((None, 3), "float32"), ((None,), "int64")])
    assert found["problems"] == []
    assert found["output"] == [-1, 3]
    assert not found["all_counted"]


def test_a_loop_without_end_is_reported_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_module, "SECONDS", 0.2)
    monkeypatch.setattr(threading, "_let_go", False, raising=False)
    text = (
        "import threading\n"
        + HEAD
        + (
            "    def forward(self, x):\n"
            "        while not threading._let_go:\n"
            "            pass\n"
            "        return x\n"
        )
    )
    outcome: list[Any] = []

    def emit(event: Any) -> None:
        outcome.append(event)
        threading._let_go = True  # type: ignore[attr-defined]

    perform(CheckCode(text, str(tmp_path / "m.py"), "Net", (), {"data": "digits"}), emit, Inbox())
    assert outcome[0]["event"] == "code_stuck"
    assert outcome[0]["line"] in (8, 9)


def test_modules_next_to_the_file_can_be_imported(tmp_path: Path) -> None:
    (tmp_path / "next_to_the_model.py").write_text("CLASSES = 10\n")
    text = "from next_to_the_model import CLASSES\n" + MODEL.replace("28, 10)", "28, CLASSES)")
    assert check(text, tmp_path)["problems"] == []


SMALL = [each for each in ALL if each.id in ("lenet", "cnn", "linear", "mlp", "resnet8")]


@pytest.mark.parametrize("template", SMALL, ids=lambda each: each.id)
def test_a_template_for_digits_trains(template: Template, bars: Path, tmp_path: Path) -> None:
    file = tmp_path / f"{template.id}.py"
    file.write_text(template.text())
    name = [node.name for node in ast.parse(template.text()).body if isinstance(node, ast.ClassDef)][-1]
    found = check(template.text(), tmp_path, name=name)
    assert found["problems"] == []
    assert found["output"] == [-1, 10]
    settings = RunSettings(model=f"{file}:{name}", data=str(bars), epochs=1, batch_size=25)
    from engine.training import TrainingConfig

    losses: list[float] = []
    config = TrainingConfig.from_dict(settings.as_config(str(tmp_path / "run")))
    TrainingRun(config, [lambda event: losses.extend(event.get("losses", ()))]).run()
    assert losses[-1] < losses[0]
