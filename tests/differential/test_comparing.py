"""Results that differ in one respect are reported as that; equal and refused ones are not."""

from __future__ import annotations

from typing import Any

import pytest

from tests.differential.comparing import compare
from tests.differential.deviations import DEVIATIONS, reason_of
from tests.differential.deviations_refused import REFUSED
from tests.differential.deviations_static import STATIC

CALL: dict[str, Any] = {"name": "paddle.sin", "grad": True}


def tensor(data: list[Any], dtype: str = "float32", **more: Any) -> dict[str, Any]:
    return {"tensor": dtype, "shape": [len(data)], "data": data, "stop_gradient": False, **more}


def refused(*classes: str, text: str = "", kind: str = "", own: bool = True) -> dict[str, Any]:
    return {"raises": list(classes), "kind": kind, "own": own, "text": text}


def result(made: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"result": made, **more}


@pytest.mark.parametrize(
    ("theirs", "ours", "category"),
    [
        (result(tensor([1.0])), result(tensor([1.0 + 1e-6])), "equal"),
        (result(tensor([1.0])), result(tensor([1.1])), "value"),
        (result(tensor([float("nan")])), result(tensor([float("nan")])), "equal"),
        (result(tensor([float("nan")])), result(tensor([1.0])), "not finite"),
        (result(tensor([1])), result(tensor([1], "int64")), "dtype"),
        (result(tensor([1.0])), result(tensor([1.0], shape=[1, 1])), "shape"),
        (result(tensor([1.0])), result({"several": [tensor([1.0])], "in": "list"}), "structure"),
        (result(tensor([1.0])), result(tensor([1.0], stop_gradient=True)), "stop_gradient"),
        (
            result(tensor([1.0]), gradients=[tensor([1.0])]),
            result(tensor([1.0]), gradients=[tensor([2.0])]),
            "gradient: value",
        ),
        (
            result(tensor([1.0]), gradients=[tensor([1.0])]),
            result(tensor([1.0]), gradients=[{"value": None}]),
            "gradient missing",
        ),
        (refused("ValueError", "Exception"), refused("ShapeError", "ValueError"), "both refuse"),
        (refused("ValueError"), refused("TypeError"), "refused with another class"),
        (refused("ValueError"), refused("AttributeError", own=False), "refused by accident"),
        (refused("RuntimeError"), refused("TypeError"), "both refuse"),
        (
            refused("ValueError", kind="InvalidArgument"),
            refused("ValueError", kind="OutOfRange"),
            "refused with another kind",
        ),
        (refused("ValueError"), refused("ValueError", kind="InvalidArgument"), "both refuse"),
        (refused("ValueError", kind="InvalidArgument"), refused("ValueError"), "refused with another kind"),
        (refused("ValueError"), result(tensor([1.0])), "refused only there"),
        (result(tensor([1.0])), refused("ValueError"), "refused only here"),
    ],
)
def test_category(theirs: dict[str, Any], ours: dict[str, Any], category: str) -> None:
    assert compare(CALL, theirs, ours).category == category


@pytest.mark.parametrize(
    ("theirs", "ours", "category"),
    [
        ([[-1]], [[-1]], "equal"),
        ([[-1]], [[2]], "more of a declared shape"),
        ([[2]], [[-1]], "less of a declared shape"),
        ([[3]], [[2]], "a declared shape is wrong there"),
        ([[-1]], [[2, 1]], "declared shape"),
    ],
)
def test_declared_shapes(theirs: list[list[int]], ours: list[list[int]], category: str) -> None:
    made = [tensor([1.0, 2.0])]
    assert (
        compare(CALL, {"result": made, "sizes": theirs}, {"result": made, "sizes": ours}).category == category
    )


def test_values_that_are_drawn_are_not_compared() -> None:
    call = {"name": "paddle.rand", "grad": False}
    assert compare(call, result(tensor([1.0])), result(tensor([2.0]))).category == "equal"
    assert compare(call, result(tensor([1.0])), result(tensor([2.0], "float64"))).category == "dtype"


def test_a_missing_kernel_is_a_reason() -> None:
    outcome = compare(
        CALL, refused("RuntimeError", text="kernel `sin` is not registered"), result(tensor([1]))
    )
    assert reason_of(CALL, "eager", outcome) == "Paddle's CPU has no kernel for it"
    outcome = compare(CALL, refused("ValueError", text="axis out of range"), result(tensor([1])))
    assert reason_of(CALL, "eager", outcome) == ""


def test_deviations_have_reasons() -> None:
    every = (*DEVIATIONS, *REFUSED, *STATIC)
    assert [each for each in every if len(each.reason) < 15] == []
    assert [each for each in every if not (each.name or each.detail or each.arguments or each.category)] == []
