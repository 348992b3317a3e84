"""Malicious Programs from files with a valid hash: refused when they are read."""

import copy
import random

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import EngineError, FormatError
from engine.core.values.spec import Spec
from engine.jit.run_program import ProgramRunner
from engine.program.build.builder import building, variable
from engine.program.build.control import cond, while_loop
from engine.program.graph.program import Program
from engine.program.saved.serialize import from_plain, to_plain
from engine.tensor import creation


def made() -> dict:
    program = Program()
    x = variable(program, "x", Spec((-1, 4), "float32"), stop_gradient=False)
    weight = creation.to_tensor(np.ones((4, 2), "float32"))
    buffer = creation.to_tensor(np.zeros((2,), "float32"))
    with building(program) as builder:
        y = paddle.matmul(x, weight) + paddle.full([2], 1.0)
        y = cond(y.sum() > 0.0, lambda: y * 2.0, lambda: y[:, 0:2])
        a, b = paddle.split(y, [1, 1], axis=1)
        start = [paddle.zeros([], "int64"), a]
        _, z = while_loop(lambda i, z: i < 2, lambda i, z: [i + 1, paddle.tanh(z + b)], start)
        target = {"seen": buffer}
        builder.assign(target, "seen", y.mean(axis=0))
        out = paddle.concat([z, a + paddle.to_tensor([[3.0]])], axis=1)
    program.inputs, program.outputs = ["x"], [out.name]
    return to_plain(program)


PLAIN = made()


def find(plain: dict, kind: str) -> dict:
    return next(o for b in plain["blocks"] for o in b["ops"] if o["type"] == kind)


def run(plain: dict) -> list:
    program = from_plain(plain, "model.pdmodel")
    for v in program.global_block().vars.values():
        if v.persistable:
            program.bind(v, creation.to_tensor(np.ones(v.shape, v.dtype.np)))
    block = program.global_block()
    inputs, outputs = [block.var(n) for n in program.inputs], [block.var(n) for n in program.outputs]
    return ProgramRunner(program, inputs, outputs)([paddle.ones([3, 4])])


def test_the_program_itself_is_read():
    assert run(PLAIN)[0].shape == [3, 2]
    assert to_plain(from_plain(PLAIN, own=True)) == PLAIN


def test_files_of_another_installation_stay_foreign():
    program = from_plain(PLAIN)
    assert program.foreign
    assert program.clone().foreign
    assert from_plain(to_plain(program), own=True).foreign
    assert not from_plain(PLAIN, own=True).foreign


def change(kind: str, **attrs: object):
    def changed(plain: dict) -> None:
        find(plain, kind)["attrs"].update(attrs)

    return changed


def huge_variable(plain: dict) -> None:
    plain["blocks"][0]["vars"][1]["shape"] = [1 << 40]


def write_into_what_is_fed(plain: dict) -> None:
    operator = find(plain, "assign_into")
    operator["inputs"]["Target"] = operator["outputs"]["Out"] = ["x"]


def write_into_something_else(plain: dict) -> None:
    find(plain, "assign_into")["outputs"]["Out"] = ["x"]


def result_over_a_weight(plain: dict) -> None:
    weight = next(v["name"] for v in plain["blocks"][0]["vars"] if v["persistable"])
    find(plain, "matmul_v2")["outputs"]["Out"] = [weight]


def region(kind: str, which: int = 0, **fields: object):
    def changed(plain: dict) -> None:
        find(plain, kind)["regions"][which].update(fields)

    changed.__name__ = f"{kind}: {fields}"
    return changed


def branch_used_twice(plain: dict) -> None:
    first, second = find(plain, "conditional_block")["regions"]
    second["block"] = first["block"]


def one_branch(plain: dict) -> None:
    find(plain, "conditional_block")["regions"].pop()


def regions_of_another(plain: dict) -> None:
    find(plain, "matmul_v2")["regions"] = find(plain, "conditional_block")["regions"]


def results_swapped_with_values(plain: dict) -> None:
    condition, body = find(plain, "while")["regions"]
    condition["results"] = body["results"]


def doubling_blocks(plain: dict) -> None:
    """Forty blocks whose every branch is the next block, twice: a walk over them would never end."""
    operator = find(plain, "conditional_block")
    start = len(plain["blocks"])
    for n in range(start, start + 40):
        inner = copy.deepcopy(operator)
        for each in inner["regions"]:
            each["block"] = n + 1
        plain["blocks"].append({"idx": n, "parent": 0, "vars": [], "ops": [inner]})
    for each in operator["regions"]:
        each["block"] = start


def deep_blocks(plain: dict) -> None:
    start = len(plain["blocks"])
    for n in range(start, start + 5000):
        plain["blocks"].append({"idx": n, "parent": n - 1, "vars": [], "ops": []})


