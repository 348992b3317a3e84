"""Templates are read from the sources, and real messages are recognised by them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine as paddle
from docs.words.collecting import collected
from docs.words.messages import messages, messages_of
from docs.words.updating import catalogue_files, read, text_of, updated
from engine.core import devices
from engine.core.errors import ArgumentError, DeviceError
from engine.core.place import CUDAPlace, refused
from engine.training.network.model_inputs import named
from engine.training.sources.images.labels import unlabelled_message
from engine.training.sources.several_inputs import Feed
from resources.settings import RUN_SETTINGS
from resources.words.catalogue import read_catalogue
from resources.words.messages import Messages
from studio.session.option_titles import with_titles

SOURCE = '''
"""The docstring is left out."""
LIMIT = "not a message of an error call"

def check(x, path, error):
    "Nor is this one here."
    if x < 0:
        raise ValueError(f"check: {x!r} is {'an integer' if x else 'a number'} below 0; give {x}")
    raise wrong(f"{path}: too large: {x:,} bytes", "split the file")

def why_not(x) -> str:
    if x:
        return "Nothing is selected."
    return f"above {x}" if x else ""

def plural(n, first):
    remedy = "take fewer" if first else f"take {n} of them"
    ends = f"{remedy}, or " if n else ""
    kind = "weight" if first else "bias"
    raise ValueError(f"{kind}: has {n} value{'s' * (n != 1)}; {ends}give none; {WAY_OUT}")

WAY_OUT = f"or run `x --device cpu` ({plural.__name__})"

TABLE = {1: "take the first", 2: SECOND}
DEFAULT = "take what you like"

def of_table(number, remedy=DEFAULT):
    where = TABLE.get(number, "take any of them")
    raise ValueError(f"nothing was chosen: {number}; {where}")

def code(x) -> str:
    return f"no message if {x} else code"

def advice():
    return "this function makes no messages"
'''


def test_templates_of_error_calls_are_their_parts() -> None:
    assert messages_of(SOURCE) == {
        "{0} is an integer below 0",
        "{0} is a number below 0",
        "give {0}",
        "too large: {0} bytes",
        "split the file",
        "Nothing is selected.",
        "above {0}",
        "has {0} value",
        "has {0} values",
        "{0}give none",
        "{0}, or",
        "take fewer",
        "take {0} of them",
        "nothing was chosen: {0}",
        "take the first",
        "take any of them",
        "take what you like",
        "or run `x --device cpu` ({0})",
    }


def test_of_some_rooms_all_sentences_are_taken() -> None:
    more = messages_of(SOURCE, whole=True) - messages_of(SOURCE)
    assert more == {"not a message of an error call", "this function makes no messages", "an integer"}


@pytest.fixture(scope="module")
def templates() -> dict[str, set[str]]:
    return messages()


@pytest.mark.parametrize("language", catalogue_files())
def test_each_translated_message_is_one_of_the_sources(templates: dict[str, set[str]], language: str) -> None:
    path = catalogue_files()[language]
    file = read(path)
    change = updated(file, collected().texts, templates)
    assert change.unused == [], "run python -m docs.words"
    assert path.read_text(encoding="utf-8") == text_of(file, language), "run python -m docs.words"


def _ones(*shape: int) -> Any:
    return paddle.ones(list(shape))


REAL: list[Callable[[], Any]] = [
    lambda: paddle.matmul(_ones(2, 3), _ones(2, 3)),
    lambda: paddle.reshape(_ones(2, 3), [5]),
    lambda: paddle.concat([_ones(2, 3), _ones(3, 4)]),
    lambda: _ones(2, 3) + _ones(4, 5),
    lambda: paddle.nn.Conv2D(3, 4, 3)(_ones(1, 2, 8, 8)),
    lambda: paddle.nn.Conv2D(3, 4, 3, groups=2),
    lambda: paddle.nn.Linear(3, 4)(_ones(1, 5)),
    lambda: paddle.argmax(_ones(2, 3), axis=5),
    lambda: paddle.to_tensor("abc"),
    lambda: paddle.nn.functional.cross_entropy(_ones(2, 3), _ones(4)),
    lambda: paddle.load("/absent"),
    lambda: paddle.jit.load("/absent/x"),
    lambda: paddle.squeeze(_ones(2, 3), axis=7),
    lambda: paddle.transpose(_ones(2, 3), [0]),
    lambda: paddle.split(_ones(4, 3), 3),
    lambda: paddle.gather(_ones(3, 2), _ones(2)),
    lambda: paddle.nn.BatchNorm2D(3)(_ones(1, 4, 2, 2)),
    lambda: paddle.nn.LSTM(3, 4)(_ones(2, 3, 5)),
    lambda: paddle.nn.Embedding(3, 4)(_ones(2)),
    lambda: paddle.nn.functional.dropout(_ones(2), p=3),
    lambda: paddle.einsum("ij,jk->ik", _ones(2, 3), _ones(2, 3)),
    lambda: paddle.linalg.inv(_ones(2, 3)),
    lambda: paddle.nn.MaxPool2D(9)(_ones(1, 1, 3, 3)),
    lambda: paddle.io.DataLoader([], batch_size=0),
    lambda: paddle.cast(_ones(2), "foo"),
    lambda: paddle.topk(_ones(3), 9),
    lambda: _ones(2, 3)[5],
    lambda: paddle.Model(3),
    lambda: paddle.vision.transforms.Resize(-1)(np.zeros((2, 2, 3), "uint8")),
]


def test_messages_of_real_errors_are_recognised(templates: dict[str, set[str]]) -> None:
    marks = {text: f"<{text}>" for text in templates}
    recogniser = Messages(marks, [(text, mark) for text, mark in marks.items() if "{0" in text])
    seen = [f"batch_size: {RUN_SETTINGS['batch_size'].problem(value)}" for value in (0, "x")]
    for call in REAL:
        with pytest.raises(Exception, match=r"\w") as caught:
            call()
        seen.append(str(caught.value))
    assert [message for message in seen if recogniser.shown(message) == message] == []


@pytest.fixture(scope="module")
def chinese() -> Callable[[object], str]:
    catalogue = read_catalogue("zh_CN")
    assert catalogue is not None
    translated = catalogue.message
    return lambda message: translated(with_titles(str(message)))


RUN = "`model-studio run --device cpu` (MODEL_STUDIO_DEVICE=cpu)"
ON_CPU = f"请使用 set_device('cpu')，或用 {RUN} 在 CPU 上运行脚本"
ADVICE = [
    ("does not exist: this machine has no GPU", "", "不存在：本机没有 GPU", ""),
    (
        "does not exist: this machine has 2 GPU(s)",
        "use 'gpu:0' to 'gpu:1'",
        "不存在：本机有 2 个 GPU",
        "请使用 'gpu:0' 到 'gpu:1'",
    ),
    (
        "needs CuPy, which is not installed (x)",
        "pip install 'model-studio[gpu]' ('model-studio[gpu-cuda13]' for CUDA 13)",
        "需要 CuPy，但它没有安装 (x)",
        "请运行 pip install 'model-studio[gpu]'（CUDA 13 用 'model-studio[gpu-cuda13]'）",
    ),
]


@pytest.mark.parametrize(("why", "remedy", "why_shown", "remedy_shown"), ADVICE)
def test_joined_remedies_are_translated(
    chinese: Callable[[object], str],
    monkeypatch: pytest.MonkeyPatch,
    why: str,
    remedy: str,
    why_shown: str,
    remedy_shown: str,
) -> None:
    error = refused(CUDAPlace(9), why, remedy)
    first = f"{remedy_shown}；" if remedy else ""
    assert chinese(error) == f"set_device: 'gpu:9' {why_shown}；{first}{ON_CPU}"

    def refuse(name: str) -> Any:
        raise error

    monkeypatch.setattr(devices, "set_device", refuse)
    with pytest.raises(DeviceError) as caught:
        devices.use("gpu:9")
    first = f"{remedy_shown}，或" if remedy else ""
    assert chinese(caught.value) == f"设备 gpu:9：{why_shown}；{first}使用 Device cpu 在 CPU 上计算"


def test_a_message_with_an_unknown_remedy_before_a_known_one_stays(chinese: Callable[[object], str]) -> None:
    error = refused(CUDAPlace(0), "does not exist: this machine has no GPU", "rent a larger machine")
    assert chinese(error) == with_titles(str(error))


def test_both_forms_of_a_plural_are_translated(chinese: Callable[[object], str]) -> None:
    feeds = [Feed(name, (4,), "float32", name) for name in ("a", "b", "c")]
    for network, takes in ((paddle.nn.Linear(4, 2), "1 个输入（input）"), (_Two(), "2 个输入（x, y）")):
        with pytest.raises(ArgumentError) as caught:
            named(feeds, network)
        assert chinese(caught.value).startswith(f"model: forward 接收 {takes}，而数据有 3 (a, b, c)；")
    one, many = (chinese(unlabelled_message(Path("d"), count, None)) for count in (1, 2))
    assert "1 张图像，" in one
    assert "2 张图像，" in many


class _Two(paddle.nn.Layer):
    def forward(self, x: Any, y: Any) -> Any:
        return x + y


def _missing(x: Any, y: Any) -> None: ...


# Messages of the system, Python and NumPy that ours pass on.
OF_OTHERS: list[tuple[Callable[[], Any], str]] = [
    (lambda: Path("/absent").read_text(), "[Errno 2] 没有这个文件或目录：'/absent'"),
    (lambda: Path("/").read_text(), "[Errno 21] 是一个目录：'/'"),
    (lambda: [1][3], "列表索引超出范围"),
    (lambda: 1 // int(""), "以 10 为基数的 int() 的文本无效：''"),
    (lambda: eval("absent_name"), "名称 'absent_name' 没有定义"),
    (lambda: eval("_missing(1, 2, z=3)"), "_missing() 得到意外的关键字参数 'z'"),
    (lambda: eval("_missing()"), "_missing() 缺少 2 个必需的位置参数：'x' 和 'y'"),
    (lambda: eval("(1).weight"), "'int' 对象没有属性 'weight'"),
    (lambda: eval("1 < 'a'"), "'int' 与 'str' 的实例之间不支持 '<'"),
    (lambda: np.zeros(3).reshape(2), "不能将大小为 3 的数组改为形状 (2,)"),
]


@pytest.mark.parametrize(("call", "words"), OF_OTHERS)
def test_messages_of_others_are_translated_where_ours_pass_them_on(
    chinese: Callable[[object], str], call: Callable[[], Any], words: str
) -> None:
    with pytest.raises(Exception, match=r"\w") as caught:
        call()
    assert chinese(f"model: {caught.value}") == f"model: {words}"
    assert chinese(f"net.py: can't be read: {caught.value}") == f"net.py: 无法读取：{words}"
