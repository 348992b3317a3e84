"""StaticFunction: a converted function with its Programs, one for each kind of call."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from types import MethodType
from typing import Any

from engine.core import mode as modes
from engine.core import names, nest
from engine.core.errors import ArgumentError, ConversionError, ModeError
from engine.core.spec import Spec
from engine.eager.tensor import Tensor
from engine.jit.convert.convert import ConvertedFunction, convert
from engine.jit.convert.runtime_calls import noting_layers
from engine.jit.input_spec import InputSpec
from engine.jit.program_cache import ProgramCache
from engine.jit.run_program import ProgramRunner
from engine.jit.signature import Signature, as_specs, cache_key, tensors_of
from engine.jit.stored_values import attributes, stored_values
from engine.jit.tracebacks import fold
from engine.jit.tracing import alone
from engine.program.build.builder import building
from engine.program.graph.program import Program, Variable
from engine.program.graph.unknown import known_operand
from engine.program.passes.pipeline import level
from engine.tensor.inplace import replace
from engine.tensor.tensor_array import TensorArray

_binding = threading.Lock()  # held while a method's StaticFunction is made for its Layer


class Switch:
    """Whether functions are converted, in the whole process, as in Paddle.

    ``enable_to_static(False)`` makes converted functions run eagerly as written."""

    enabled = True


class ConcreteProgram:
    """The Program of a function for one kind of call: fixed structure, plain values and modes."""

    def __init__(self, function: StaticFunction, specs: dict[str, Any]) -> None:
        self.specs = function.signature.named(specs)
        self.takes_tensors_only = all(isinstance(value, InputSpec) for value in specs.values())
        self.main_program = Program()
        self.startup_program = Program()  # empty: parameters have their values already
        self.inputs: list[Variable] = []
        block = self.main_program.global_block()

        def placeholder(value: Any) -> Any:
            if not isinstance(value, InputSpec):
                return value
            made = block.create_var(
                value.name, value.to_spec(), stop_gradient=value.stop_gradient, is_data=True
            )
            made.stop_gradient = value.stop_gradient or not value.dtype.is_inexact
            self.inputs.append(made)
            return made

        arguments = {k: nest.map_structure(placeholder, v) for k, v in self.specs.items()}
        tree = _tree(function.class_instance)
        before = attributes(tree)
        with names.guard(), noting_layers() as called, building(self.main_program) as builder, \
                builder.assigning():  # fmt: skip
            self.result = function.call_converted(arguments)
            self._leaves = [known_operand(leaf) for leaf in nest.flatten(self.result)]
            self.outputs = [builder.result(value) for leaf in self._leaves for value in _parts(leaf)]
            self._stored = list(stored_values((*tree, *called.values()), builder))
            kept = [builder.result(v) for s in self._stored for leaf in s.leaves for v in _parts(leaf)]
            back = builder.handed_back()
            changed = [builder.result(value) for _, value in back]
        for stored in self._stored:
            stored.put_back(before)
        self.main_program.inputs = [v.name for v in self.inputs]
        self.main_program.outputs = [v.name for v in self.outputs if v is not None]
        self._changed = [x for x, _ in back]
        variables = [v for v in (*self.outputs, *kept, *changed) if v is not None]
        if function.trains:
            self.runner = ProgramRunner(self.main_program, self.inputs, variables)
        else:
            predicting = self.main_program.clone(for_test=True)
            twins = predicting.global_block()
            self.runner = ProgramRunner(
                predicting, [twins.var(v.name) for v in self.inputs], [twins.var(v.name) for v in variables]
            )
        own = set(map(id, tree))
        self._others = [layer for layer in called.values() if id(layer) not in own]
        self._places = self._buffer_places(tree)
        self.state = self.current_state()

    @property
    def parameters(self) -> list[Tensor]:
        """The parameters and buffers that the Program uses."""
        return [v.tensor for v in self.runner.bound]

    def current_state(self) -> tuple[Any, ...]:
        """The parameters that take gradients, and the modes of called Layers outside of the function's own.

        A Program traced in another state does not fit.
        """
        state: list[Any] = [v.tensor._edge is None for v in self.runner.bound]
        for layer in self._others:
            state += _walk_modes(layer)
        return tuple(state)

    def _buffer_places(self, layers: list[Any]) -> list[tuple[tuple[Variable, ...], dict[str, Any], str]]:
        """The Variables that stand for buffers of Layers, as traced and as run, each with the place of its
        Tensor."""
        run = self.runner.program.global_block().vars
        bound = {id(v.tensor): (v, run[v.name]) for v in self.main_program.bound()}
        return [
            (bound[id(tensor)], layer._buffers, name)
            for layer in (*layers, *(sub for other in self._others for sub in _tree(other)))
            for name, tensor in layer._buffers.items()
            if id(tensor) in bound
        ]

    @property
    def fits(self) -> bool:
        """Whether the Program still fits its function; takes over buffers that were replaced."""
        for variables, fields, name in self._places:
            tensor, variable = fields.get(name), variables[0]
            # The place holds a Variable while another thread traces a function of this Layer.
            if tensor is not variable.tensor and not modes.is_symbolic(tensor):
                if tensor is None or Spec(tensor.shape, tensor.dtype) != variable.spec:
                    return False
                for each in variables:
                    each.tensor = tensor
        return self.state == self.current_state()

    def __call__(self, tensors: list[Tensor]) -> Any:
        results = self.runner(tensors)
        if self._changed:
            self._hand_back(tensors, results[-len(self._changed) :])
        values = iter(results)
        leaves = _filled(self._leaves, values)
        for stored in self._stored:
            stored.put(_filled(stored.leaves, values))
        return nest.pack(self.result, leaves)

    def _hand_back(self, tensors: list[Tensor], results: list[Tensor]) -> None:
        """Write the values of tensors that the function changes in place into the caller's tensors."""
        place = {id(v): n for n, v in enumerate(self.inputs)}
        for x, value in zip(self._changed, results, strict=True):
            replace("to_static", x if isinstance(x, Tensor) else tensors[place[id(x)]], value)


