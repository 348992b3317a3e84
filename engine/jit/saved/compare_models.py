"""What differs between two saved models of any format: inputs and outputs, operators, weights, information.

Both are compared as plain values. Nothing of a model is executed, and neither their save ids nor their
formats are differences: two exports of one checkpoint do not differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from engine.core.errors import FormatError, NewerVersionError
from engine.files.inference import InferenceFiles
from engine.files.plain import Array, StrPath
from engine.jit.export import programs_of
from engine.jit.saved.model_files import read_model_files
from engine.jit.saved.structure import OperatorChange, Renamed, Structure, compare_structure, same_value
from engine.jit.translated_layer import FORWARD
from engine.program.saved.serialize import to_plain

_CHUNK = 1 << 20  # elements that are compared at once
_IGNORED = frozenset({"date", "time", "exported", "save_id", "written_by"})


@dataclass(frozen=True)
class WeightChange:
    """A weight that differs: its names, None in the model that lacks it, shapes and dtypes.

    ``largest`` is the largest absolute difference and ``relative`` its share of the largest value in A; None
    where shapes or dtypes differ.
    """

    a: str | None
    b: str | None
    shape: tuple[list[int] | None, list[int] | None]
    dtype: tuple[str | None, str | None]
    largest: float | None = None
    relative: float | None = None


@dataclass(frozen=True)
class ValueChange:
    """Something else that differs, such as ``classes[3]`` or the shape of an input; None for absent."""

    name: str
    a: Any
    b: Any


@dataclass(frozen=True)
class ModelComparison:
    """All differences of two models; ``equal`` if there is none. ``weights_compared`` counts pairs.

    ``sources`` and ``layers`` are source lines and layers of operators that are otherwise the same.
    """

    inputs: list[ValueChange]
    outputs: list[ValueChange]
    operators: list[OperatorChange]
    sources: list[Renamed]
    layers: list[Renamed]
    weights: list[WeightChange]
    information: list[ValueChange]
    weights_compared: int
    operators_compared: int

    @property
    def equal(self) -> bool:
        """Whether the models do not differ."""
        operators = self.operators or self.sources or self.layers
        return not (self.inputs or self.outputs or operators or self.weights or self.information)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"equal": self.equal, **asdict(self)}


def compare_models(a: StrPath, b: StrPath) -> ModelComparison:
    """Compare the models at ``a`` and ``b``, each a PREFIX or a file of any format.

    Raises:
        DataError: a file is missing or can't be read. FormatError: damaged, or not a model.
    """
    return compare_files(read_model_files(a), read_model_files(b))


def compare_files(a: InferenceFiles, b: InferenceFiles) -> ModelComparison:
    """Compare two models that were read; a Program that is ill-formed is compared as its file has it.

    Raises FormatError for a file without any Program.
    """
    (programs_a, fault_a), (programs_b, fault_b) = _programs(a), _programs(b)
    missing = [
        ValueChange(f"method {name}", *(name in programs or None for programs in (programs_a, programs_b)))
        for name in sorted(programs_a.keys() ^ programs_b.keys())
    ]
    found = {
        name: compare_structure(programs_a[name], programs_b[name])
        for name in programs_a
        if name in programs_b
    }
    same = {a: b for each in found.values() for a, b in each.same.items()}
    weights, pairs = _compare_weights(a.weights, b.weights, same)
    faults = [ValueChange("ill-formed Program", fault_a, fault_b)] if fault_a != fault_b else []
    return ModelComparison(
        inputs=_compare_signature(a.info, b.info, "inputs") + missing,
        outputs=_compare_signature(a.info, b.info, "outputs") + list(_results(found)),
        operators=[change for name, each in found.items() for change in _in_method(each.changes, name)],
        sources=[line for each in found.values() for line in each.sources],
        layers=[layer for each in found.values() for layer in each.layers],
        weights=weights,
        information=faults + list(_compare_values(_information(a), _information(b), "")),
        weights_compared=pairs,
        operators_compared=max(_count(programs_a), _count(programs_b)),
    )


def _results(found: Mapping[str, Structure]) -> Iterator[ValueChange]:
    """Outputs that another operator computes."""
    for method, structure in found.items():
        prefix = "" if method == FORWARD else f"{method}: "
        for each in structure.outputs:
            yield ValueChange(f"{prefix}value of output {each.name}", each.a, each.b)


def _in_method(changes: list[OperatorChange], method: str) -> list[OperatorChange]:
    """Places of other methods than forward have its name in front."""
    if method == FORWARD:
        return changes
    return [
        replace(each, a=each.a and f"{method}:{each.a}", b=each.b and f"{method}:{each.b}")
        for each in changes
    ]


def _programs(files: InferenceFiles) -> tuple[dict[str, Mapping[str, Any]], str | None]:
    """The Programs by the name of the method, and why they can't be built, where that is so."""
    plain = files.program
    methods = _dict(_dict(plain).get("methods"))
    try:
        return {name: to_plain(program) for name, program in programs_of(files).items()}, None
    except NewerVersionError:
        raise
    except FormatError as error:
        if not isinstance(_dict(plain).get("blocks"), list):
            raise
        return {FORWARD: plain, **{name: each for name, each in methods.items() if _dict(each)}}, str(error)


