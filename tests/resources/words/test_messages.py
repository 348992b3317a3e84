"""Messages are recognised part by part; the most specific template wins, values stay."""

from __future__ import annotations

import time

import pytest

from resources import words
from resources.words.catalogue import Catalogue, catalogue_of
from resources.words.messages import MOST_CHARACTERS, Messages, Template
from resources.words.po_file import Entry, read_po

TEXTS = {
    "cast it": "请转换",
    "they must be equal": "两者必须相等",
    "A training is running.": "正在训练。",
    "above 0 and finite": "大于 0 的有限值",
    "; ": "；",
    "free memory": "请释放内存",
    "in all": "共",
    ", and with it the others": "，其他的也是",
}
TEMPLATES = [
    (
        "x is {0} and y is {1}: the inner dimensions are {2} and {3}",
        "x 为 {0}，y 为 {1}：内部维度是 {2} 和 {3}",
    ),
    ("axis {0} is out of range for {1} dimensions", "维度 {1}：轴 {0} 超出范围"),
    ("axis {0} is out of {1}", "轴 {0} 不在 {1} 内"),
    ("use {0} to {1}", "请用 {0} 到 {1}"),
    ("use {0}", "请用 {0}"),
    ("must be {0}: got {1}", "必须为 {0}：得到 {1}"),
    ("the file can't be read: {0}", "文件无法读取：{0}"),
    ("pass {{'beta1': {0}}}", "请传入 {{'beta1': {0}}}"),
    ("{0}: {1}", "never"),
    ("{0} or {1}", "{0} 或 {1}"),
    ("x is {0}, {1}, so {2} needs it", "x 为 {0}，{1}，因此 {2} 需要它"),
    ("{0} must be {1}: got {2}", "{0} 必须为 {1}：得到 {2}"),
    ("{0}compute on the CPU with cpu", "{0}使用 cpu 在 CPU 上计算"),
    ("{0}, or", "{0}，或"),
    ("pip install {0}numpy", "请运行 pip install {0}numpy"),
    ("{0} images", "{0} 张图像"),
    ("{0} was not made for this kind of {1}", "这种 {1} 不适合 {0}"),
    ("process {0} has ended{1}", "进程 {0} 已结束{1}"),
]


@pytest.fixture
def messages() -> Messages:
    return Messages(TEXTS, TEMPLATES)


KNOWN = {
    "A training is running.": "正在训练。",
    "dot: x is [3] and y is [2]: the inner dimensions are 3 and 2; they must be equal (InvalidArgument)": (
        "dot: x 为 [3]，y 为 [2]：内部维度是 3 和 2；两者必须相等 (InvalidArgument)"
    ),
    "sum: axis 5 is out of range for 2 dimensions; use -2 to 1": "sum: 维度 2：轴 5 超出范围；请用 -2 到 1",
    "axis 5 is out of reach": "轴 5 不在 reach 内",
    "/home/me/my file.py: axis 5 is out of reach": "/home/me/my file.py: 轴 5 不在 reach 内",
    'File "a b.py", line 3, in forward: cast it': 'File "a b.py", line 3, in forward: 请转换',
    "lr: must be above 0 and finite: got 'a; b'; use 1": "lr: 必须为大于 0 的有限值：得到 'a; b'；请用 1",
    "the file can't be read: /tmp/x: axis 1 is out of b": "文件无法读取：/tmp/x: 轴 1 不在 b 内",
    "adam: pass {'beta1': 0.9}": "adam: 请传入 {'beta1': 0.9}",
    "pass {'beta1': {0.__class__}}": "请传入 {'beta1': {0.__class__}}",
    "cast it\nA training is running.": "请转换\n正在训练。",
    "norm: x is [1, 4, (2, 3)], NCHW, so bias needs it": "norm: x 为 [1, 4, (2, 3)]，NCHW，因此 bias 需要它",
    "feed must be 3: got no such file here": "feed 必须为 3：得到 no such file here",
    "net: x was not made for this kind of layer": "net: 这种 layer 不适合 x",  # "net" is a location
    "feed must be 3: got 2 images": "feed 必须为 3：得到 2 张图像",
    "feed must be 3: got the images": "feed 必须为 3：得到 the images",
    "f: use adam, sgd or lamb": "f: 请用 adam, sgd 或 lamb",
    "gpu: compute on the CPU with cpu": "gpu: 使用 cpu 在 CPU 上计算",
    "gpu: cast it; free memory, or compute on the CPU with cpu": (
        "gpu: 请转换；请释放内存，或使用 cpu 在 CPU 上计算"
    ),
    "free memory, compute on the CPU with cpu": "请释放内存；使用 cpu 在 CPU 上计算",
    "use 3, or compute on the CPU with cpu": "请用 3，或使用 cpu 在 CPU 上计算",
    "free memory, or": "请释放内存，或",
    "pip install --upgrade numpy": "请运行 pip install --upgrade numpy",
    "process 3 has ended, and with it the others": "进程 3 已结束，其他的也是",
    "process 3 has ended in all": "进程 3 已结束共",
    "f: axis 5 is out of y (my_net.py:12); use 1": "f: 轴 5 不在 y 内 (my_net.py:12)；请用 1",
}
UNKNOWN = [
    "",
    "nothing of it is known",
    "matmul: x is [2, 3] and y is [2, 3]: the inner dimensions are 3 and 2; pray",  # an unknown remedy
    "pray; cast it",
    "use the other optimizer instead",  # "use {0}" alone would leave half a sentence in English
    "The whole sentence before it: cast it",
    "Executor: feed must be a dict of values by name: got 3",  # half of it would stay
    "cast it\nunknown line",
    "a: b",
    "pray often, or compute on the CPU with cpu",  # joined to words that are known
    "gpu: cast it; pray often, or compute on the CPU with cpu",
    "now and then compute on the CPU with cpu",
    "this or that",  # "{0} or {1}" is for values alone
    "; ; ; ; ; ; ; ; ; ;",
]


