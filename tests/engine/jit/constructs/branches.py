"""Conditions: if, elif, else, ternaries, logic, comparisons, returns."""

from __future__ import annotations

from typing import Any

import engine as paddle
from tests.engine.jit.constructs.case import Cases, n, x

case = Cases()


@case()
def if_else(a):
    if a.sum() > 3:
        y = a * 2
    else:
        y = a - 1
    return y


@case((x(),), (-x(),), (x(scale=0.01),))
def if_elif_else(a):
    if a.sum() > 3:
        a = a * 2
    elif a.sum() < 0:
        a = a * 3
    else:
        a = a * 4
    return a


@case()
def if_without_else(a):
    y = a
    if a.mean() > 0:
        y = a * a
    return y


@case()
def nested_ifs(a):
    if a.sum() > 0:
        if a.max() > 5:
            y = a * 2
        else:
            y = a * 3
        y = y + 1
    else:
        y = -a
    return y


@case()
def name_born_in_one_branch(a):
    if a.sum() > 0:
        half = a / 2
        a = half + 1
    return a


@case()
def name_born_in_both(a):
    if a.sum() > 0:
        y, z = a, a + 1
    else:
        y, z = a * 2, a
    return y * z


@case()
def return_in_a_branch(a):
    if a.sum() > 0:
        return a * 2
    return a - 5


@case()
def return_in_nested_branches(a):
    if a.sum() > 0:
        if a.max() > 5:
            return a * 2
        a = a + 1
    else:
        return -a
    return a * 3


@case()
def several_values_returned(a):
    if a.sum() > 0:
        return a, a.sum()
    return a * 2, a.mean()


@case()
def ternary(a):
    return (a if a.sum() > 0 else a * -3) + 1


@case()
def nested_ternary(a):
    return a * 2 if a.sum() > 100 else (a * 3 if a.sum() > 0 else a * 4)


@case()
def and_or_not(a):
    if (a.sum() > 3 and not a.max() > 100) or a.min() < -100:
        a = a + 1
    return a


@case()
def and_with_python_values(a):
    verbose = False
    if verbose and a.sum() > 0:
        a = a * 100
    if not verbose and a.sum() > 0:
        a = a * 2
    return a


@case((x(),), (x(scale=0.1),), (x(scale=10.0),))
def chained_comparison(a):
    if 1 < a.mean() <= 10:
        return a
    return -a


@case()
def optional_argument(a, mask=None):
    if mask is not None and mask.sum() > 0:
        a = a + mask
    return a


@case((x(), x()), (x(), -x()))
def a_given_optional_argument(a, mask=None):
    if mask is not None and mask.sum() > 0:
        a = a + mask
    return a


@case()
def number_of_two_sides(a):
    if a.sum() > 0:
        scale = 2
    else:
        scale = 0.5
    return a * scale


@case()
def walrus(a):
    if (total := a.sum()) > 3:
        return a * total
    return a


@case()
def match_statement(a):
    mode = "double"
    match mode:
        case "double":
            y = a * 2 if a.sum() > 0 else a
        case _:
            y = a
    return y


@case()
def assertion(a):
    assert a.abs().sum() > 0, "nothing there"
    return a * 2


@case()
def structures_of_two_sides(a) -> Any:
    if a.sum() > 0:
        result = {"values": [a, a * 2], "scale": 2.0}
    else:
        result = {"values": [-a, a], "scale": 3.0}
    return result["values"][0] * result["scale"] + result["values"][1]


@case((x(), n(1)), (x(), n(0)))
def truth_of_a_whole_number(a, flag):
    if flag:
        a = a * 2
    return a


@case((x(),), (-x(),))
def setitem_in_branches(a):
    y = a * 1
    if a.sum() > 0:
        y[0] = 0.0
    else:
        y[:, 1] = a[:, 0]
    return y


@case()
def in_place_method_in_a_branch(a):
    y = a + 0
    if a.sum() > 0:
        y.add_(a)
    return y * 2


@case()
def with_no_grad(a):
    with paddle.no_grad():
        scale = a.sum()
        if scale > 0:
            scale = scale * 2
    return a * scale


@case()
def try_and_except(a):
    try:
        y = a * 2
        if y.sum() > 0:
            y = y + 1
    except ValueError:
        y = a
    return y


@case()
def bool_of_a_tensor(a):
    positive = bool(a.sum() > 0)
    if positive:
        return a
    return a * 2
