"""StaticFunction: a converted function with its Programs, one for each kind of call."""

from __future__ import annotations

import copy
import functools
import threading
from collections.abc import Callable, Sequence
from types import MethodType
from typing import Any

from engine.core import mode as modes
from engine.core.containers import nest
from engine.core.containers.lru import LRU
from engine.core.errors import ArgumentError, ConversionError, DTypeError, ModeError, ShapeError
from engine.core.strictness import tolerate
from engine.eager.tensor import Tensor
from engine.jit.concrete_program import ConcreteProgram, tree_of, walk_modes
from engine.jit.convert.convert import ConvertedFunction, convert
from engine.jit.convert.runtime.attempt import attempting, reason
from engine.jit.convert.runtime.calls import call
from engine.jit.convert.runtime.changing_calls import ChangingError
from engine.jit.input_spec import InputSpec
from engine.jit.program_cache import ProgramCache
from engine.jit.run_program import ProgramRunner
from engine.jit.signature import Signature, as_specs, cache_key, merged, tensors_of
from engine.jit.switch import Switch
from engine.jit.tracebacks import fold
from engine.jit.tracing import alone
from engine.nn import Layer
from engine.program.build.builder import current_builder
from engine.program.graph.program import Program, Variable
from engine.program.graph.variable import Parameter as StaticParameter
from engine.program.passes.pipeline import level

# Traces that change what they read of Python, after which calls run eagerly: the first ones may fill a cache.
MOST_EFFECTS = 3

_binding = threading.Lock()  # held while a method's StaticFunction is made for its Layer


class RunsEagerly(Exception):
    """A call that runs as written, because it can't be converted."""