def _filled(leaves: list[Any], results: Iterator[Any]) -> list[Any]:
    """The leaves with the values of the run in place of the Program's Variables."""
    made = []
    for leaf in leaves:
        if isinstance(leaf, TensorArray):
            made.append(leaf.elements([next(results) for _ in leaf.leaves()]))
        else:
            made.append(next(results) if isinstance(leaf, Variable | Tensor) else leaf)
    return made


class StaticFunction:
    """Calls ``function`` as a Program, which is built at the first call of each kind.

    Programs are kept by the specs of the Tensors, the values of the other arguments, and the train/eval modes
    of the Layer the function belongs to. Several threads may call it at once: one of them builds a Program,
    the others wait for it.
    """

    def __init__(self, function: Callable[..., Any], input_spec: Any = None, instance: Any = None) -> None:
        self._function = function  # without self
        self._input_spec = input_spec
        self._instance = instance
        self._bound: Callable[..., Any] = function if instance is None else MethodType(function, instance)
        self.program_cache = ProgramCache()
        self.trains = True  # whether its Programs train, or predict
        self._converted: ConvertedFunction | None = None
        self._signature: Signature | None = None
        functools.update_wrapper(self, function)

    # -- as a method -----------------------------------------------------------------------------------------
    def __get__(self, instance: Any, owner: type | None = None) -> StaticFunction:
        """The function of one Layer, with Programs of its own, kept in that Layer."""
        if instance is None:
            return self
        kept = instance.__dict__.setdefault("_static_functions", {})
        name = self._function.__qualname__
        made = kept.get(name)
        if made is None or made._function is not self._function:
            with _binding:
                made = kept.get(name)
                if made is None or made._function is not self._function:
                    made = kept[name] = StaticFunction(self._function, self._input_spec, instance)
        assert isinstance(made, StaticFunction)
        return made

    def __deepcopy__(self, memo: dict[int, Any]) -> StaticFunction:
        import copy

        instance = copy.deepcopy(self._instance, memo) if self._instance is not None else None
        return StaticFunction(self._function, self._input_spec, instance)

    @property
    def _static_function_target(self) -> Callable[..., Any]:
        """The function that code under conversion calls in place of this."""
        return self._bound

    @property
    def dygraph_function(self) -> Callable[..., Any]:
        """The original function."""
        return self._bound

    @property
    def class_instance(self) -> Any:
        """The Layer that the function is a method of, or None."""
        return self._instance

    @property
    def signature(self) -> Signature:
        if self._signature is None:
            self._signature = Signature(self._bound, self._input_spec, self._function.__qualname__)
        return self._signature

    @property
    def converted(self) -> ConvertedFunction:
        """The conversion: function, source and where it comes from. Raises ConversionError."""
        if self._converted is None:
            self._converted = convert(self._function)
        return self._converted

    @property
    def code(self) -> str:
        """The converted source, for people."""
        return self.converted.code

    def call_converted(self, arguments: dict[str, Any]) -> Any:
        """Call the converted function with arguments by name."""
        bound = self.signature.python.bind_partial()
        bound.arguments.update(arguments)
        function = self.converted.function
        if self._instance is None:
            return function(*bound.args, **bound.kwargs)
        return function(self._instance, *bound.args, **bound.kwargs)

    # -- train and eval of a function without a Layer --------------------------------------------------------
    def train(self) -> None:
        """Let later calls train. Raises ModeError for a method of a Layer."""
        self._switch("train", True)

    def eval(self) -> None:
        """Let later calls predict: without dropout, and with the running statistics of batch norms.

        Raises ModeError for a method of a Layer.
        """
        self._switch("eval", False)

    def _switch(self, mode: str, trains: bool) -> None:
        if self._instance is not None:
            raise ModeError(
                f"{self._function.__qualname__}.{mode}: is a method of {type(self._instance).__name__}; call "
                f"{mode}() of the Layer"
            )
        self.trains = trains

    # -- calling ---------------------------------------------------------------------------------------------
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not Switch.enabled:
            return self._bound(*args, **kwargs)
        if modes.is_static():  # called from a function that is being traced: becomes part of its Program
            return self.call_converted(self.signature.bind(args, kwargs))
        try:
            values = self.signature.bind(args, kwargs)
            concrete, tensors = self._concrete_for(values)
            return concrete(tensors)
        except Exception as error:
            fold(error)
            raise

    def _concrete_for(self, values: dict[str, Any]) -> tuple[ConcreteProgram, list[Tensor]]:
        specified = self.signature.specified()
        if specified is None:
            key = (cache_key(values), self._modes())
            specs: dict[str, Any] | None = None
        else:
            specs = {k: _merge(specified.get(k, v), v) for k, v in values.items()}
            key = (cache_key(specs), self._modes())
        concrete = self.program_cache.fitting(key)
        if concrete is None:
            concrete = self._traced(key, as_specs(values) if specs is None else specs)
        if specified is None and concrete.takes_tensors_only:
            tensors = list(values.values())  # with the shapes and dtypes of the key
            for tensor in tensors:
                if not isinstance(tensor, Tensor):
                    break
            else:
                return concrete, tensors
        return concrete, tensors_of(self._function.__qualname__, values, concrete.specs)

    def _traced(self, key: Any, specs: dict[str, Any]) -> ConcreteProgram:
        with alone(_tree(self._instance) or [self]):
            made = self.program_cache.fitting(key)  # another thread may have built it meanwhile
            if made is None:
                made = ConcreteProgram(self, specs)
                self.program_cache.add(key, made)
        return made

    def _modes(self) -> tuple[Any, ...]:
        """What else the trace depends on: the level of passes, train/eval modes, the Layers of the tree."""
        layer = self._instance
        if layer is None or not hasattr(layer, "_sub_layers"):
            return (level.get(), self.trains)
        return (level.get(), *_walk_modes(layer))

    def concrete_program_specify_input_spec(self, input_spec: Any = None) -> ConcreteProgram:
        """The Program for ``input_spec`` (the function's own by default), for saving.

        Raises ArgumentError where neither an input_spec nor an earlier call gives the inputs.
        """
        if input_spec is not None:
            return StaticFunction(self._function, input_spec, self._instance)._from_spec()
        if self._input_spec is not None:
            return self._from_spec()
        fitting = self.program_cache.in_mode(self._modes())
        if not fitting:
            if not self.signature.python.parameters:
                return self._from_spec([])
            raise ArgumentError(
                f"{self._function.__qualname__}: its inputs are unknown; pass "
                "input_spec=[InputSpec(...)] to jit.save or to_static, or call it once in this mode before"
            )
        if len(fitting) > 1:
            shapes = "; ".join(str([list(v.shape) for v in c.inputs]) for c in fitting)
            raise ArgumentError(
                f"{self._function.__qualname__}: it was called in {len(fitting)} ways (shapes {shapes}); "
                "pass input_spec=[InputSpec(...)] to say which to use"
            )
        return fitting[0]

    def _from_spec(self, input_spec: Any = None) -> ConcreteProgram:
        specified = self.signature.specified() if input_spec is None else {}
        assert specified is not None
        key = (cache_key(specified), self._modes())
        return self.program_cache.fitting(key) or self._traced(key, specified)

    @property
    def concrete_program(self) -> ConcreteProgram:
        """The Program of the function's input_spec, or of its one earlier call."""
        return self.concrete_program_specify_input_spec()

    @property
    def main_program(self) -> Program:
        return self.concrete_program.main_program

    @property
    def inputs(self) -> list[Variable]:
        return self.concrete_program.inputs

    @property
    def outputs(self) -> list[Any]:
        return self.concrete_program.outputs

    def get_concrete_program(self, *args: Any, **kwargs: Any) -> tuple[ConcreteProgram, ProgramRunner]:
        """The Program for a call with these arguments (Tensors or InputSpecs), and its runner."""
        values = self.signature.bind(args, kwargs)
        if any(isinstance(leaf, InputSpec) for leaf in nest.flatten(values)):
            key = (cache_key(values), self._modes())
            concrete = self.program_cache.fitting(key) or self._traced(key, values)
        else:
            concrete, _ = self._concrete_for(values)
        return concrete, concrete.runner

    def rollback(self) -> Callable[..., Any]:
        """Put the original function back into its Layer and return it."""
        layer = self._instance
        name = self._function.__name__
        if layer is not None and layer.__dict__.get(name) is self:
            del layer.__dict__[name]
        return self._bound


