"""State dicts of PyTorch for layers of this engine: names and layouts, by the class of each layer.

Nothing is decided by shapes: a square matrix fits transposed and as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from engine.core.errors import ArgumentError
from engine.eager.tensor import Tensor
from engine.nn.layer.activation import PReLU
from engine.nn.layer.attention import MultiHeadAttention
from engine.nn.layer.base import state as states
from engine.nn.layer.base.state import LayerTree, StateReport, TorchState, assign
from engine.nn.layer.common import Bilinear, Embedding, Linear
from engine.nn.layer.layers import Layer
from engine.nn.layer.norm import LayerNorm
from engine.nn.layer.norm_groups import _InstanceNormBase
from engine.nn.layer.rnn import RNNBase
from engine.nn.layer.transformer import TransformerDecoderLayer

_COUNTER = "num_batches_tracked"
_OF_WRAPPER = "module."  # what PyTorch's DataParallel puts before each name
_ONE = slice(None)


class Source(NamedTuple):
    """Where a value comes from: PyTorch's name, rows of that tensor, and how they are changed."""

    name: str
    rows: slice = _ONE
    change: Callable[[Any], Any] | None = None
    otherwise: str = ""
    """The whole tensor that holds the value where ``name`` is absent."""

    @property
    def is_transposed(self) -> bool:
        return self.change is _transposed


def _transposed(array: Any) -> Any:
    return np.ascontiguousarray(array.T) if array.ndim == 2 else array


def _flat(array: Any) -> Any:
    return array.reshape(-1)


def _as_row(array: Any) -> Any:
    return array.reshape(1, -1)


_RENAMED: tuple[tuple[type, dict[str, str]], ...] = (
    (_InstanceNormBase, {"scale": "weight"}),
    (PReLU, {"_weight": "weight"}),
)
_STATISTICS = {"_mean": "running_mean", "_variance": "running_var"}
_CHANGED: tuple[tuple[type, dict[str, Callable[[Any], Any]]], ...] = (
    (Linear, {"weight": _transposed}),
    (LayerNorm, {"weight": _flat, "bias": _flat}),
    (Bilinear, {"bias": _as_row}),
)
_SUBLAYERS: tuple[tuple[type, dict[str, str]], ...] = (
    (TransformerDecoderLayer, {"cross_attn": "multihead_attn"}),
)


@states.assign_torch.define
def assign_torch(layer: LayerTree, state: TorchState, use_structured_name: bool) -> StateReport:
    """Set parameters and persistable buffers from a state dict of PyTorch.

    What does not fit is left as it is, with a warning. Raises ArgumentError for
    ``use_structured_name=False``: PyTorch's parameters have no other names.
    """
    if not use_structured_name:
        raise ArgumentError(
            "set_state_dict: a state dict of PyTorch has the names of layers: got use_structured_name=False; "
            "leave it out"
        )
    assert isinstance(layer, Layer)  # the only class that the Protocol describes
    values, left_over, transposed = translated(layer, state)
    missing, _ = assign(layer, values, level=5)
    absent = set(missing)
    matched = [name for name in values if name not in absent]
    return StateReport(missing, left_over, matched, [name for name in transposed if name not in absent])


def translated(layer: Layer, state: Mapping[str, Any]) -> tuple[dict[str, Any], list[str], list[str]]:
    """The values of ``state`` by the names of ``layer``, in its layouts; PyTorch's names that are used by
    none, and the names whose matrix is transposed."""
    given = _unwrapped(state)
    found: dict[str, Any] = {}
    transposed: list[str] = []
    used: set[str] = set()
    for name, source in sources(layer):
        key, rows = source.name, source.rows
        if key not in given:
            key, rows = source.otherwise, _ONE
        if key not in given:
            continue
        used.add(key)
        found[name] = _changed(given[key], rows, source.change)
        if source.is_transposed:
            transposed.append(name)
    left = [key for key in given if key not in used and key.rpartition(".")[2] != _COUNTER]
    return found, left, transposed


