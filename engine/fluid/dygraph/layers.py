"""``fluid.dygraph.Layer``: names, state and modes as in versions 1.5 and 1.6, and the later form.

A Layer made with a ``name_scope`` is one of 1.5: its parameters are called ``<full name>.w_0``, its state has
their names as keys, and parameters that a later ``_build_once`` makes take the values that ``load_dict``
was given. Without ``name_scope`` it is a Layer of 1.7 and later, the same as ``paddle.nn.Layer``.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from copy import copy
from typing import Any

import numpy as np

from engine.core import names
from engine.core.errors import ArgumentError
from engine.core.values.dtype import as_dtype
from engine.eager.tensor import Parameter
from engine.fluid.dygraph import parallel_helper
from engine.fluid.dygraph import tracer as tracers
from engine.nn.layer import layers as modern
from engine.nn.param_attr import ParamAttr
from engine.program.build.builder import current_builder


class Layer(modern.Layer):
    """Base of networks: sublayers in ``__init__`` (or at the first call, in ``_build_once``), ``forward``."""

    def __init__(self, name_scope: str | None = None, dtype: Any = "float32") -> None:
        super().__init__(name_scope, dtype)
        fields = self.__dict__
        fields["_scoped"] = name_scope is not None
        fields["_to_load"] = {}  # values for parameters that are made later
        if name_scope is not None:
            fields["_full_name"] = names.generate(f"{name_scope}/{type(self).__name__}")

    # -- calling -------------------------------------------------------------------------------------------
    def __call__(self, *inputs: Any, **kwargs: Any) -> Any:
        if not self._built:
            self._build_once(*inputs, **kwargs)
            self.__dict__["_built"] = True
            parallel_helper._broadcast_parameters(self._parameters.values())
        return super().__call__(*inputs, **kwargs)

    # -- making parameters ---------------------------------------------------------------------------------
    def create_parameter(  # type: ignore[override]
        self, *args: Any, **kwargs: Any
    ) -> Any:
        """``create_parameter(attr, shape, dtype, is_bias=False, default_initializer=None)`` as in 1.5.

        From 1.7 on the shape comes first: ``create_parameter(shape, attr=None, dtype=None, ...)``. Which one
        is meant is seen from the first argument.
        """
        given = dict(zip(_order(args), args, strict=False), **kwargs)
        if len(given) < len(args) + len(kwargs):
            raise ArgumentError(f"create_parameter: an argument is given twice: {args!r}, {kwargs!r}")
        attr = given.pop("attr", None)
        if self._scoped and attr is not False:
            attr = self._in_scope(attr)
        made = super().create_parameter(
            given.pop("shape"), attr, given.pop("dtype", None) or self._dtype, **given
        )
        tracer = tracers.current()
        if tracer is not None and made is not None:
            tracer.add_parameter(made)
        return made

    @property
    def _helper(self) -> Any:
        """What a Layer of a script's own asks for activations, parameters and operators."""
        from engine.fluid.layer_helper import LayerHelper

        return LayerHelper(self.full_name(), owner=self)

    def _in_scope(self, attr: Any) -> ParamAttr:
        """The attributes, a name of theirs in this layer's scope: "x" gives ``<full name>.x``."""
        found = copy(ParamAttr._to_attr(attr))
        if found.name is not None:
            found.name = f"{self._full_name}.{found.name}"
        return found

    def create_variable(
        self, name: str | None = None, persistable: bool | None = None, dtype: Any = None, type: Any = None
    ) -> Any:
        """A Variable named after the layer, empty at first; in static mode one of the Program.

        ``type`` is not used.
        """
        builder = current_builder()
        if builder is not None and builder.startup is not None and not persistable:
            made = builder.program.unique_name(f"{self.full_name()}.tmp") if name is None else name
            return builder.block.create_var(made, dtype=dtype or self._dtype)
        return self.create_tensor(name, persistable, dtype)

    # -- the tree ------------------------------------------------------------------------------------------
    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if isinstance(value, Parameter):
            self._take_loaded(value)

    def add_parameter(self, name: str, parameter: Any) -> Any:
        """Add ``parameter`` under ``name``; it takes a value that ``load_dict`` has for it."""
        added = super().add_parameter(name, parameter)
        if isinstance(added, Parameter):
            self._take_loaded(added)
        return added

    def sublayers(self, include_sublayers: bool = True, include_self: bool = False) -> list[Any]:
        """All layers below this one; with ``include_sublayers=False`` only its own."""
        found = self.named_sublayers(include_self=include_self, include_sublayers=include_sublayers)
        return [layer for _, layer in found]

    def named_sublayers(
        self,
        prefix: str = "",
        include_sublayers: bool = True,
        include_self: bool = False,
        layers_set: set[Any] | None = None,
    ) -> Iterator[tuple[str, Any]]:
        """All layers below with their dotted names, each once; with ``include_sublayers=False`` its own."""
        if include_sublayers:
            yield from super().named_sublayers(prefix, include_self, layers_set)
            return
        if include_self:
            yield prefix, self
        for name, layer in self.named_children():
            yield f"{prefix}.{name}" if prefix else name, layer

    # -- modes ---------------------------------------------------------------------------------------------
    def train(self) -> None:
        """Training mode: of the whole guard for a Layer with a ``name_scope``, else of this tree."""
        super().train()
        tracer = tracers.current()
        if tracer is not None and self._scoped:
            tracer.train_mode()

    def eval(self) -> None:
        """Evaluation mode: of the whole guard for a Layer with a ``name_scope``, else of this tree.

        A guard in evaluation mode records nothing for backward.
        """
        super().eval()
        tracer = tracers.current()
        if tracer is not None and self._scoped:
            tracer.eval_mode()

    # -- state ---------------------------------------------------------------------------------------------
    def state_dict(
        self,
        destination: dict[str, Any] | None = None,
        include_sublayers: bool = True,
        *args: Any,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """The live parameters: by their names for a Layer with a ``name_scope``, else by attribute paths."""
        if not self._scoped:
            return super().state_dict(destination, include_sublayers, *args, **kwargs)
        found = OrderedDict() if destination is None else destination
        found.update((each.name, each) for each in self.parameters(include_sublayers))
        return found

    def load_dict(self, stat_dict: Mapping[str, Any], include_sublayers: bool = True) -> Any:
        """Set the parameters to the values that ``stat_dict`` has under their names.

        Parameters that are made at the first call take their values then. Names that no parameter has are
        passed over, as in 1.5. Without a ``name_scope`` this is ``set_state_dict``. Raises ShapeError for a
        value of another shape.
        """
        if not self._scoped:
            return self.set_state_dict(dict(stat_dict))
        layers = self.sublayers(include_self=True) if include_sublayers else [self]
        for layer in layers:
            if isinstance(layer, Layer):
                layer.__dict__["_to_load"] = stat_dict
        for parameter in self.parameters(include_sublayers):
            _set(parameter, stat_dict)
        return None

    set_dict = load_dict

    def _take_loaded(self, parameter: Parameter) -> None:
        waiting = self.__dict__.get("_to_load")
        if waiting:
            _set(parameter, waiting)


def _order(args: tuple[Any, ...]) -> tuple[str, ...]:
    shape_first = bool(args) and isinstance(args[0], (list, tuple, np.ndarray))
    leading = ("shape", "attr") if shape_first else ("attr", "shape")
    return (*leading, "dtype", "is_bias", "default_initializer")


def _set(parameter: Any, values: Mapping[str, Any]) -> None:
    if parameter.name in values:
        value = values[parameter.name]
        array = value.numpy() if hasattr(value, "numpy") else np.asarray(value)
        parameter.set_value(array.astype(as_dtype(parameter.dtype).np, copy=False))
