"""Damaged and hostile ONNX files are refused with one line, before protobuf takes their memory."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import DataError, FormatError
from engine.files.paddle.fields import bytes_field, int_field
from engine.jit.saved.model_files import kind_of
from engine.onnx.check_fields import check_fields
from engine.onnx.read_file import information_of, parse, read_content

onnx = pytest.importorskip("onnx", reason="needs the extra onnx")
helper = onnx.helper
FLOAT, INT64 = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64


def model(nodes: list[Any], stored: list[Any] = (), outputs: tuple[str, ...] = ("y",), **options: Any) -> Any:  # type: ignore[assignment]
    """A model with the input x of shape [n, 2]."""
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info("x", FLOAT, ["n", 2])],
        [helper.make_tensor_value_info(name, FLOAT, None) for name in outputs],
        stored,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, **options)


def array(name: str, value: Any) -> Any:
    return onnx.numpy_helper.from_array(np.asarray(value), name)


def external() -> Any:
    stored = array("w", np.ones(2, np.float32))
    stored.ClearField("raw_data")
    stored.data_location = onnx.TensorProto.EXTERNAL
    stored.external_data.add(key="location", value="/etc/passwd")
    return model([helper.make_node("Add", ["x", "w"], ["y"])], [stored])


def recursive() -> Any:
    call = helper.make_node("again", ["x"], ["y"], domain="own")
    made = model([call])
    own = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    made.functions.append(helper.make_function("own", "again", ["x"], ["y"], [call], own))
    return made


def doubling() -> Any:
    """Each function calls the next one twice."""
    made = model([helper.make_node("f0", ["x"], ["y"], domain="own")])
    own = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    for n in range(60):
        kind, domain = (f"f{n + 1}", "own") if n < 59 else ("Relu", "")
        calls = [helper.make_node(kind, [a], [b], domain=domain) for a, b in (("x", "m"), ("m", "y"))]
        made.functions.append(helper.make_function("own", f"f{n}", ["x"], ["y"], calls, own))
    return made


def nested(depth: int) -> Any:
    """Branches within branches."""
    graph = helper.make_graph(
        [helper.make_node("Relu", ["x"], ["inner"])],
        "g",
        [],
        [helper.make_tensor_value_info("inner", FLOAT, None)],
    )
    for n in range(depth):
        name = f"r{n}"
        node = helper.make_node("If", ["flag"], [name], then_branch=graph, else_branch=graph)
        graph = helper.make_graph([node], "g", [], [helper.make_tensor_value_info(name, FLOAT, None)])
    node = helper.make_node("If", ["flag"], ["y"], then_branch=graph, else_branch=graph)
    return model([node], [array("flag", True)])


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "external data": (external, "'w' is stored in another file"),
    "unknown name": (lambda: model([helper.make_node("Relu", ["z"], ["y"])]), "no node before makes it"),
    "cycle": (
        lambda: model([helper.make_node("Relu", ["b"], ["a"]), helper.make_node("Relu", ["a"], ["b"])]),
        "'b' is read, but no node before makes it",
    ),
    "repeated name": (lambda: model([helper.make_node("Relu", ["x"], ["y"])] * 2), "'y' is made twice"),
    "no such operator": (lambda: model([helper.make_node("Rely", ["x"], ["y"])]), "Rely is not supported"),
    "unknown attribute": (lambda: model([helper.make_node("Relu", ["x"], ["y"], beta=1)]), "'beta' is not"),
    "two outputs of one name": (
        lambda: model([helper.make_node("Relu", ["x"], ["y"])], outputs=("y", "y")),
        "given twice",
    ),
    "huge shape": (
        lambda: model(
            [helper.make_node("Expand", ["x", "s"], ["y"])], [array("s", np.array([1 << 40, 2], np.int64))]
        ),
        "would have",
    ),
    "function that calls itself": (recursive, "calls itself"),
    "functions that double": (doubling, "nodes, those of functions"),
    "newer opset": (
        lambda: helper.make_model(model([]).graph, opset_imports=[helper.make_opsetid("", 999)]),
        "opset 999",
    ),
    "wrong length": (
        lambda: model(
            [helper.make_node("Add", ["x", "w"], ["y"])],
            [onnx.TensorProto(name="w", dims=[9], data_type=FLOAT, raw_data=b"1234")],
        ),
        "'w' can't be read",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_unsound_model_is_refused_with_one_line(case: str, tmp_path: Path) -> None:
    make, reason = REFUSED[case]
    path = tmp_path / "model.onnx"
    path.write_bytes(make().SerializeToString())
    with pytest.raises(FormatError, match=reason) as raised:
        parse(read_content(path), path)
    assert str(path) in str(raised.value)
    assert "\n" not in str(raised.value)


def test_deeply_nested_branches_are_refused_before_they_are_parsed() -> None:
    with pytest.raises(FormatError, match="nest over 90 deep"):
        check_fields(_deep(40), "m.onnx")
    check_fields(nested(6).SerializeToString(), "m.onnx")


def _deep(depth: int) -> bytes:
    """A graph in an attribute of a node of a graph, and so on, which protobuf itself would not write."""
    content = b""
    for _ in range(depth):
        content = bytes_field(1, bytes_field(5, bytes_field(6, content)))
    return int_field(1, 8) + bytes_field(7, content)


def test_ten_megabytes_of_empty_nodes_are_refused_quickly() -> None:
    content = int_field(1, 8) + bytes_field(7, bytes_field(1, b"") * 5_000_000)
    begin = time.process_time()
    with pytest.raises(FormatError, match="over 250000 nodes"):
        check_fields(content, "m.onnx")
    assert time.process_time() - begin < 5


def test_fields_of_large_weights_are_skipped() -> None:
    stored = bytes_field(5, int_field(2, FLOAT) + bytes_field(9, bytes(3_000_000)))
    begin = time.process_time()
    check_fields(int_field(1, 8) + bytes_field(7, stored), "m.onnx")
    assert time.process_time() - begin < 0.5


def test_other_bytes_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    for content in (b"text", b"\x08\x08\x3a\xff\xff\xff\xff\x0f", bytes(100)):
        path.write_bytes(content)
        with pytest.raises(FormatError, match=r"m\.onnx"):
            parse(read_content(path), path)
    with pytest.raises(DataError, match="can't be read"):
        read_content(tmp_path / "absent.onnx")


def test_metadata_becomes_information() -> None:
    texts = {"classes": '["cat", "dog"]', "author": "[me", "size": "28x28", "top": "3"}
    assert information_of(texts) == {"classes": ["cat", "dog"], "author": "[me", "size": "28x28", "top": 3}


def test_model_is_read_where_a_saved_model_is_named(tmp_path: Path) -> None:
    """A child process with limits reads the file first."""
    path = tmp_path / "net.onnx"
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    path.write_bytes(model([node], [array("w", np.ones((2, 3), np.float32))]).SerializeToString())
    assert kind_of(tmp_path / "net") == "onnx"
    with paddle.utils.unique_name.guard():
        net = paddle.jit.load(str(tmp_path / "net"))
    assert [p.name for p in net.parameters()] == ["w_0"]  # as jit.load names them
    assert net.program().outputs == ["y"]
    assert [op.position for op in net.program().global_block().ops] == [None]
    assert net(paddle.ones([4, 2])).numpy().tolist() == [[2.0, 2.0, 2.0]] * 4
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(path.read_bytes().replace(b"MatMul", b"MatMuk"))
    with pytest.raises(FormatError, match="MatMuk is not supported"):
        paddle.onnx.load(broken)
