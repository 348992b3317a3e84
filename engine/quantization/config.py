"""QuantConfig: which layers of a network are quantized, and by which quanters."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError, ConditionError
from engine.nn.layer.activation import ReLU
from engine.nn.layer.common import Linear
from engine.nn.layer.conv import Conv2D
from engine.nn.layer.layers import Layer
from engine.nn.layer.pooling import AvgPool2D
from engine.nn.quant.qat.conv import QuantedConv2D
from engine.nn.quant.qat.linear import QuantedLinear
from engine.nn.quant.stub import QuanterStub, Stub
from engine.quantization.factory import QuanterFactory
from engine.quantization.wrapper import ObserveWrapper

DEFAULT_QAT_LAYER_MAPPINGS: dict[type, type] = {
    Stub: QuanterStub,
    Linear: QuantedLinear,
    Conv2D: QuantedConv2D,
}

DEFAULT_LEAVES: list[type] = [ReLU, AvgPool2D]


class SingleLayerConfig:
    """The factories of one layer's quanters: of its input (``activation``) and of its weight, or None."""

    def __init__(self, activation: QuanterFactory | None, weight: QuanterFactory | None) -> None:
        self._activation = activation
        self._weight = weight

    @property
    def activation(self) -> QuanterFactory | None:
        return self._activation

    @property
    def weight(self) -> QuanterFactory | None:
        return self._weight

    def __str__(self) -> str:
        return f"activation: {self._activation}\nweight: {self._weight}"


