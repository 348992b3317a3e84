"""An operator some of whose attributes only the running Program knows: ``sum(x, axis=a)`` with a Variable a.

One operator serves all: it names the operator that it runs (``of``), holds the attributes that are known
and the names of those that values replace.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from engine.core.delegate import delegate
from engine.core.errors import EngineError, ProgramError, ShapeError
from engine.core.operators import traits
from engine.core.operators.opdef import OPS, OpDef, op
from engine.core.values.spec import Spec

_AXES = frozenset(("axis", "axes", "dim"))
_NUMBER = -1  # a place: the attribute is the number; from 0 on the number at that place of a list
_ABSENT = -2  # a length: no input; _NUMBER: one; from 0 on a list of that many
_MOST = 256  # combinations of values that inference looks at


@delegate("engine.autodiff.symbolic")
def gradients_of(
    opdef: OpDef, inputs: Sequence[Any], attrs: dict[str, Any], outputs: Sequence[Any], grads: Sequence[Any]
) -> list[Any]:
    """The gradients of the inputs of an operator of a Program, by its rules; None where there is none."""
    raise NotImplementedError


def plain(opdef: OpDef) -> bool:
    """Whether an operator does no more than compute its outputs from inputs and attributes."""
    return not (opdef.effect or opdef.random or opdef in traits.opaque or opdef.regions)


def separated(
    inputs: Sequence[Any], attrs: dict[str, Any], later: Callable[[Any], bool]
) -> tuple[list[Any], list[Any], dict[str, Any]]:
    """Inputs, values and attributes of ``with_values`` but ``of``; ``later`` distinguishes a value from a
    number."""
    flat: list[Any] = []
    layout: list[int] = []
    for value in inputs:
        if isinstance(value, (list, tuple)):
            layout.append(len(value))
            flat += value
        else:
            layout.append(_ABSENT if value is None else _NUMBER)
            flat += [] if value is None else [value]
    known, names, places, values = dict(attrs), [], [], []
    for name, value in attrs.items():
        if later(value):
            known[name] = None
            names.append(name)
            places.append(_NUMBER)
            values.append(value)
        elif isinstance(value, (list, tuple)):
            for place in [n for n, v in enumerate(value) if later(v)]:
                names.append(name)
                places.append(place)
                values.append(value[place])
            known[name] = [None if later(v) else v for v in value]
    return flat, values, {"attrs": known, "names": names, "places": places, "layout": layout}


def _arranged(flat: Sequence[Any], layout: Sequence[int]) -> list[Any]:
    """The inputs of the operator that is run, from those in a row."""
    rest = iter(flat)
    return [
        None if n == _ABSENT else next(rest) if n == _NUMBER else list(itertools.islice(rest, n))
        for n in layout
    ]


def _filled(
    attrs: dict[str, Any], names: Sequence[str], places: Sequence[int], values: Sequence[Any]
) -> dict[str, Any]:
    """The attributes of the operator that is run, with ``values`` where they belong."""
    full = {k: list(v) if isinstance(v, (list, tuple)) else v for k, v in attrs.items()}
    for name, place, value in zip(names, places, values, strict=True):
        if place == _NUMBER:
            full[name] = value
        else:
            full[name][place] = value
    return full


def _operator(of: str) -> OpDef:
    found = OPS.get(of)
    if found is None or not plain(found):
        raise ProgramError(f"with_values: attributes of {of!r} can not be values")
    return found


def _trials(names: Sequence[str], rank: int) -> Iterator[tuple[int, ...]]:
    """Values that the attributes may have: every axis, and two sizes, to find dimensions that depend on
    them."""
    each = [range(rank + 1) if name in _AXES else (1, 2) for name in names]
    return itertools.islice(itertools.product(*each), _MOST)


def _infer(
    inputs: list[Spec], values: list[Spec], *, of: str, attrs: Any, names: Any, places: Any, layout: Any
) -> tuple[Spec, ...]:
    """The shape that the results have for all values; the other dimensions are not known."""
    base, refused = _operator(of), None
    for value in values:
        if value.known and value.size != 1:
            raise ShapeError(f"{of}: a number given as a tensor must have one element: got {value}")
    rank = max((spec.ndim for spec in inputs), default=0)
    found: list[tuple[Spec, ...]] = []
    for trial in _trials(names, rank):
        try:
            full = base.with_defaults(_filled(attrs, names, places, trial))
            found.append(base.infer_specs(_arranged(inputs, layout), full))
        except EngineError as error:
            refused = error
    if not found:
        raise refused or ProgramError(f"{of}: no value fits {names}")
    return tuple(_common([specs[n] for specs in found]) for n in range(len(found[0])))


def _common(specs: Sequence[Spec]) -> Spec:
    least = min(spec.ndim for spec in specs)  # squeeze leaves a dimension that is not 1 where it is
    chosen = [spec for spec in specs if spec.ndim == least]
    shape = [
        sizes[0] if len(set(sizes)) == 1 else -1 for sizes in zip(*(s.shape for s in chosen), strict=True)
    ]
    return chosen[0].with_shape(shape)


def with_filled(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> tuple[OpDef, list[Any], dict[str, Any]]:
    """The operator that is run for these inputs, its inputs, and its attributes with the values."""
    base, (given, values) = _operator(attrs["of"]), inputs
    numbers = [value.reshape(()).item() for value in values]
    full = base.with_defaults(_filled(attrs["attrs"], attrs["names"], attrs["places"], numbers))
    return base, _arranged(given, attrs["layout"]), full


@traits.complex_gradient
@op("with_values", infer=_infer, outputs=("outs",), output_list="outs")
def with_values(xp, inputs: list, values: list, *, of, attrs, names, places, layout):
    """The results of the operator ``of``, its attributes ``names`` taken from ``values``."""
    filled = {"of": of, "attrs": attrs, "names": names, "places": places, "layout": layout}
    base, arranged, full = with_filled((inputs, values), filled)
    kernel, direct = base.kernel_for("cpu" if xp.__name__ == "numpy" else xp.__name__)
    result = (base.kernel if direct else kernel)(xp, *arranged, **full)
    results = [result] if base.single else list(result)
    return [r.copy() for r in results] if base.view else results


@with_values.grad_all("inputs")
def _gradient(
    g_outs: Any,
    inputs: Any,
    values: Any,
    outs: Any,
    of: Any,
    attrs: Any,
    names: Any,
    places: Any,
    layout: Any,
) -> list[Any]:
    """By the rules of the operator that is run, whose attributes are the values again."""
    full = _filled(attrs, names, places, values)
    found = gradients_of(OPS[of], _arranged(inputs, layout), full, outs, g_outs)
    return [g for each in found for g in (each if isinstance(each, list) else [each])]
