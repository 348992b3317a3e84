"""Definitions of operators: properties read from a kernel, and refusals at definition."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import partial, wraps
from typing import Any

import numpy as np
import pytest

from engine.core.errors import ArgumentError, GradientError
from engine.core.operators import traits
from engine.core.operators.infer import same_as_x
from engine.core.operators.opdef import OPS, op, parameters_of
from engine.core.values.spec import Spec
from engine.eager.tensor import Tensor


@pytest.fixture(autouse=True)
def _own_operators() -> Iterator[None]:
    """Remove the operators of a test after it."""
    before = dict(OPS)
    yield
    for name in OPS.keys() - before.keys():
        del OPS[name]


def _leaf(*values: float) -> Tensor:
    return Tensor(np.array(values), stop_gradient=False)


def test_reads_the_kernels_signature() -> None:
    @op(
        "t_all",
        infer=lambda x, ys, z, *, a, b: x,
        outputs=("first", "second"),
        slots={"x": "Input"},
    )
    def everything(
        xp: Any, x: Any, ys: list, z: Any = None, *, a: int, b: float = 1.5, out: Any = None, key: Any
    ) -> Any:
        """Doc."""
        return x, x

    d = everything.opdef
    assert [(i.name, i.slot, i.optional, i.is_list) for i in d.inputs] == [
        ("x", "Input", False, False),
        ("ys", "Ys", False, True),
        ("z", "Z", True, False),
    ]
    assert [(o.name, o.slot) for o in d.outputs] == [("first", "First"), ("second", "Second")]
    assert list(d.attributes) == ["a", "b"]
    assert (d.has_out, d.random, d.single) == (True, True, False)
    assert everything.__doc__ == "Doc."
    assert d.with_defaults({"a": 2}) == {"a": 2, "b": 1.5}


def test_properties_of_an_operator() -> None:
    @traits.complex_gradient
    @traits.opaque
    @traits.order(1)
    @op("t_flags", infer=same_as_x, effect=True)
    def flags(xp: Any, x: Any) -> Any:
        return x

    d, tanh = flags.opdef, OPS["tanh"]
    declared = (traits.complex_gradient, traits.opaque, traits.order, traits.moves)
    assert [d in trait for trait in declared] == [True, True, True, False]
    assert [tanh in trait for trait in declared] == [False] * 4
    assert (traits.order[d], traits.order.get(tanh)) == (1, None)
    assert (d.effect, d.random, tanh.effect, tanh.random) == (True, False, False, False)
    assert OPS["py_func"] in traits.opaque
    # Only its gradient is a Python function: a file may hold its forward.
    assert OPS["py_layer"] not in traits.opaque


def test_complex_gradients_need_a_declaration() -> None:
    @op("t_real_rule", infer=same_as_x)
    def real_rule(xp: Any, x: Any) -> Any:
        return x * 2

    @traits.complex_gradient
    @op("t_complex_rule", infer=same_as_x)
    def complex_rule(xp: Any, x: Any) -> Any:
        return x * 2

    for function in (real_rule, complex_rule):
        function.grad(x=lambda g: g + g)
    x = Tensor(np.array([1 + 2j]), stop_gradient=False)
    complex_rule(x).backward(Tensor(np.array([1j])))
    assert x.grad is not None
    assert x.grad.tolist() == [2j]
    with pytest.raises(GradientError, match="t_real_rule: no gradient is defined for complex values"):
        real_rule(x).backward(Tensor(np.array([1j])))


def test_attributes_are_checked() -> None:
    @op("t_attributes", infer=same_as_x)
    def attributes(xp: Any, x: Any, *, a: int, b: int = 0) -> Any:
        return x

    with pytest.raises(ArgumentError, match="t_attributes: attribute 'a' is missing"):
        attributes.opdef.with_defaults({"b": 1})
    with pytest.raises(ArgumentError, match=r"t_attributes: unknown attributes \['c'\]"):
        attributes.opdef.with_defaults({"a": 1, "c": 1})


def test_a_rule_that_asks_for_an_unknown_name_fails_at_definition() -> None:
    @op("t_rule", infer=same_as_x)
    def rule(xp: Any, x: Any, *, scale: float = 2.0) -> Any:
        return x * scale

    with pytest.raises(TypeError, match=r"gradient of t_rule: the rule asks for 'factor'.*'scale'"):
        rule.grad(x=lambda g, factor: g)
    with pytest.raises(TypeError, match=r"gradient of t_rule: 'y' is not an input"):
        rule.grad(y=lambda g: g)
    rule.grad(x=lambda g, scale: g * scale)
    with pytest.raises(TypeError, match="has a rule already"):
        rule.grad(x=lambda g: g)
    x = _leaf(3.0)
    rule(x).backward()
    assert x.grad is not None
    assert x.grad.tolist() == [2.0]


def test_a_rule_passes_on_the_attributes_that_it_does_not_name() -> None:
    @op("t_rest", infer=same_as_x)
    def rest(xp: Any, x: Any, *, a: float, b: float = 2.0, c: float = 3.0) -> Any:
        return x * (a + b + c)

    seen: list[dict[str, float]] = []

    def rule(g: Any, b: float, **attrs: float) -> Any:
        seen.append(attrs)
        return g * (b + attrs["a"] + attrs["c"])

    rest.grad(x=rule)
    x = _leaf(1.0)
    rest(x, a=1.0).backward()
    assert seen == [{"a": 1.0, "c": 3.0}]
    assert x.grad is not None
    assert x.grad.tolist() == [6.0]


def test_a_rule_with_other_parameters_than_plain_ones_fails_at_definition() -> None:
    @op("t_no_rest", infer=same_as_x)
    def no_rest(xp: Any, x: Any, *, a: float = 1.0) -> Any:
        return x * a

    with pytest.raises(TypeError, match=r"gradient rule of x: .* got \(g, a, \*\*attrs\)"):
        no_rest.grad(x=lambda g, a, **attrs: g)  # all attributes are requested by name
    with pytest.raises(TypeError, match=r"got \(\*given\)"):
        no_rest.grad(x=lambda *given: given[0])
    with pytest.raises(TypeError, match=r"got \(g, \*, a\)"):
        no_rest.grad(x=lambda g, *, a: g)


@pytest.mark.parametrize("name", ["g", "out", "wanted"])
def test_inputs_must_not_have_names_that_rules_use(name: str) -> None:
    scope: dict[str, Any] = {}
    exec(f"def kernel(xp, {name}): return {name}", scope)
    with pytest.raises(TypeError, match=f"can't be called '{name}'"):
        op("t_reserved", infer=same_as_x)(scope["kernel"])


def test_kernels_without_xp_or_with_stars_are_refused() -> None:
    with pytest.raises(TypeError, match="first parameter must be xp"):
        op("t_no_xp", infer=same_as_x)(lambda x: x)
    with pytest.raises(TypeError, match=r"\*xs in a kernel"):
        op("t_star", infer=same_as_x)(lambda xp, *xs: xs)


def test_writes_name_inputs_and_outputs() -> None:
    with pytest.raises(TypeError, match=r"writes names \['y'\]"):
        op("t_writes", infer=same_as_x, writes={"out": "y"})(lambda xp, x: x)


def test_a_name_is_defined_once() -> None:
    with pytest.raises(TypeError, match="exp: defined twice"):
        op("exp", infer=same_as_x)(lambda xp, x: x)


def test_no_rule_no_gradient() -> None:
    @op("t_plain", infer=same_as_x)
    def plain(xp: Any, x: Any) -> Any:
        return x + 1

    assert plain(_leaf(1.0)).stop_gradient
    with pytest.raises(GradientError, match="t_plain: no gradient is defined"):
        plain.opdef.require_differentiable()


def test_only_values_that_rules_use_are_saved() -> None:
    @op("t_kept", infer=lambda x, y, z: x)
    def product(xp: Any, x: Any, y: Any, z: Any) -> Any:
        return x * y + z

    product.grad(x=lambda g, y: g * y, y=lambda g, x: g * x, z=lambda g: g)
    x, y, z = _leaf(1.0), Tensor(np.array([2.0])), _leaf(3.0)
    node = product(x, y, z)._edge
    assert node.inputs == (None, y, None)  # only the rule of y uses x, which needs no gradient
    assert not hasattr(node, "outputs")  # a field that no rule asks for is not even set


def test_an_override_replaces_the_kernel_of_existing_functions() -> None:
    @op("t_override", infer=same_as_x)
    def overridden(xp: Any, x: Any) -> Any:
        return x + 1

    x = Tensor(np.array([1.0]))
    assert overridden(x).tolist() == [2.0]
    overridden.opdef.override("cpu", lambda xp, x: x + 2)
    assert overridden(x).tolist() == [3.0]
    overridden.opdef.override("cpu", np.negative, direct=True)
    assert overridden(x).tolist() == [-1.0]


def test_a_failing_kernel_is_explained_by_inference() -> None:
    def infer(x: Spec, *, axis: int) -> Spec:
        if axis >= x.ndim:
            raise ArgumentError(f"t_failing: axis {axis}: x is {x}; use less")
        return x

    @op("t_failing", infer=infer)
    def failing(xp: Any, x: Any, *, axis: int) -> Any:
        raise ValueError("numpy's words")

    with pytest.raises(ArgumentError, match=r"^t_failing: axis 4: x is float64\[1\]; use less$"):
        failing(Tensor(np.array([1.0])), axis=4)
    with pytest.raises(ArgumentError, match=r"^t_failing: numpy's words: got x=float64\[1\], axis=0"):
        failing(Tensor(np.array([1.0])), axis=0)


def test_other_things_than_tensors_are_refused() -> None:
    with pytest.raises(ArgumentError, match=r"exp: input 'x' must be a Tensor: got str"):
        OPS["exp"].namespace["__apply__"]("x")


def test_parameters_are_those_of_inspect() -> None:
    def starred(a: int, b: Any = 2, *c: float, d: str, e: Any = None, **f: list[int]) -> None: ...

    def positional(a: int, /, b: Any) -> None: ...

    functions = [starred, positional, lambda: 0, wraps(starred)(lambda *a, **k: 0), partial(starred, 1)]
    for function in (*functions, *(d.kernel for d in OPS.values())):
        expected = inspect.signature(function).parameters.values()
        assert parameters_of(function) == [(p.name, p.kind, p.default, p.annotation) for p in expected]
