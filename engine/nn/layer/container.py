"""Layers that hold others: Sequential, LayerList, LayerDict, ParameterList."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, Sequence, ValuesView
from typing import Any, TypeAlias

from engine.core.errors import ArgumentError, DTypeError, OutOfRangeError
from engine.eager.tensor import Parameter
from engine.nn.layer.layers import Layer
from engine.tensor.tensor_like import AnyTensor


def _position(where: str, index: int, count: int) -> int:
    """``index`` from the front. Raises OutOfRangeError outside."""
    if not -count <= index < count:
        raise OutOfRangeError(
            f"{where}: index {index} is out of range: it has {count}; use {-count} to {count - 1}"
        )
    return index + count if index < 0 else index


class Sequential(Layer):
    """Calls its layers one after the other. Takes layers, or pairs of a name and a layer."""

    def __init__(self, *layers: Any) -> None:
        super().__init__()
        named = bool(layers) and isinstance(layers[0], (list, tuple))
        for number, item in enumerate(layers):
            if named and (not isinstance(item, (list, tuple)) or len(item) != 2):
                raise ArgumentError(
                    f"Sequential: item {number} must be a pair of a name and a layer: got {item!r}"
                )
            name, layer = item if named else (str(number), item)
            self.add_sublayer(name, layer)

    def __getitem__(self, name: int | slice | str) -> Any:
        if isinstance(name, slice):
            return self.__class__(*list(self._sub_layers.values())[name])
        if isinstance(name, str):
            return self._sub_layers[name]
        return list(self._sub_layers.values())[_position("Sequential", name, len(self))]

    def __setitem__(self, name: int | str, layer: Layer) -> None:
        if not isinstance(layer, Layer):
            raise DTypeError(f"Sequential: {name!r} must be a Layer: got {type(layer).__name__}")
        setattr(self, str(name), layer)

    def __delitem__(self, name: int | str) -> None:
        if str(name) not in self._sub_layers:
            raise OutOfRangeError(f"Sequential: no layer {name!r}: it has {list(self._sub_layers)}")
        del self._sub_layers[str(name)]

    def __len__(self) -> int:
        return len(self._sub_layers)

    def forward(self, input: AnyTensor) -> Any:
        for layer in self._sub_layers.values():
            input = layer(input)
        return input


class LayerList(Layer):
    """A list of layers whose parameters belong to it."""

    def __init__(self, sublayers: Iterable[Layer] | None = None) -> None:
        super().__init__()
        self.extend(() if sublayers is None else sublayers)

    def __getitem__(self, idx: int | slice) -> Any:
        if isinstance(idx, slice):
            return self.__class__(list(self._sub_layers.values())[idx])
        return self._sub_layers[str(_position("LayerList", idx, len(self)))]

    def __setitem__(self, idx: int, sublayer: Layer) -> None:
        setattr(self, str(_position("LayerList", idx, len(self))), sublayer)

    def __delitem__(self, idx: int | slice) -> None:
        layers = list(self._sub_layers.values())
        del layers[idx if isinstance(idx, slice) else _position("LayerList", idx, len(self))]
        self._refill(layers)

    def __len__(self) -> int:
        return len(self._sub_layers)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._sub_layers.values())

    def _refill(self, layers: list[Any]) -> None:
        self._sub_layers = OrderedDict((str(n), layer) for n, layer in enumerate(layers))

    def append(self, sublayer: Layer) -> LayerList:
        """Put ``sublayer`` at the end; returns self."""
        self.add_sublayer(str(len(self)), sublayer)
        return self

    def insert(self, index: int, sublayer: Layer) -> None:
        """Put ``sublayer`` before position ``index``."""
        if not isinstance(sublayer, Layer):
            raise DTypeError(f"LayerList: takes layers: got {type(sublayer).__name__}")
        layers = list(self._sub_layers.values())
        layers.insert(_position("LayerList", index, len(self)), sublayer)
        self._refill(layers)

    def extend(self, sublayers: Iterable[Layer]) -> LayerList:
        """Put ``sublayers`` at the end; returns self."""
        for layer in sublayers:
            self.append(layer)
        return self


class LayerDict(Layer):
    """A dict of layers whose parameters belong to it. Takes a mapping or pairs."""

    def __init__(self, sublayers: NamedLayers | None = None) -> None:
        super().__init__()
        if sublayers is not None:
            self.update(sublayers)

    def __getitem__(self, key: str) -> Any:
        return self._sub_layers[key]

    def __setitem__(self, key: str, sublayer: Layer) -> None:
        self.add_sublayer(key, sublayer)

    def __delitem__(self, key: str) -> None:
        del self._sub_layers[key]

    def __len__(self) -> int:
        return len(self._sub_layers)

    def __iter__(self) -> Iterator[str]:
        return iter(self._sub_layers)

    def __contains__(self, key: object) -> bool:
        return key in self._sub_layers

    def clear(self) -> None:
        self._sub_layers.clear()

    def pop(self, key: str) -> Any:
        """Remove the layer ``key`` and return it."""
        return self._sub_layers.pop(key)

    def keys(self) -> KeysView[str]:
        return self._sub_layers.keys()

    def items(self) -> ItemsView[str, Any]:
        return self._sub_layers.items()

    def values(self) -> ValuesView[Any]:
        return self._sub_layers.values()

    def update(self, sublayers: NamedLayers) -> None:
        """Add the layers of a mapping or of pairs, replacing those of the same names."""
        pairs: Any = sublayers.items() if isinstance(sublayers, (Mapping, LayerDict)) else sublayers
        if not isinstance(pairs, Iterable):
            raise DTypeError(
                f"LayerDict: takes a mapping or pairs of a name and a layer: got {type(pairs).__name__}"
            )
        for number, pair in enumerate(pairs):
            if len(pair) != 2:
                raise ArgumentError(
                    f"LayerDict: item {number} must be a name and a layer: got {len(pair)} things"
                )
            self.add_sublayer(*pair)


# Layers by name, or pairs of a name and a layer.
NamedLayers: TypeAlias = Mapping[str, Layer | None] | LayerDict | Iterable[Sequence[Any]]


class ParameterList(Layer):
    """A list of parameters that belong to it."""

    def __init__(self, parameters: Iterable[Parameter] | None = None) -> None:
        super().__init__()
        for parameter in () if parameters is None else parameters:
            self.append(parameter)

    def __getitem__(self, idx: int) -> Any:
        return self._parameters[str(_position("ParameterList", idx, len(self)))]

    def __setitem__(self, idx: int, param: Parameter) -> None:
        if not isinstance(param, Parameter):
            raise DTypeError(
                f"ParameterList: takes parameters: got {type(param).__name__}; see create_parameter()"
            )
        setattr(self, str(_position("ParameterList", idx, len(self))), param)

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._parameters.values())

    def append(self, parameter: Parameter) -> ParameterList:
        """Put ``parameter`` at the end; returns self."""
        self.add_parameter(str(len(self)), parameter)
        return self