def run_program(plain: dict) -> None:
    operator = find(plain, "concat")
    operator.update(type="run_program", inputs={"Xs": ["x"]}, attrs={"runner": "x"})
    operator["outputs"] = {"Outs": operator["outputs"]["Out"]}


def gradient_of_a_function(plain: dict) -> None:
    operator = find(plain, "concat")
    name = operator["outputs"]["Out"][0]
    attrs = {
        "forward_callable_id": 0,
        "backward_callable_id": 0,
        "backward_skip_vars": [],
        "specs": [],
        "chosen": None,
    }
    operator.update(
        type="gradient",
        inputs={"X": ["x"], "Out": ["x"], "Out@GRAD": ["x"]},
        outputs={"X@GRAD": [name]},
        attrs={
            "of": "py_func",
            "attrs": {"attrs": attrs},
            "inputs": [1],
            "outputs": [True],
            "given": [True],
            "targets": [0],
        },
    )


def another_dtype(plain: dict) -> None:
    name = find(plain, "matmul_v2")["outputs"]["Out"][0]
    next(v for v in plain["blocks"][0]["vars"] if v["name"] == name)["dtype"] = "int64"


def output_never_computed(plain: dict) -> None:
    plain["blocks"][0]["ops"].pop()


def no_inputs(plain: dict) -> None:
    plain["inputs"] = []


HOSTILE = [
    change("fill_constant", shape=[1 << 20, 1 << 20]),
    change("fill_constant", shape=[-5]),
    change("assign_value", values=[1.0] * 7),
    change("split", sections=[1, 1, 1]),
    change("split", axis="abc"),
    region("conditional_block", block="0"),
    region("conditional_block", block=0),
    region("conditional_block", block=-1),
    region("conditional_block", block=True),
    region("conditional_block", results=[[0, "x"], [0, "x"]]),
    region("conditional_block", arguments=[[0, "x"]]),
    region("conditional_block", results=[[1 << 70, "x"]]),
    region("conditional_block", results=["x"]),
    region("while", 1, arguments=[]),
    region("while", results=[[0, "x"]]),
    region("while", results=[]),
    lambda plain: find(plain, "while").update(kept=[0, "x"]),
    one_branch,
    regions_of_another,
    results_swapped_with_values,
    change("while", unknown=1),
    change("slice_view", index=[["slice", None, "a", None], ["slice", 0, 2, None]]),
    huge_variable,
    write_into_what_is_fed,
    write_into_something_else,
    result_over_a_weight,
    branch_used_twice,
    doubling_blocks,
    deep_blocks,
    run_program,
    gradient_of_a_function,
    another_dtype,
    output_never_computed,
    no_inputs,
]


@pytest.mark.parametrize("spoil", HOSTILE, ids=lambda f: getattr(f, "__name__", None))
def test_a_hostile_program_is_refused_when_it_is_read(spoil):
    plain = copy.deepcopy(PLAIN)
    spoil(plain)
    with pytest.raises(FormatError, match=r"model\.pdmodel"):
        from_plain(plain, "model.pdmodel")


def test_no_function_of_this_process_is_reached():
    plain = copy.deepcopy(PLAIN)
    gradient_of_a_function(plain)
    with pytest.raises(FormatError, match="Python functions are not read from files"):
        from_plain(plain, "model.pdmodel")


VALUES = [
    -1,
    0,
    7,
    10**13,
    1 << 63,
    1.5,
    float("nan"),
    float("inf"),
    "abc",
    "x",
    "relu",
    "",
    None,
    True,
    [],
    [[]],
    [1, 2],
    [-1, -1],
    {"dtype": "int64"},
    {"dtype": "?"},
    {"spec": [[9], "float32"]},
    {"x": 1},
]


def places(tree, before=()):
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in items:
        yield (*before, key)
        yield from places(value, (*before, key))


@pytest.mark.parametrize("seed", range(4))
def test_any_change_raises_an_engine_error_or_none(seed):
    rng = random.Random(seed)
    everywhere = list(places(PLAIN))
    for _ in range(150):
        plain = copy.deepcopy(PLAIN)
        *path, last = rng.choice(everywhere)
        inner = plain
        for key in path:
            inner = inner[key]
        inner[last] = rng.choice(VALUES)
        try:
            run(plain)
        except EngineError:
            continue


@pytest.mark.parametrize("version", ["\n\x1b[31m", [PLAIN] * 20, "x" * 5000])
def test_text_from_a_file_stays_on_one_line_in_messages(version: object) -> None:
    with pytest.raises(FormatError) as caught:
        from_plain({**PLAIN, "version": version})
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600