@pytest.mark.parametrize("message", KNOWN)
def test_a_known_message_is_translated_with_its_values(messages: Messages, message: str) -> None:
    assert messages.shown(message) == KNOWN[message]


@pytest.mark.parametrize("message", UNKNOWN)
def test_an_unknown_message_stays_in_english_as_a_whole(messages: Messages, message: str) -> None:
    assert messages.shown(message) == message


def test_values_of_a_template_are_found_where_its_texts_are_in_order() -> None:
    template = Template("a {0} b {1}", "{1} {0}")
    assert template.values("a 1 b 2") == ["1", "2"]
    assert template.values("a  b ") == ["", ""]
    assert template.values("a b b b") == ["b", "b"]
    assert template.values("b 1 a 2") is None
    assert template.values("a b") is None
    assert template.filled(["1", "2"]) == "2 1"


def test_a_hostile_message_takes_little_time(messages: Messages) -> None:
    began = time.thread_time()
    for message in (
        "use " * 900,
        "; ".join(["cast it"] * 500),
        ": ".join(["x is y and"] * 300),
        "x is " * 700 + ": the inner dimensions are ",
        "must be must be: got : got " * 140,
        "free memory, " * 250 + "compute on the CPU with cpu",
        "x" * 100_000,
        "'" * 3_900,
    ):
        assert messages.shown(message).count("use") == message.count("use")
    assert time.thread_time() - began < 2
    long = "axis 5 is out of " + "y" * MOST_CHARACTERS
    assert messages.shown(long) == long


def test_only_texts_of_engine_session_and_resources_are_templates() -> None:
    catalogue = Catalogue(
        [
            Entry("Saved file {0}", ["已保存文件 {0}"], files=("studio/windows/a.py",)),
            Entry("no such file {0}", ["没有文件 {0}"], files=("engine/a.py", "studio/b.py")),
        ]
    )
    assert catalogue.message("Saved file x") == "Saved file x"
    assert catalogue.message("load: no such file x") == "load: 没有文件 x"


@pytest.mark.logs
def test_a_template_of_a_damaged_file_is_no_template() -> None:
    entry = '#: engine/a.py\nmsgid "{}"\nmsgstr "{}"\n\n'
    text = entry.replace("{}", "no {0} of {") + entry.replace("{}", "is {0}", 1).replace("{}", "{1}")
    catalogue = catalogue_of(read_po(text))
    assert catalogue.message("no x of {") == "no x of {"
    assert catalogue.message("is x") == "is x"


def test_a_message_is_shown_in_the_language_that_holds() -> None:
    assert words.shown("load: no such file x") == "load: no such file x"
    words.use_catalogue("zh_CN", Catalogue([Entry("cast it", ["请转换"])]))
    assert words.shown("x: cast it") == "x: 请转换"
    words.use_language("en")
    assert words.shown("x: cast it") == "x: cast it"
