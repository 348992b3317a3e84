"""Layer: a named tree of parameters, buffers and sublayers with a forward."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from engine.core import layer_calls, names
from engine.core import mode as modes
from engine.core.errors import ArgumentError, DTypeError, EngineError, ModeError
from engine.core.place import PlaceLike
from engine.core.spans import watch
from engine.core.values.dtype import DType, as_dtype
from engine.eager.backward import clear_gradient
from engine.eager.tensor import Parameter, Tensor
from engine.nn.initializer.base import Initializer
from engine.nn.layer.base import state as states
from engine.nn.layer.base import transform as transforms
from engine.nn.layer.base.hooks import HookRemoveHelper, Hooks, call_around
from engine.nn.layer.base.naming import check_name, layer_text, snake_case
from engine.nn.layer.base.parameters import make_parameter
from engine.nn.param_attr import AttrLike
from engine.program.build.builder import current_builder
from engine.program.graph.variable import Parameter as StaticParameter
from engine.tensor.tensor_like import DTypeLike, ShapeLike

_PARAMETERS = (Parameter, StaticParameter)


class Layer:
    """Base of layers and models: sublayers and parameters in ``__init__``, the computation in ``forward``.

    ``name_scope`` replaces the snake-case class name in parameter names (``linear_0.w_0``). ``training`` says
    which of its two ways a layer like Dropout goes; ``train()`` and ``eval()`` set it for the whole tree.
    """

    training: bool
    _full_name: str
    _dtype: str | DType
    _built: bool
    _around: Callable[..., Any] | None = None  # what calls forward in place of a plain call, as recompute
    _forward_pre_hooks: Hooks
    _forward_post_hooks: Hooks
    _state_dict_hooks: Hooks
    _non_persistable_buffer_names_set: set[str]
    _parameters: OrderedDict[str, Parameter | None]
    _buffers: OrderedDict[str, Tensor | None]
    _sub_layers: OrderedDict[str, Any]  # a Layer, or None where the place is empty

    def __init__(self, name_scope: str | None = None, dtype: DTypeLike = "float32") -> None:
        fields = self.__dict__
        fields["training"] = True
        fields["_full_name"] = names.generate(name_scope or snake_case(type(self).__name__))
        fields["_dtype"] = dtype if isinstance(dtype, str) else as_dtype(dtype).name
        fields["_built"] = False
        fields["_parameters"] = OrderedDict()
        fields["_buffers"] = OrderedDict()
        fields["_non_persistable_buffer_names_set"] = set()
        fields["_sub_layers"] = OrderedDict()
        fields["_forward_pre_hooks"] = Hooks()
        fields["_forward_post_hooks"] = Hooks()
        fields["_state_dict_hooks"] = Hooks()

    # -- calling -------------------------------------------------------------------------------------------
    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """The computation; every Layer defines its own."""
        raise ModeError(
            f"{type(self).__name__}: has no forward; define forward(self, ...) in the class, it is what a "
            "call runs"
        )

    def __call__(self, *inputs: Any, **kwargs: Any) -> Any:
        if watch.layers:
            return self._observed_call(inputs, kwargs)
        try:
            if (
                self._forward_pre_hooks
                or self._forward_post_hooks
                or not self._built
                or self._around is not None
            ):
                return call_around(self, self.forward, inputs, kwargs)
            return self.forward(*inputs, **kwargs)
        except EngineError as error:
            self._say_where(error)
            raise

    def _observed_call(self, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call that is recorded as a span, or whose operators get its path."""
        with watch.span("Forward", type(self).__name__), layer_calls.calling(self):
            try:
                return call_around(self, self.forward, inputs, kwargs)
            except EngineError as error:
                self._say_where(error)
                raise

    def _call_converted(
        self, form: Callable[[Any], Any], forward: Any, /, *inputs: Any, **kwargs: Any
    ) -> Any:
        """A call that is traced: with the converted ``forward``, and what ``form`` makes of each hook."""
        with layer_calls.calling(self):
            try:
                return call_around(self, forward, inputs, kwargs, form)
            except EngineError as error:
                self._say_where(error)
                raise

    def _say_where(self, error: EngineError) -> None:
        if not hasattr(error, "__notes__"):  # the innermost layer says it
            try:
                options = self.extra_repr()
            except Exception:  # the layer may lack what it prints, as Linear(weight_attr=False) does
                options = "..."
            error.add_note(f"in layer {self._full_name}: {type(self).__name__}({options})")

    def _build_once(self, *inputs: Any, **kwargs: Any) -> None:
        """Called before the first forward, for layers that see their input's shape only then."""

    def backward(self, *inputs: Any) -> None:
        """Layers have no backward of their own: gradients come from the operators in ``forward``."""
        raise ModeError(
            f"{type(self).__name__}: a Layer has no backward; call backward() on the loss, gradients follow "
            "forward"
        )

    def register_forward_pre_hook(self, hook: Callable[..., Any]) -> HookRemoveHelper:
        """Call ``hook(layer, inputs)`` before each forward; what it returns replaces the inputs."""
        return self._forward_pre_hooks.register(hook)

    def register_forward_post_hook(self, hook: Callable[..., Any]) -> HookRemoveHelper:
        """Call ``hook(layer, inputs, outputs)`` after each forward; what it returns replaces the outputs."""
        return self._forward_post_hooks.register(hook)

    # -- making parameters and tensors ---------------------------------------------------------------------
    def create_parameter(
        self,
        shape: ShapeLike,
        attr: AttrLike = None,
        dtype: DTypeLike | None = None,
        is_bias: bool = False,
        default_initializer: Initializer | None = None,
    ) -> Parameter | None:
        """A parameter with its first values, not yet part of the layer (assign it to an attribute for that).

        ``attr`` is a ParamAttr, a name, an initializer, or False for no parameter (the result is None then).
        Without an initializer weights get XavierUniform and biases 0. Raises ShapeError for dimensions below
        1.
        """
        name = self._full_name
        made: Parameter | None = make_parameter(name, shape, attr, dtype, is_bias, default_initializer)
        return made

    def create_tensor(
        self, name: str | None = None, persistable: bool | None = None, dtype: DTypeLike | None = None
    ) -> Tensor:
        """An empty Tensor named after the layer, to be filled with set_value or assigned to."""
        full = f"{self._full_name}.{name}" if name else names.generate(f"{self._full_name}._generated_var")
        made = Tensor(np.zeros((0,), as_dtype(dtype or self._dtype).np), name=full)
        made.persistable = bool(persistable)
        return made

    create_variable = create_tensor

    # -- the tree ------------------------------------------------------------------------------------------
    def add_parameter(self, name: str, parameter: Parameter | None) -> Parameter | None:
        """Make ``parameter`` part of the layer under ``name``; returns it."""
        check_name("add_parameter", "parameter", name, self, self._parameters)
        if parameter is not None and not isinstance(parameter, _PARAMETERS):
            raise DTypeError(
                f"add_parameter: {name!r} must be a Parameter or None: got {type(parameter).__name__}; "
                "make one with create_parameter()"
            )
        self._parameters[name] = parameter
        return parameter

    def add_sublayer(self, name: str, sublayer: Layer | None) -> Layer | None:
        """Make ``sublayer`` part of the layer under ``name``; returns it."""
        if sublayer is not None and not isinstance(sublayer, Layer):
            raise DTypeError(
                f"add_sublayer: {name!r} must be a Layer or None: got {type(sublayer).__name__}"
                f"{'; pass an instance, not the class' if isinstance(sublayer, type) else ''}"
            )
        self._sub_layers[str(name)] = sublayer
        return sublayer

    def register_buffer(self, name: str, tensor: Tensor | None, persistable: bool = True) -> None:
        """Make ``tensor`` part of the layer without training it; in the state dict if ``persistable``."""
        check_name("register_buffer", "buffer", name, self, self._buffers)
        if tensor is not None and (not isinstance(tensor, Tensor) or isinstance(tensor, Parameter)):
            raise DTypeError(
                f"register_buffer: {name!r} must be a Tensor: got {type(tensor).__name__}; use to_tensor()"
            )
        self._buffers[name] = tensor
        if persistable:
            self._non_persistable_buffer_names_set.discard(name)
        else:
            self._non_persistable_buffer_names_set.add(name)

    def named_sublayers(
        self, prefix: str = "", include_self: bool = False, layers_set: set[Layer] | None = None
    ) -> Iterator[tuple[str, Layer]]:
        """All layers below with their dotted names, each once, parents first."""
        seen = set() if layers_set is None else layers_set
        if self in seen and include_self:
            return
        if include_self:
            seen.add(self)
            yield prefix, self
        for name, layer in self._sub_layers.items():
            if layer is not None:
                yield from layer.named_sublayers(
                    f"{prefix}.{name}" if prefix else name, include_self=True, layers_set=seen
                )

    def sublayers(self, include_self: bool = False) -> list[Layer]:
        return [layer for _, layer in self.named_sublayers(include_self=include_self)]

    def named_children(self) -> Iterator[tuple[str, Layer]]:
        """The layers directly below, each once."""
        seen: set[Layer] = set()
        for name, layer in self._sub_layers.items():
            if layer is not None and layer not in seen:
                seen.add(layer)
                yield name, layer

    def children(self) -> Iterator[Layer]:
        for _, layer in self.named_children():
            yield layer

    def named_parameters(
        self, prefix: str = "", include_sublayers: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """All parameters with their dotted names, each once."""
        yield from self._named("_parameters", prefix, include_sublayers)

    def parameters(self, include_sublayers: bool = True) -> list[Parameter]:
        return [p for _, p in self.named_parameters(include_sublayers=include_sublayers)]

    def named_buffers(self, prefix: str = "", include_sublayers: bool = True) -> Iterator[tuple[str, Tensor]]:
        """All buffers with their dotted names, each once."""
        yield from self._named("_buffers", prefix, include_sublayers)

    def buffers(self, include_sublayers: bool = True) -> list[Tensor]:
        return [b for _, b in self.named_buffers(include_sublayers=include_sublayers)]

    def _named(self, field: str, prefix: str, include_sublayers: bool) -> Iterator[tuple[str, Any]]:
        seen = set()
        layers = self.named_sublayers(prefix, include_self=True) if include_sublayers else [(prefix, self)]
        for layer_prefix, layer in layers:
            for name, value in layer.__dict__[field].items():
                if value is not None and id(value) not in seen:
                    seen.add(id(value))
                    yield (f"{layer_prefix}.{name}" if layer_prefix else name), value

    def apply(self, fn: Callable[[Layer], Any]) -> Layer:
        """Call ``fn`` on every layer of the tree, children first; returns self."""
        for layer in self.children():
            layer.apply(fn)
        fn(self)
        return self

    # -- modes, gradients, dtype ---------------------------------------------------------------------------
    def train(self) -> None:
        """Training mode for this layer and all below."""
        for layer in self.sublayers(include_self=True):
            layer.training = True

    def eval(self) -> None:
        """Evaluation mode for this layer and all below."""
        for layer in self.sublayers(include_self=True):
            layer.training = False

    def clear_gradients(self) -> None:
        """Set the gradients of all parameters to zero."""
        for parameter in self.parameters():
            clear_gradient(parameter)

    def to(
        self, device: PlaceLike | None = None, dtype: DTypeLike | None = None, blocking: bool | None = None
    ) -> Layer:
        """Move all parameters and buffers to a device or dtype, in place; returns self."""
        if blocking is not None and not isinstance(blocking, bool):
            raise ArgumentError(f"to: blocking is True, False or None: got {blocking!r}")
        return transforms.transform(self, dtype, device)

    def astype(self, dtype: DTypeLike | None = None) -> Layer:
        """Cast all parameters and buffers, in place; returns self."""
        if dtype is None:
            raise ArgumentError("astype: got no dtype; pass e.g. 'float64'")
        return transforms.transform(self, as_dtype(dtype))

    def float(self, excluded_layers: transforms.Classes | None = None) -> Layer:
        """Cast floating parameters and buffers to float32, in place; returns self."""
        return transforms.to_floating(self, "float32", [] if excluded_layers is None else excluded_layers)

    def float16(self, excluded_layers: transforms.Classes | None = None) -> Layer:
        """Cast floating parameters and buffers to float16, batch norms excluded by default; returns self.

        On the CPU they keep their dtypes, with a warning, as in Paddle; ``to`` and ``astype`` cast there too.
        """
        return transforms.to_half(self, "float16", excluded_layers)

    def bfloat16(self, excluded_layers: transforms.Classes | None = None) -> Layer:
        """Cast floating parameters and buffers to bfloat16, as ``float16`` does."""
        return transforms.to_half(self, "bfloat16", excluded_layers)

    # -- state ---------------------------------------------------------------------------------------------
    def state_dict(
        self,
        destination: dict[str, Any] | None = None,
        include_sublayers: bool = True,
        structured_name_prefix: str = "",
        use_hook: bool = True,
    ) -> dict[str, Any]:
        """Parameters and persistable buffers by dotted name: the live Tensors, not copies."""
        return states.collect(self, destination, include_sublayers, structured_name_prefix, use_hook=use_hook)

    def to_static_state_dict(
        self,
        destination: dict[str, Any] | None = None,
        include_sublayers: bool = True,
        structured_name_prefix: str = "",
        use_hook: bool = True,
    ) -> dict[str, Any]:
        """Like ``state_dict``, with the buffers that are not persistable too."""
        return states.collect(
            self, destination, include_sublayers, structured_name_prefix, use_hook=use_hook, every_buffer=True
        )

    def set_state_dict(
        self, state_dict: Mapping[str, Any], use_structured_name: bool = True
    ) -> tuple[list[str], list[str]]:
        """Set parameters and buffers in place; returns the missing and the unexpected keys.

        With ``use_structured_name=False`` the keys are parameter names (``linear_0.w_0``). What is absent or
        has another shape is left as it is, with a warning.
        """
        return states.assign(self, state_dict, use_structured_name)

    set_dict = load_dict = set_state_dict

    def register_state_dict_hook(self, hook: Callable[..., Any]) -> HookRemoveHelper:
        """Call ``hook(state)`` when a state dict is collected; what it returns replaces the dict."""
        return self._state_dict_hooks.register(hook)

    # -- attributes ----------------------------------------------------------------------------------------
    def __getattr__(self, name: str) -> Any:
        # Called only where ordinary lookup found nothing.
        fields = self.__dict__
        if "_state_dict_hooks" in fields:
            if name in (found := fields["_parameters"]) or name in (found := fields["_sub_layers"]):
                return found[name]
            if name in (found := fields["_buffers"]):
                return found[name]
        # Once more the ordinary way, for the error it gives (that of a property's own body, too).
        return object.__getattribute__(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        fields = self.__dict__
        if isinstance(getattr(type(self), name, None), property):
            object.__setattr__(self, name, value)
            return
        target = (
            "_parameters"
            if isinstance(value, _PARAMETERS)
            else "_sub_layers"
            if isinstance(value, Layer)
            else "_buffers"
            if isinstance(value, Tensor)
            else None
        )
        if target is None:
            self._set_other(name, value)
            return
        if target not in fields:
            raise ArgumentError(
                f"{type(self).__name__}: {name!r} was assigned before super().__init__() ran; call that first"
            )
        if target == "_buffers":
            if name in fields["_parameters"]:
                raise DTypeError(
                    f"{type(self).__name__}: {name!r} is a parameter: got a plain Tensor; assign a "
                    "Parameter, or change its values with set_value()"
                )
            if name not in fields["_buffers"]:
                self._non_persistable_buffer_names_set.add(name)
        for other in ("_parameters", "_buffers", "_sub_layers"):
            if other != target:
                fields[other].pop(name, None)
        fields.pop(name, None)
        fields[target][name] = value

    def _set_other(self, name: str, value: Any) -> None:
        """Assign a value of any other class: None empties a place, a Variable fills a buffer."""
        fields = self.__dict__
        for field, wanted in (("_parameters", "Parameter"), ("_sub_layers", "Layer"), ("_buffers", "Tensor")):
            known = fields.get(field)
            if known is None or name not in known:
                continue
            builder = current_builder()
            if field == "_buffers" and builder is not None and (value is None or modes.is_symbolic(value)):
                builder.assign(known, name, value)
            elif value is None:
                known[name] = None
            else:
                raise DTypeError(
                    f"{type(self).__name__}: {name!r} is one of its {field.strip('_')}: got "
                    f"{type(value).__name__}; assign a {wanted} or None"
                )
            return
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        for field in ("_parameters", "_sub_layers", "_buffers"):
            if name in self.__dict__[field]:
                del self.__dict__[field][name]
                self._non_persistable_buffer_names_set.discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._parameters, *self._sub_layers, *self._buffers]

    # -- text ----------------------------------------------------------------------------------------------
    def full_name(self) -> str:
        """The name that parameter names begin with, e.g. ``linear_0``."""
        return self._full_name

    def extra_repr(self) -> str:
        """What stands between the parentheses of the layer's line."""
        return ""

    def __repr__(self) -> str:
        return layer_text(self)