def _unwrapped(state: Mapping[str, Any]) -> dict[str, Any]:
    if state and all(key.startswith(_OF_WRAPPER) for key in state):
        return {key.removeprefix(_OF_WRAPPER): value for key, value in state.items()}
    return dict(state)


def _changed(value: Any, rows: slice, change: Callable[[Any], Any] | None) -> Any:
    if rows is _ONE and change is None:
        return value
    array = value.numpy() if isinstance(value, Tensor) else value
    if rows is not _ONE:
        third = len(array) // 3 if array.ndim else 0
        array = array[rows.start * third : rows.stop * third]
    return array if change is None else change(array)


def sources(layer: Layer, path: str = "", theirs: str = "") -> Iterator[tuple[str, Source]]:
    """Each name of the state dict of ``layer`` with its source; a layer of an unknown class of this library
    has none."""
    if isinstance(layer, RNNBase):
        yield from _recurrent(layer, path, theirs)
        return
    if isinstance(layer, MultiHeadAttention):
        yield from _attention(layer, path, theirs)
        return
    renamed = _of_class(layer, _RENAMED) | _STATISTICS
    changes = _of_class(layer, _CHANGED)
    for name in _own_names(layer):
        if _is_known(layer, name):
            yield path + name, Source(theirs + renamed.get(name, name), change=changes.get(name))
    others = _of_class(layer, _SUBLAYERS)
    for name, sublayer in layer._sub_layers.items():
        if sublayer is not None:
            yield from sources(sublayer, f"{path}{name}.", f"{theirs}{others.get(name, name)}.")


def _of_class(layer: Layer, table: tuple[tuple[type, dict[str, Any]], ...]) -> dict[str, Any]:
    return next((found for kind, found in table if isinstance(layer, kind)), {})


def _own_names(layer: Layer) -> list[str]:
    """The names of a layer's own parameters and persistable buffers."""
    buffers = [name for name in layer._buffers if name not in layer._non_persistable_buffer_names_set]
    fields = {**layer._parameters, **{name: layer._buffers[name] for name in buffers}}
    return [name for name, value in fields.items() if value is not None]


def _is_known(layer: Layer, name: str) -> bool:
    """Whether the layout of this value is known to be PyTorch's, or is changed by ``_CHANGED``.

    A weight that a norm splits (``weight_v``) is not: its axes differ. Layers of users are as they are.
    """
    if isinstance(layer, (Linear, Bilinear, Embedding)):
        return name in ("weight", "bias")
    module = type(layer).__module__
    return not module.startswith("engine.incubate.") and not module.startswith("engine.quantization.")


def _recurrent(layer: Layer, path: str, theirs: str) -> Iterator[tuple[str, Source]]:
    """LSTM, GRU, SimpleRNN: PyTorch has the flat names only; those of the cells are the same parameters."""
    flat = {id(parameter): name for name, parameter in layer._parameters.items() if parameter is not None}
    for name, value in layer.state_dict(use_hook=False).items():
        own = flat.get(id(value))
        if own is not None:
            yield path + name, Source(theirs + own)


def _attention(layer: Layer, path: str, theirs: str) -> Iterator[tuple[str, Source]]:
    """q, k and v are thirds of ``in_proj_weight``, or tensors of their own where their sizes differ."""
    for third, part in enumerate(("q_proj", "k_proj", "v_proj")):
        rows = slice(third, third + 1)
        for name in _own_names(layer._sub_layers[part]):
            if name == "weight":
                source = Source(f"{theirs}in_proj_weight", rows, _transposed, f"{theirs}{part}_weight")
            else:
                source = Source(f"{theirs}in_proj_bias", rows)
            yield f"{path}{part}.{name}", source
    yield from sources(layer._sub_layers["out_proj"], f"{path}out_proj.", f"{theirs}out_proj.")