class StaticFunction:
    """Calls ``function`` as a Program, which is built at the first call of each kind.

    Programs are cached by the specs of the Tensors, the values of the other arguments, and the train/eval
    modes of the Layer the function belongs to. Several threads may call it at once: one of them builds a
    Program, the others wait for it. Where ``full_graph`` is False, a kind of call that can't be converted
    runs eagerly, as written; a LeniencyWarning names the line.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        input_spec: Sequence[Any] | None = None,
        instance: object = None,
        hooked: bool = False,
        full_graph: bool = True,
    ) -> None:
        self._function = function  # without self
        self._input_spec = input_spec
        self._instance: Any = instance
        self._bound: Callable[..., Any] = function if instance is None else MethodType(function, instance)
        self.program_cache = ProgramCache()
        self._hooked = hooked  # whether its Programs contain the hooks of its Layer
        self.full_graph = full_graph  # whether code that can't be converted is an error
        self._effects = 0  # traces that changed what they read
        self._unconverted: LRU[Any, bool] = LRU("programs")  # the kinds of calls that run eagerly for it
        self.trains = True  # whether its Programs train, or predict
        self._converted: ConvertedFunction | None = None
        self._signature: Signature | None = None
        functools.update_wrapper(self, function)

    # -- as a method -----------------------------------------------------------------------------------------
    def __get__(self, instance: Any, owner: type | None = None) -> StaticFunction:
        """The function of one Layer, with Programs of its own, kept in that Layer."""
        if instance is None:
            return self
        if isinstance(instance, type):
            functions = _functions_of(instance)
        else:
            functions = instance.__dict__.setdefault("_static_functions", {})
        name = self._function.__qualname__
        made = functions.get(name)
        if made is None or made._function is not self._function:
            with _binding:
                made = functions.get(name)
                if made is None or made._function is not self._function:
                    made = functions[name] = StaticFunction(
                        self._function, self._input_spec, instance, full_graph=self.full_graph
                    )
        assert isinstance(made, StaticFunction)
        return made

    def __deepcopy__(self, memo: dict[int, Any]) -> Callable[..., Any]:
        """The function as it was written; a Layer converted by to_static is rolled back, as in Paddle.

        A decorated method stays converted.
        """
        if self._instance is None:
            return self._function
        instance = copy.deepcopy(self._instance, memo)
        if self._instance.__dict__.get(self._function.__name__) is self:
            self.rollback()
            return MethodType(self._function, instance)
        return StaticFunction(self._function, self._input_spec, instance, full_graph=self.full_graph)

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
        if self._hooked:
            forward = MethodType(function, self._instance)
            return self._instance._call_converted(call, forward, *bound.args, **bound.kwargs)
        return function(self._instance, *bound.args, **bound.kwargs)

    # -- train and eval of a function without a Layer --------------------------------------------------------
    def train(self) -> None:
        """Let later calls train. Raises ModeError for a method of a Layer that predicts."""
        self._switch("train", True)

    def eval(self) -> None:
        """Let later calls predict: without dropout, and with the running statistics of batch norms.

        Raises ModeError for a method of a Layer that trains.
        """
        self._switch("eval", False)

    def _switch(self, mode: str, trains: bool) -> None:
        if self._instance is not None and self._instance.training is not trains:
            raise ModeError(
                f"{self._function.__qualname__}.{mode}: is a method of {type(self._instance).__name__}; call "
                f"{mode}() of the Layer"
            )
        self.trains = trains

    # -- calling ---------------------------------------------------------------------------------------------
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not Switch.enabled or (Switch.blocks and not Switch.converts()):
            return self._bound(*args, **kwargs)
        if modes.is_static():  # called from a function that is being traced: becomes part of its Program
            self._require_trace()
            return self.call_converted(self.signature.bind(args, kwargs))
        try:
            values = self.signature.bind(args, kwargs)
            concrete, tensors = self._concrete_for(values)
            return concrete(tensors)
        except RunsEagerly:
            pass
        except Exception as error:
            fold(error)
            raise
        return self._bound(*args, **kwargs)

    def _require_trace(self) -> None:
        builder = current_builder()
        if builder is not None and builder.startup is not None:
            raise ModeError(
                f"{self._function.__qualname__}: is converted by to_static and called from eager code, but a "
                "Program is being built; call disable_static() first, or the function that is not converted"
            )

    def with_gradients(self, *args: Any) -> Any:
        """Call it, then ``backward()`` of the first Tensor that it gives; returns its result.

        Both are one plan where nothing stands between them: no hook of a gradient, no graph that the
        arguments come from. The results then have no graph left, as after ``backward()``.
        """
        if Switch.converts() and not modes.is_static():
            try:
                concrete, tensors = self._concrete_for(self.signature.bind(args, {}))
                return concrete.with_gradients(tensors)
            except RunsEagerly:
                pass
            except Exception as error:
                fold(error)
                raise
        result = self(*args)
        nest.flatten(result)[0].backward()
        return result

    def _concrete_for(self, values: dict[str, Any]) -> tuple[ConcreteProgram, list[Tensor]]:
        specified = self.signature.specified(whole=False)
        if specified is None:
            key = self._key(values)
            specs: dict[str, Any] | None = None
        else:
            specs = {k: merged(specified.get(k, v), v) for k, v in values.items()}
            key = self._key(specs)
        concrete = self.program_cache.fitting(key)
        if concrete is None:
            concrete = self._converted_or_not(key, as_specs(values) if specs is None else specs)
        if specified is None and concrete.takes_tensors_only:
            tensors = list(values.values())  # with the shapes and dtypes of the key
            for tensor in tensors:
                if not isinstance(tensor, Tensor):
                    break
            else:
                return concrete, tensors
        try:
            return concrete, tensors_of(self._function.__qualname__, values, concrete.specs)
        except (ShapeError, DTypeError) as error:
            if specified is None:
                raise
            tolerate(error)
        exact = as_specs(values)
        key = (cache_key(exact), self._modes())
        concrete = self.program_cache.fitting(key) or self._converted_or_not(key, exact)
        return concrete, tensors_of(self._function.__qualname__, values, concrete.specs)

    def _converted_or_not(self, key: Any, specs: dict[str, Any]) -> ConcreteProgram:
        """The Program of a call. Raises RunsEagerly where that can't be, and need not be."""
        if self.full_graph:
            return self._traced(key, specs)
        if self._unconverted.get(key):
            raise RunsEagerly
        with attempting() as attempt:
            try:
                made = self._traced(key, specs)
            except Exception as error:
                why = reason(error)
                if why is None:
                    attempt.show()
                    raise
            else:
                attempt.show()
                self._count_effects(key, made)
                return made
        self._unconverted.put(key, True)
        once = isinstance(why, ChangingError)
        instead = "does it only while it is traced" if once else "makes this an error"
        tolerate(
            ConversionError(
                f"{why}. Calls of this kind run `{self._function.__qualname__}` eagerly, as written; "
                f"to_static(full_graph=True) {instead}"
            )
        )
        raise RunsEagerly

    def _count_effects(self, key: Any, made: ConcreteProgram) -> None:
        """Let a kind of call run eagerly that changes what it reads, so that it is traced again each time."""
        if not made.effect:
            return
        self._effects += 1
        if self._effects >= MOST_EFFECTS:
            self._unconverted.put(key, True)
            tolerate(
                ConversionError(
                    f"to_static: `{self._function.__qualname__}` reads {made.effect!r} and changes it at "
                    "each call, so that no Program fits the next one. Calls of this kind run eagerly, as "
                    "written; count outside of the function, or keep the value in a Tensor"
                )
            )

    def _traced(self, key: Any, specs: dict[str, Any]) -> ConcreteProgram:
        if not is_convertible(self._instance):
            raise DTypeError(
                f"{self._function.__qualname__}: to_static converts functions and methods of Layers: got a "
                f"method of {type(self._instance).__name__}; derive the class from nn.Layer, or convert a "
                "function"
            )
        tree = tree_of(self._instance)
        if any(isinstance(p, StaticParameter) for layer in tree for p in layer._parameters.values()):
            raise ModeError(
                f"{self._function.__qualname__}: to_static is only available in dynamic mode: "
                f"{type(self._instance).__name__} has Variables of a Program as parameters; call "
                "disable_static() before the Layer is made"
            )
        with alone(tree or [self]):
            made = self.program_cache.fitting(key)  # another thread may have built it meanwhile
            if made is None:
                made = ConcreteProgram(self, specs)
                self.program_cache.add(key, made)
        return made

    def _key(self, values: dict[str, Any]) -> tuple[Any, tuple[Any, ...]]:
        """The key of a Program: the kind of call with the precision it is made in, and the modes."""
        precision = modes.current().precision
        return (cache_key(values), None if precision is None else precision.key), self._modes()

    def _modes(self) -> tuple[Any, ...]:
        """What else the trace depends on: the level of passes, train/eval modes, the Layers of the tree."""
        layer = self._instance
        if layer is None or not hasattr(layer, "_sub_layers"):
            return (level.get(), self.trains)
        return (level.get(), *walk_modes(layer))

    def concrete_program_specify_input_spec(
        self, input_spec: Sequence[Any] | None = None, with_hook: bool = False
    ) -> ConcreteProgram:
        """The Program for ``input_spec`` (the function's own by default), for saving.

        ``with_hook``: with the hooks of its Layer. Raises ArgumentError where neither an input_spec nor an
        earlier call gives the inputs.
        """
        if input_spec is not None:
            return StaticFunction(self._function, input_spec, self._instance, with_hook)._from_spec()
        if with_hook:
            specs = None if self._input_spec is not None else self.concrete_program.specs
            return StaticFunction(self._function, self._input_spec, self._instance, True)._from_spec(specs)
        if self._input_spec is not None:
            return self._from_spec()
        fitting = self.program_cache.in_mode(self._modes())
        # Where what it read of Python or its mode has changed since, it is traced again.
        traced = self.program_cache.in_mode(self._modes(), fitting=False) or self.program_cache.newest()
        if traced and not fitting:
            return self._from_spec(traced[-1].specs)
        if not fitting:
            if not self.signature.python.parameters:
                return self._from_spec({})
            raise ArgumentError(
                f"{self._function.__qualname__}: its inputs are unknown; pass "
                "input_spec=[InputSpec(...)] to jit.save or to_static, or call it once before"
            )
        if len(fitting) > 1:
            shapes = "; ".join(str([list(v.shape) for v in c.inputs]) for c in fitting)
            tolerate(
                ArgumentError(
                    f"{self._function.__qualname__}: it was called in {len(fitting)} ways (shapes {shapes}), "
                    "the last is taken; pass input_spec=[InputSpec(...)] to say which to use"
                )
            )
        return fitting[-1]

    def _from_spec(self, input_spec: Any = None) -> ConcreteProgram:
        specified = self.signature.specified() if input_spec is None else input_spec
        assert specified is not None
        key = self._key(specified)
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
        """The Tensors of the result, those in dicts by their keys, as in Paddle."""
        return list(self.concrete_program.outputs_by_key)

    def get_concrete_program(self, *args: Any, **kwargs: Any) -> tuple[ConcreteProgram, ProgramRunner]:
        """The Program for a call with these arguments (Tensors or InputSpecs), and its runner."""
        values = self.signature.bind(args, kwargs)
        if any(isinstance(leaf, InputSpec) for leaf in nest.flatten(values)):
            key = self._key(values)
            concrete = self.program_cache.fitting(key) or self._traced(key, values)
        else:
            try:
                concrete, _ = self._concrete_for(values)
            except RunsEagerly:
                return self._with_full_graph().get_concrete_program(*args, **kwargs)
        return concrete, concrete.runner

    def _with_full_graph(self) -> StaticFunction:
        return StaticFunction(self._function, self._input_spec, self._instance)

    def rollback(self) -> Callable[..., Any]:
        """Put the original function back into its Layer, and those of all Layers below it; returns it."""
        layer = self._instance
        if layer is None:
            return self._function
        _put_back(layer, self)
        for below in tree_of(layer)[1:]:
            for function in (*vars(below).values(), *below.__dict__.get("_static_functions", {}).values()):
                if isinstance(function, StaticFunction) and function.class_instance is below:
                    _put_back(below, function)
        return self._bound


def is_convertible(owner: object) -> bool:
    """Whether a function of ``owner`` is converted: of a Layer, of a class, or of nothing."""
    return owner is None or isinstance(owner, Layer | type)


def _functions_of(owner: type) -> dict[str, StaticFunction]:
    """Where a class keeps the functions of its class methods; its ``__dict__`` can't be written to."""
    if "_static_functions" not in vars(owner):
        type.__setattr__(owner, "_static_functions", {})
    found: dict[str, StaticFunction] = vars(owner)["_static_functions"]
    return found


def _put_back(layer: Any, function: StaticFunction) -> None:
    """Let a method of a Layer be as it was written, whether the Layer or its class has it converted."""
    name = function._function.__name__
    fields = layer.__dict__
    if isinstance(getattr(layer, name, None), StaticFunction):
        fields[name] = function.dygraph_function


def require_function(function: object) -> Callable[..., Any]:
    """Return ``function`` itself. Raises DTypeError for a value that is not a Python function."""
    if not callable(function):
        raise DTypeError(f"to_static: takes a function, a method or a Layer: got {type(function).__name__}")
    checked: Callable[..., Any] = function
    return checked
