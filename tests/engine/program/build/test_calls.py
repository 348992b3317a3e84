"""Names of results in a Program: after ``name``, the function, the Layer or the operator."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import engine as paddle
from engine import static
from engine.nn import functional
from engine.program.build.calls import named, names_results, takes_name
from engine.program.text.naming import Call, Calls, Naming

ENGINE = Path(paddle.__file__).parent
# They call the user's functions, or build no operators.
WITHOUT_NAMES = {
    *("Assert", "case", "cond", "py_func", "static_pylayer", "switch_case", "while_loop"),
    *("decode_jpeg", "read_file"),
}


@pytest.fixture
def x():
    paddle.enable_static()
    with static.program_guard(static.Program(), static.Program()), paddle.utils.unique_name.guard():
        yield static.data("x", [2, 4])
    paddle.disable_static()


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda x: functional.relu(x, name="given"), "given.tmp_0"),
        (lambda x: functional.relu(x, "given"), "given.tmp_0"),
        (lambda x: paddle.add(x, x, name="given"), "given"),
        (lambda x: paddle.equal(x, x, name="given"), "given.tmp_0"),
        (lambda x: paddle.sin(x, name="given"), "given.tmp_0"),
        (lambda x: functional.dropout(x, name="given"), "given.tmp_0"),
        (lambda x: functional.l1_loss(x, x, "none", "given"), "given.tmp_0"),
        (lambda x: paddle.nn.ReLU(name="given")(x), "given.tmp_0"),
        (lambda x: paddle.nn.Linear(4, 3, name="given")(x), "given.tmp_1"),
        (lambda x: paddle.nn.Unflatten(1, [2, 2], name="given")(x), "given.tmp_0"),
        (lambda x: paddle.nn.ReLU()(x), "relu_0.tmp_0"),
        (lambda x: functional.linear(x, paddle.ones([4, 3])), "linear_0.tmp_0"),
        (lambda x: x + x, "tmp_0"),
        (lambda x: x + 1.5, "tmp_0"),
        (lambda x: 1.5 / x, "tmp_1"),
        (lambda x: -x, "tmp_0"),
        (lambda x: paddle.neg(x), "scale_0.tmp_0"),
        (lambda x: x.astype("float64"), "tmp_0"),
        (lambda x: x.T, "x.tmp_0"),
        (lambda x: x.t(name="given"), "given.tmp_0"),
        (lambda x: x.t(), "t_0.tmp_0"),
        (lambda x: paddle.mm(x, x.T), "mm_0.tmp_0"),
        (lambda x: x.clone(), "x_clone_0"),
    ],
)
def test_names(x, call, name):
    assert call(x).name == name


def test_names_do_not_change_eager_results():
    x = paddle.to_tensor([-1.0, 2.0])
    assert functional.relu(x, name="given").tolist() == [0.0, 2.0]
    assert functional.l1_loss(x, x, "none", "given").tolist() == [0.0, 0.0]
    assert named("given", paddle.add, x, x).tolist() == [-2.0, 4.0]


def test_constants_keep_their_device_in_a_name_scope(x):
    with static.name_scope("kept_device"):
        made = paddle.to_tensor([1.0, 2.0])
    assert (made.op.attr("op_device"), made.op.attr("op_namescope")) == ("cpu", "/kept_device/")


def test_an_error_ends_the_call(x):
    @names_results("odd")
    def odd(x, fails):
        made = functional.relu(x)
        if fails:
            raise ValueError("on purpose")
        return made

    with pytest.raises(ValueError, match="on purpose"):
        odd(x, True)
    assert (odd(x, False).name, functional.relu(x).name) == ("odd_1.tmp_0", "relu_0.tmp_0")


def test_takes_name_finds_the_position_of_the_argument(x):
    @takes_name
    def twice(x, name=None, times=2):
        return paddle.scale(x, times)

    assert twice(x, "a", 3).name == "a.tmp_0"
    assert twice(x, times=3, name="b").name == "b.tmp_0"
    assert twice(x).name == "scale_0.tmp_0"


def test_the_innermost_call_names_unless_one_is_outer():
    program = static.Program()

    def name(*calls, operator="relu"):
        running = Calls()
        running._running = list(calls)
        return running.namer(program, operator, "x")[1]()

    with paddle.utils.unique_name.guard():
        inner, outer = Call(Naming("inner")), Call(Naming("outer", outer=True))
        assert name(Call(Naming("first")), inner) == "inner_0.tmp_0"
        assert name(inner) == "inner_0.tmp_1"  # a call keeps its helper
        assert name(outer, Call(Naming("inner"))) == "outer_0.tmp_0"
        assert name(Call(None, "given"), Call(Naming("inner"))) == "given.tmp_0"
        assert name(Call(None, "far"), Call(None, "near")) == "near.tmp_0"
        assert name(Call(Naming("one", only="conv2d"))) == "relu_0.tmp_0"
        assert name(Call(Naming(form="{x}_slice"))) == "x_slice_0"
        assert name(outer, Call(Naming(form="", outer=True))) == "relu_1.tmp_0"


def _unused_names() -> list[str]:
    found = []
    for folder in ("tensor", "nn/functional", "vision/ops", "static"):
        for path in sorted((ENGINE / folder).rglob("*.py")):
            if path.parent.name == "sparse":  # a sparse result is several Variables
                continue
            tree = ast.parse(path.read_text(encoding="utf-8"))
            for node in ast.walk(tree):
                if not isinstance(node, ast.FunctionDef) or node.name in WITHOUT_NAMES:
                    continue
                parameters = {a.arg for a in (*node.args.args, *node.args.kwonlyargs)}
                decorated = any(
                    isinstance(n, ast.Name) and n.id in ("takes_name", "names_results")
                    for d in node.decorator_list
                    for n in ast.walk(d)
                )
                used = any(isinstance(n, ast.Name) and n.id == "name" for b in node.body for n in ast.walk(b))
                if "name" in parameters and not used and not decorated:
                    found.append(f"{path.relative_to(ENGINE)}: {node.name}")
    return found


def test_every_function_that_takes_a_name_uses_it():
    assert _unused_names() == []
