"""Differences of Programs that are written by hand."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from engine.jit.saved.structure import Detail, OperatorChange, Renamed, compare_structure, same_value
from tests.engine.jit.saved.structure.plain_programs import Plain, block, operator, program, region, renamed


def rows(a: Plain, b: Plain) -> list[tuple[str, str, str, str]]:
    return [(each.kind, each.type, each.a, each.b) for each in compare_structure(a, b).changes]


CHAIN = program(
    block(
        operator("mul", "x w", "a"),
        operator("relu", "a", "b"),
        operator("mul", "b v", "c"),
        operator("tanh", "c", "y"),
        w=[4, 8],
        v=[8, 2],
    )
)


def test_other_names_are_no_difference() -> None:
    found = compare_structure(CHAIN, renamed(CHAIN, "n"))
    assert found.equal
    assert found.same == {"x": "n2", "w": "n0", "a": "n3", "b": "n4", "v": "n1", "c": "n5", "y": "n6"}
    assert found.counterparts == {(0, n): (0, n) for n in range(4)}


def test_a_deleted_operator_is_one_row() -> None:
    shorter = program(
        block(
            operator("mul", "x w", "a"),
            operator("mul", "a v", "c"),
            operator("tanh", "c", "y"),
            w=[4, 8],
            v=[8, 2],
        )
    )
    assert compare_structure(CHAIN, shorter).changes == [OperatorChange("removed", "relu", "", "1", "")]
    assert compare_structure(shorter, CHAIN).changes == [OperatorChange("added", "relu", "", "", "1")]
    assert compare_structure(CHAIN, shorter).marks == ({(0, 1): "removed"}, {})


def test_an_operator_in_place_of_another_leaves_its_readers_alone() -> None:
    other = copy.deepcopy(CHAIN)
    other["blocks"][0]["ops"][1]["type"] = "gelu"
    assert rows(CHAIN, other) == [("removed", "relu", "1", ""), ("added", "gelu", "", "1")]


def test_attributes_have_their_values_before_and_after() -> None:
    a = program(block(operator("leaky_relu", "x", "y", "act", alpha=0.1, same=float("nan"), gone=1)))
    b = program(block(operator("leaky_relu", "x", "y", "act", alpha=0.2, same=float("nan"), new=[1, 2])))
    assert compare_structure(a, b).changes == [
        OperatorChange(
            "changed",
            "leaky_relu",
            "act",
            "0",
            "0",
            (
                Detail("attribute", "alpha", 0.1, 0.2),
                Detail("attribute", "gone", 1, None),
                Detail("attribute", "new", None, [1, 2]),
            ),
        )
    ]


def test_another_value_that_follows_from_no_other_change_is_reported() -> None:
    def sums(reads: str) -> Plain:
        return program(
            block(operator("tanh", "x", "a"), operator("exp", "a", "b"), operator("add", reads, "y"))
        )

    (change,) = compare_structure(sums("a b"), sums("x b")).changes
    assert (change.kind, change.type, change.details) == (
        "changed",
        "add",
        (Detail("input", "A", ["a"], ["x"]),),
    )


def test_an_inserted_operator_explains_only_its_own_way() -> None:
    a = program(block(operator("tanh", "x", "a"), operator("exp", "x", "b"), operator("add", "a b", "y")))
    b = program(
        block(
            operator("tanh", "x", "a"),
            operator("exp", "x", "b"),
            operator("scale", "a", "c"),
            operator("add", "c a", "y"),  # instead of b it reads a
        )
    )
    added, changed = compare_structure(a, b).changes
    assert (added.kind, added.type, added.b) == ("added", "scale", "2")
    assert changed.details == (Detail("input", "B", ["b"], ["a"]),)


def test_operators_in_another_order_are_moved() -> None:
    one, other = operator("exp", "x", "a"), operator("tanh", "x", "b")
    last = operator("add", "a b", "y")
    a, b = program(block(one, other, last)), program(block(other, one, last))
    (change,) = compare_structure(a, b).changes
    assert change.kind == "moved"
    assert (change.type, change.a, change.b) in {("exp", "0", "1"), ("tanh", "1", "0")}


def test_operators_that_look_alike_are_distinguished_by_their_layers() -> None:
    def attention(*layers: str) -> Plain:
        ops = [operator("mul", f"x w_{layer}", layer, layer) for layer in layers]
        return program(
            block(*ops, operator("join", " ".join(layers), "y"), **{f"w_{layer}": [4, 4] for layer in layers})
        )

    a, b = attention("q", "k", "v"), renamed(attention("q", "v"), "n")
    found = compare_structure(a, b)
    assert [(each.kind, each.layer) for each in found.changes[:1]] == [("removed", "k")]
    assert found.same["w_v"] == "n1"


def test_other_shapes_of_parameters_are_named() -> None:
    other = copy.deepcopy(CHAIN)
    other["blocks"][0]["vars"][0]["shape"] = [4, 16]
    (change,) = compare_structure(CHAIN, other).changes
    assert change.details == (Detail("parameter", "B", "float32 [4, 8]", "float32 [4, 16]"),)


def test_swapped_parameters_are_found_where_their_names_stay() -> None:
    a = program(
        block(
            operator("mul", "x w", "a"),
            operator("mul", "a v", "b"),
            operator("mul", "b w", "y"),
            w=[2],
            v=[2],
        )
    )
    b = copy.deepcopy(a)
    b["blocks"][0]["ops"][2]["inputs"]["B"] = ["v"]
    (change,) = compare_structure(a, b).changes
    assert change.details == (Detail("input", "B", ["w"], ["v"]),)


def test_outputs_of_another_operator_are_named() -> None:
    a = program(block(operator("tanh", "x", "a"), operator("exp", "a", "b")), outputs="a b")
    b = program(block(operator("tanh", "x", "a"), operator("exp", "a", "b")), outputs="b b")
    found = compare_structure(a, b)
    assert (found.changes, found.outputs) == ([], [Detail("output", "0", "a", "b")])
    assert not found.equal


def loop(*inner: Plain, results: str = "c") -> Plain:
    one = operator("while", "x", "y")
    one["regions"] = [region(1, "i", results)]
    return program(block(one), block(*inner, parent=0, idx=1))


def test_a_change_in_a_loop_has_its_place() -> None:
    a = loop(operator("tanh", "i", "b"), operator("exp", "b", "c"))
    b = loop(operator("tanh", "i", "b"), operator("scale", "b", "d"), operator("exp", "d", "c"))
    assert rows(a, b) == [("added", "scale", "", "0.0.1")]
    assert compare_structure(a, b).marks == ({}, {(1, 1): "added"})
    assert rows(a, renamed(a, "n")) == []


def test_a_loop_that_is_missing_is_one_row() -> None:
    a = loop(operator("tanh", "i", "b"), operator("exp", "b", "c"))
    b = program(block(operator("exp", "x", "y")))
    removed, added = compare_structure(a, b).changes
    assert (removed.type, removed.inside, added.type) == ("while", 2, "exp")
    assert compare_structure(a, b).marks[0] == dict.fromkeys([(0, 0), (1, 0), (1, 1)], "removed")


def test_results_of_a_loop_are_its_inputs() -> None:
    inner = operator("tanh", "i", "b"), operator("exp", "b", "c")
    (change,) = compare_structure(loop(*inner), loop(*inner, results="b")).changes
    assert change.details == (Detail("input", "results 0", ["c"], ["b"]),)


def test_lines_and_layers_are_no_changes_of_operators() -> None:
    a, b = (program(block(operator("tanh", "x", "y", layer))) for layer in ("act", "act2"))
    b["blocks"][0]["ops"][0]["line"] = 4
    found = compare_structure(a, b)
    assert found.equal
    assert found.sources == [Renamed("net.py:3", "net.py:4", 1)]
    assert found.layers == [Renamed("act", "act2", 1)]


def test_a_layer_inserted_in_front_shifts_the_paths_of_the_others() -> None:
    def stack(*kinds: str) -> Plain:
        ops = [operator(kind, f"v{n}", f"v{n + 1}", str(n)) for n, kind in enumerate(kinds)]
        return program(block(*ops), inputs="v0", outputs=f"v{len(kinds)}")

    kinds = ["exp", "tanh", "relu", "sin", "exp", "cos", "tanh"]
    found = compare_structure(stack(*kinds), stack("scale", *kinds))
    assert found.changes == [OperatorChange("added", "scale", "0", "", "0")]
    assert len(found.layers) == 7


def test_equal_values() -> None:
    assert same_value([1, float("nan"), {"a": (2,)}], (1, float("nan"), {"a": [2]}))
    assert not same_value([1], [1, 2])
    assert not same_value(True, 1)
    assert not same_value(np.float32(1) * np.ones(1, "f4"), np.ones(1, "f8"))
    deep: Any = 1
    for _ in range(10_000):
        deep = [deep]
    assert not same_value(deep, deep), "too deep to compare"