def _parts(leaf: Any) -> list[Any]:
    """The values of the Program that a leaf of the result consists of."""
    return leaf.leaves() if isinstance(leaf, TensorArray) else [leaf]


def _merge(spec: Any, value: Any) -> Any:
    """The InputSpecs of an argument; where the spec is a plain value (a default), the call's value counts."""
    leaves = nest.flatten(spec)
    if any(isinstance(s, InputSpec) for s in leaves):
        return spec
    if any(isinstance(v, Tensor) for v in nest.flatten(value)):
        return as_specs({"value": value})["value"]
    return value


def _tree(layer: Any) -> list[Any]:
    return layer.sublayers(include_self=True) if hasattr(layer, "_sub_layers") else []


def _walk_modes(layer: Any) -> Iterator[Any]:
    yield layer.training
    for parameter in layer._parameters.values():
        yield id(parameter)
    for child in layer._sub_layers.values():
        if child is not None:
            yield from _walk_modes(child)


def require_function(function: Any) -> Callable[..., Any]:
    """Return ``function`` itself. Raises ConversionError for a value that is not a Python function."""
    if not callable(function):
        raise ConversionError(
            f"to_static: takes a function, a method or a Layer: got {type(function).__name__}"
        )
    checked: Callable[..., Any] = function
    return checked