def _count(programs: Mapping[str, Mapping[str, Any]]) -> int:
    blocks = [block for program in programs.values() for block in program.get("blocks", ())]
    return sum(len(_dict(block).get("ops") or ()) for block in blocks)


def _compare_signature(a: Any, b: Any, key: str) -> list[ValueChange]:
    """Names, shapes and dtypes of inputs or outputs, by position."""
    one, other = ([_signature(each) for each in info.get(key, [])] for info in (_dict(a), _dict(b)))
    changes = []
    for n in range(max(len(one), len(other))):
        x, y = (each[n] if n < len(each) else None for each in (one, other))
        if x != y:
            changes.append(ValueChange(f"{key[:-1]} {n}", x, y))
    return changes


def _signature(described: Any) -> str:
    given = _dict(described)
    shape = ", ".join("?" if size == -1 else str(size) for size in given.get("shape", []))
    return f"{given.get('name')}: {given.get('dtype')} [{shape}]"


def _dict(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _compare_weights(
    a: Mapping[str, Array], b: Mapping[str, Array], same: Mapping[str, str]
) -> tuple[list[WeightChange], int]:
    """Weights of the same name, then those that the same operators read, then those that one model lacks."""
    partner = {name: name for name in a if name in b}
    taken = set(partner.values())
    for name in a:
        other = same.get(name, "")
        if name not in partner and other in b and other not in taken:
            partner[name] = other
            taken.add(other)
    changes = []
    for name, array in a.items():
        if name not in partner:
            changes.append(_lacking(name, None, array))
        elif (change := _compare_arrays(name, partner[name], array, b[partner[name]])) is not None:
            changes.append(change)
    changes += [_lacking(None, name, array) for name, array in b.items() if name not in taken]
    return changes, len(partner)


def _lacking(a: str | None, b: str | None, array: Array) -> WeightChange:
    shape, dtype = list(array.shape), str(array.dtype)
    if b is None:
        return WeightChange(a, None, (shape, None), (dtype, None))
    return WeightChange(None, b, (None, shape), (None, dtype))


def _compare_arrays(a: str, b: str, one: Array, other: Array) -> WeightChange | None:
    shapes, dtypes = (list(one.shape), list(other.shape)), (str(one.dtype), str(other.dtype))
    if shapes[0] != shapes[1] or dtypes[0] != dtypes[1]:
        return WeightChange(a, b, shapes, dtypes)
    largest, scale, differs = 0.0, 0.0, False
    flat, flat_other = one.reshape(-1), other.reshape(-1)
    for begin in range(0, flat.size, _CHUNK):
        x, y = flat[begin : begin + _CHUNK], flat_other[begin : begin + _CHUNK]
        inexact = x.dtype.kind in "fc"
        differs = differs or not np.array_equal(x, y, equal_nan=inexact)
        wide = np.complex128 if x.dtype.kind == "c" else np.float64
        with np.errstate(invalid="ignore", over="ignore"):
            apart = np.abs(x.astype(wide) - y.astype(wide))
        apart = apart[np.isfinite(apart)]
        largest = max(largest, float(apart.max(initial=0.0)))
        sizes = np.abs(x[np.isfinite(x)].astype(wide)) if inexact else np.abs(x.astype(wide))
        scale = max(scale, float(sizes.max(initial=0.0)))
    if not differs:
        return None
    return WeightChange(a, b, shapes, dtypes, largest, largest / scale if scale else float("inf"))


def _information(files: InferenceFiles) -> Mapping[str, Any]:
    info = _dict(_dict(files.info).get("info"))
    return {name: value for name, value in info.items() if name not in _IGNORED}


def _compare_values(a: Any, b: Any, name: str) -> Iterator[ValueChange]:
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        for key in [*a, *(key for key in b if key not in a)]:
            inside = f"{name}.{key}" if name else str(key)
            yield from _compare_values(a.get(key), b.get(key), inside)
    elif _long(a) and _long(b) and len(a) == len(b):
        for n, (x, y) in enumerate(zip(a, b, strict=True)):
            yield from _compare_values(x, y, f"{name}[{n}]")
    elif not same_value(a, b):
        yield ValueChange(name, a, b)


def _long(value: Any) -> bool:
    """Whether a list is shown by its elements: one of more than a few numbers, or of structures."""
    return isinstance(value, list | tuple) and (
        len(value) > 4 or any(isinstance(each, Mapping | list | tuple) for each in value)
    )