class QuantConfig:
    """Which quanters each layer of a network gets: factories for inputs (``activation``) and weights.

    What is said of a layer or its name comes before what is said of its type, that before what holds for the
    layer around it, and that before ``activation`` and ``weight`` given here, which hold for all; None stands
    for no quanter. Where a layer was named twice, the last word holds.
    """

    def __init__(self, activation: QuanterFactory | None, weight: QuanterFactory | None) -> None:
        self._global_config: SingleLayerConfig | None = None
        if activation is not None or weight is not None:
            self._global_config = SingleLayerConfig(activation, weight)
        self._layer2config: dict[Layer, SingleLayerConfig] = {}
        self._prefix2config: dict[str, SingleLayerConfig] = {}
        self._type2config: dict[type, SingleLayerConfig] = {}
        self._model: Layer | None = None
        self._qat_layer_mapping = dict(DEFAULT_QAT_LAYER_MAPPINGS)
        self._customized_leaves: list[type] = []

    # -- what users say ------------------------------------------------------------------------------------
    def add_layer_config(
        self,
        layer: Layer | list[Layer],
        activation: QuanterFactory | None = None,
        weight: QuanterFactory | None = None,
    ) -> None:
        """Quanters of one layer or a list of layers, which are known again by their full names.

        Raises ArgumentError for a value that is not a layer.
        """
        for each in layer if isinstance(layer, list) else [layer]:
            if not isinstance(each, Layer):
                raise ArgumentError(
                    f"add_layer_config: takes a Layer or a list of them: got {each!r}; "
                    "name a layer of the network, e.g. net.fc"
                )
            self.add_name_config(each.full_name(), activation=activation, weight=weight)

    def add_name_config(
        self,
        layer_name: str | list[str],
        activation: QuanterFactory | None = None,
        weight: QuanterFactory | None = None,
    ) -> None:
        """Quanters of layers by full name (``net.fc.full_name()``, e.g. linear_0), or a list of names.

        Raises ArgumentError for a value that is not a string.

        Differs from Paddle: other types are refused; Paddle passes over them in silence.
        """
        for each in layer_name if isinstance(layer_name, list) else [layer_name]:
            if not isinstance(each, str):
                raise ArgumentError(
                    f"add_name_config: takes a layer's full name or a list of names: got {each!r}; "
                    "pass e.g. net.fc.full_name()"
                )
            self._prefix2config[each] = SingleLayerConfig(activation, weight)

    def add_type_config(
        self,
        layer_type: type[Layer] | list[type[Layer]],
        activation: QuanterFactory | None = None,
        weight: QuanterFactory | None = None,
    ) -> None:
        """Quanters of all layers of a type (exactly that, no subclass of it), or of a list of types.

        Raises ArgumentError for a value that is not a class of layers.

        Differs from Paddle: other types are refused; Paddle passes over them in silence.
        """
        for each in layer_type if isinstance(layer_type, list) else [layer_type]:
            if not _is_layer_type(each):
                raise ArgumentError(
                    f"add_type_config: takes a class of layers or a list of them: got {each!r}; "
                    "pass e.g. paddle.nn.Linear"
                )
            self._type2config[each] = SingleLayerConfig(activation, weight)

    def add_qat_layer_mapping(self, source: type, target: type) -> None:
        """Layers of type ``source`` are replaced by ``target(layer, config)`` when they are quantized.

        ``config`` has the factories ``activation`` and ``weight``. Raises ConditionError, an AssertionError,
        for values that are not classes of layers.
        """
        for name, each in (("source", source), ("target", target)):
            if not _is_layer_type(each):
                raise ConditionError(
                    f"add_qat_layer_mapping: The {name} layer to be placed should be a subclass of "
                    f"paddle.nn.Layer: got {each!r}; pass a class"
                )
        self._qat_layer_mapping[source] = target

    def add_customized_leaf(self, layer_type: type) -> None:
        """Layers of this type get one quanter in front of them, and nothing within is looked at."""
        self._customized_leaves.append(layer_type)

    @property
    def customized_leaves(self) -> list[type]:
        """The types given to ``add_customized_leaf``."""
        return self._customized_leaves

    @property
    def qat_layer_mappings(self) -> dict[type, type]:
        """What replaces which layer: the default ones, and own ones."""
        return self._qat_layer_mapping

    @property
    def default_qat_layer_mapping(self) -> dict[type, type]:
        """The default replacement of each layer type."""
        return DEFAULT_QAT_LAYER_MAPPINGS

    @property
    def global_config(self) -> SingleLayerConfig | None:
        """What holds for all layers of which nothing is said."""
        return self._global_config

    # -- what holds for the layers of one network ----------------------------------------------------------
    def _specify(self, model: Layer) -> None:
        """Settle what holds for each layer of ``model``."""
        self._model = model
        self._specify_below(model)

    def _specify_below(self, model: Layer) -> None:
        for child in model.children():
            config = self._layer2config.get(model, self._global_config)
            config = self._type2config.get(type(child), config)
            config = self._prefix2config.get(child.full_name(), config)
            if config is not None:
                self._layer2config[child] = config
            self._specify_below(child)

    def _get_config_by_layer(self, layer: Layer) -> SingleLayerConfig | None:
        return self._layer2config.get(layer)

    def _is_quantifiable(self, layer: Layer) -> bool:
        return layer in self._layer2config

    def _get_qat_layer(self, layer: Layer) -> Layer:
        made: Layer = self._qat_layer_mapping[type(layer)](layer, self._get_config_by_layer(layer))
        return made

    def _need_observe(self, layer: Layer) -> bool:
        config = self._get_config_by_layer(layer)
        return self._is_leaf(layer) and config is not None and config.activation is not None

    def _is_leaf(self, layer: Layer) -> bool:
        return type(layer) in (*DEFAULT_LEAVES, *self._customized_leaves) or not layer._sub_layers

    def _get_observe_wrapper(self, layer: Layer) -> ObserveWrapper:
        config = self._layer2config[layer]
        observer = None if config.activation is None else config.activation._instance(layer)
        return ObserveWrapper(observer, layer)

    # -- text ----------------------------------------------------------------------------------------------
    def details(self) -> str:
        """What holds for each layer of the network that was quantized last; before that, what was said."""
        return str(self) if self._model is None else self._details_below(self._model)

    def _details_below(self, layer: Layer) -> str:
        lines = [
            f"({name}): {self._details_below(child)}".replace("\n", "\n  ") + f", {self._layer2config[child]}"
            for name, child in layer.named_children()
            if child in self._layer2config
        ]
        within = "\n  " + "\n  ".join(lines) + "\n" if lines else ""
        return f"{type(layer).__name__}({within})"

    def __str__(self) -> str:
        said = f"Global config:\n{self._global_config}\n"
        if self._type2config:
            said += f"Layer type config:\n{self._type2config}\n"
        if self._prefix2config:
            said += f"Layer prefix config: \n{self._prefix2config}\n"
        return said


def _is_layer_type(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, Layer)
