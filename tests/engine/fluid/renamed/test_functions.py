"""Tables of renamed functions: every row fits the function that it calls, and makes one as if written out."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from engine import fluid
from engine.fluid import layers
from engine.fluid.renamed.functions import Converted, Default, Fixed, Row, functions, row


def tables() -> Iterator[tuple[str, Row]]:
    """Each row of fluid, with the module of its table."""
    for found in pkgutil.walk_packages(fluid.__path__, "engine.fluid."):
        for each in getattr(importlib.import_module(found.name), "ROWS", ()):
            yield found.name, each


TABLES = list(tables())


@pytest.mark.parametrize(("module", "each"), [pytest.param(m, r, id=f"{m}.{r.name}") for m, r in TABLES])
def test_a_row_fits_both_functions(module: str, each: Row) -> None:
    made = getattr(importlib.import_module(module), each.name)
    own = inspect.signature(made).parameters
    assert list(own) == each.parameters
    named = [each.into, *each.unused] if each.into else list(each.unused)
    assert set(named) <= set(own), "unused and into name parameters of the old function"
    for value in each.arguments.values():
        text = value.names if isinstance(value, Converted) else getattr(value, "name", value)
        assert isinstance(value, Fixed) or set(text.split()) <= set(own)

    target = inspect.signature(each.new).parameters.values()
    given = set(each.call())
    if any(p.kind is p.VAR_KEYWORD for p in target):
        opdef = getattr(each.new, "opdef", None)  # of the apply function of an operator
        assert opdef is None or given <= {*opdef.input_names, *opdef.attributes}
        # A rate has the parameters of its class, which test_learning_rates.py calls in both modes.
        assert opdef is not None or module == "engine.fluid.layers.learning_rate_scheduler"
        return
    assert given <= {p.name for p in target}
    assert {p.name for p in target if p.default is p.empty} <= given


def test_no_name_has_two_rows() -> None:
    assert len(TABLES) > 130
    names = [each.name for module, each in TABLES if module.startswith("engine.fluid.layers")]
    assert sorted(names) == sorted(set(names))
    assert [name for name in names if not callable(getattr(layers, name))] == []


def test_a_renamed_function_looks_like_one_that_is_written_out() -> None:
    found = layers.leaky_relu
    assert str(inspect.signature(found)) == (
        "(x: 'Any', alpha: 'float' = 0.02, name: 'str | None' = None) -> 'Any'"
    )
    assert found.__doc__ == "x where positive, else ``alpha * x``."
    assert (found.__module__, found.__qualname__) == ("engine.fluid.layers.ops", "leaky_relu")
    assert 'row("leaky_relu", functional.leaky_relu' in inspect.getsource(found)
    with pytest.raises(TypeError, match=r"leaky_relu\(\) missing 1 required positional argument: 'x'"):
        found()
    with pytest.raises(TypeError, match=r"leaky_relu\(\) got an unexpected keyword argument 'slope'"):
        found(1, slope=2)


def today(x: Any, scale: Any = 1, shift: Any = 0, kind: str = "plain", name: Any = None) -> Any:
    """What it was called with."""
    return x, scale, shift, kind, name


def doubled(value: Any, factor: Any) -> Any:
    return value * 2 if factor is None else value * factor


MADE = functions(
    (
        row("same", today, "x, scale=3", as_is=True),
        row("renamed", today, "input, name=None", "A text.", {"x": "input"}, as_is=True),
        row(
            "fixed", today, "x, kind: str = 'other'", None, {"kind": Fixed("this")}, unused="kind", as_is=True
        ),
        row("default", today, "x, by=None", None, {"scale": Default("by", 5)}, as_is=True),
        row("converted", today, "x, by=None", None, {"x": Converted(doubled, "x by")}, as_is=True),
    ),
    __name__,
)


@pytest.mark.parametrize(
    ("name", "args", "kwargs", "expected"),
    [
        ("same", (1,), {}, (1, 3, 0, "plain", None)),
        ("same", (1, 2), {}, (1, 2, 0, "plain", None)),
        ("renamed", (), {"input": 4, "name": "n"}, (4, 1, 0, "plain", "n")),
        ("fixed", (1,), {"kind": "other"}, (1, 1, 0, "this", None)),
        ("default", (1,), {}, (1, 5, 0, "plain", None)),
        ("default", (1, 0), {}, (1, 0, 0, "plain", None)),
        ("converted", (3,), {}, (6, 1, 0, "plain", None)),
        ("converted", (3,), {"by": 5}, (15, 1, 0, "plain", None)),
    ],
)
def test_arguments_go_where_the_row_says(
    name: str, args: tuple[Any, ...], kwargs: dict[str, Any], expected: Any
) -> None:
    assert MADE[name](*args, **kwargs) == expected


def test_the_first_call_changes_nothing_that_one_can_see() -> None:
    (made,) = functions((row("same", today, "x, scale: float = 3.0", as_is=True),), __name__).values()
    before = (inspect.signature(made), made.__defaults__, made.__annotations__, inspect.getsource(made))
    assert [made(1), made(x=2, scale=1.0), made(1)] == [
        (1, 3.0, 0, "plain", None),
        (2, 1.0, 0, "plain", None),
        (1, 3.0, 0, "plain", None),
    ]
    after = (inspect.signature(made), made.__defaults__, made.__annotations__, inspect.getsource(made))
    assert after == before
    with pytest.raises(TypeError, match=r"same\(\) missing 1 required positional argument: 'x'"):
        made()


def test_a_row_without_a_text_has_that_of_todays_function() -> None:
    assert MADE["same"].__doc__ == "What it was called with."
    assert MADE["renamed"].__doc__ == "A text."


def test_results_have_fluids_form_and_go_through_act_or_into_a_value() -> None:
    with fluid.dygraph.guard():
        x = fluid.dygraph.to_variable(np.array([-1.0, 2.0], np.float32))
        assert layers.mean(x).shape == [1]
        assert layers.scale(x, 2.0).numpy().tolist() == [-2.0, 4.0]
        assert layers.scale(x, 2.0, act="relu").numpy().tolist() == [0.0, 4.0]
        below = layers.less_than(x, x + 1.0)
        assert layers.less_than(x, x, cond=below) is below
        assert below.numpy().tolist() == [False, False]
