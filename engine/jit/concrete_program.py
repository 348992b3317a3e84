"""ConcreteProgram: the Program of a converted function for one kind of call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from types import FrameType
from typing import TYPE_CHECKING, Any, Protocol, cast

from engine.core import mode as modes
from engine.core import names
from engine.core.containers import nest
from engine.core.errors import InnerParameterError
from engine.core.frames import located
from engine.core.layer_calls import names_of, noting_layer_calls
from engine.core.values.spec import Spec
from engine.eager.tensor import Parameter, Tensor
from engine.jit.convert.runtime.calls import noting_calls
from engine.jit.convert.runtime.changing_calls import ChangingError
from engine.jit.input_spec import InputSpec
from engine.jit.plain_values import PlainValues
from engine.jit.run_program import ProgramRunner
from engine.jit.stored_values import Before, keeping_attributes, stored_values
from engine.jit.traced_training import TracedStep, TracedTraining
from engine.nn.layer.base.parameters import noting_parameters
from engine.program.build.builder import building
from engine.program.graph.program import Program, Variable, variables_of
from engine.program.graph.unknown import known_operand
from engine.program.passes.pipeline import without_fusions
from engine.tensor.arrays.tensor_array import TensorArray
from engine.tensor.members.inplace import replace

if TYPE_CHECKING:
    from engine.jit.at_once import AtOnce
    from engine.jit.signature import Signature
    from engine.nn import Layer
    from engine.program.run.plan import Plan


class Converted(Protocol):
    """What is used of a StaticFunction."""

    trains: bool
    full_graph: bool

    @property
    def signature(self) -> Signature:
        """Its parameters."""

    @property
    def class_instance(self) -> Any:
        """The Layer that it is a method of, or None."""

    @property
    def dygraph_function(self) -> Callable[..., Any]:
        """The function as it was written."""

    def call_converted(self, arguments: dict[str, Any]) -> Any:
        """What the converted function returns."""


class ConcreteProgram:
    """The Program of a function for one kind of call: fixed structure, plain values and modes."""

    def __init__(self, function: Converted, specs: dict[str, Any]) -> None:
        self.function = function.dygraph_function
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
        given = nest.map_structure(lambda leaf: leaf, arguments)
        tree = tree_of(function.class_instance)
        written: Any = function.dygraph_function
        self._read = PlainValues((function.class_instance, *tree))
        self._read.note_function(getattr(written, "__func__", written))

        def begin(layer: Any) -> None:
            before.note(layer)
            self._read.note_owner(layer)

        with (
            names.guard(),
            keeping_attributes(tree) as before,
            noting_calls(
                begin, self._read.note_function, None if function.full_graph else self._read
            ) as called,
            noting_parameters() as made,
            noting_layer_calls(names_of(function.class_instance)),
            building(self.main_program, precision=modes.current().precision) as builder,
            builder.assigning(),
        ):
            builder.training = training = TracedTraining(self.main_program, self.inputs)
            self.result = function.call_converted(arguments)
            if not function.full_graph:
                _require_no_effects(self._read, given, arguments)
            _require_owners(made, before, tree_of(function.class_instance), called.layers.values())
            self._leaves = [_asked(leaf) for leaf in nest.flatten(self.result)]
            self.outputs = [builder.result(value) for leaf in self._leaves for value in _parts(leaf)]
            # Where the function could also run eagerly, numbers are Python's, as they are then.
            self._numbers = _numbers(self._leaves, function.full_graph)
            self._stored = list(stored_values((*tree, *called.layers.values()), builder))
            stored_variables = [
                builder.result(v) for s in self._stored for leaf in s.leaves for v in _parts(leaf)
            ]
            back = builder.handed_back()
            changed = [builder.result(value) for _, value in back]
        for stored in self._stored:
            stored.put_back(before)
        self.main_program.inputs = [v.name for v in self.inputs]
        self.main_program.outputs = [v.name for v in self.outputs if v is not None]
        self._changed = [x for x, _ in back]
        self._named = [v.name for v in self.outputs if v is not None]
        variables = [v for v in (*self.outputs, *stored_variables, *changed) if v is not None]
        program = self.main_program
        if not function.trains:
            program = program.clone(for_test=True)
        self._step = TracedStep(training, program, self.inputs, variables) if training.used else None
        self._roots = _roots(self.main_program, self.outputs, self._step)
        self._program, self._results = program, [v.name for v in variables]
        self.runner = self._runner_of(program)
        # As in Paddle, whose default front end follows what Python does at each call.
        self._read.settle([(s.fields, s.name) for s in self._stored], after=function.full_graph)
        self.effect = self._read.changed()  # what the trace changed that calls read; empty for nothing
        own = set(map(id, tree))
        self._others = [layer for layer in called.layers.values() if id(layer) not in own]
        self._places = self._buffer_places(tree)
        self.state = self.current_state()

    def _runner_of(self, program: Program, passes: int | None = None) -> ProgramRunner:
        block = program.global_block()
        inputs = [block.var(v.name) for v in self.inputs]
        return ProgramRunner(program, inputs, [block.var(name) for name in self._results], passes=passes)

    def runner_without_fusions(self) -> ProgramRunner:
        """A runner of the operators as the user wrote them: see ``without_fusions`` of the pipeline."""
        program, passes = self._program, self.runner.passes
        if self._results and passes:
            program = without_fusions(program, passes, self._results)
        return self._runner_of(program, passes=0)

    @property
    def trains_itself(self) -> bool:
        """Whether the function calls ``backward()`` or ``step()`` itself."""
        return self._step is not None

    @property
    def outputs_by_key(self) -> list[Variable]:
        """The outputs in the order in which they are saved: those in dicts by their keys, as in Paddle."""
        leaves = nest.flatten(self.result)
        found = self.outputs
        if len(leaves) == len(found):  # a tensor array is several
            made = {id(leaf): v for leaf, v in zip(leaves, found, strict=True)}
            found = [made[id(leaf)] for leaf in nest.flatten(nest.by_key(self.result))]
        return [v for v in found if v is not None]

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
            state += walk_modes(layer)
        if self._step is not None:
            state += self._step.training.state
        return tuple(state)

    def _buffer_places(self, layers: list[Any]) -> list[tuple[tuple[Variable, ...], dict[str, Any], str]]:
        """The Variables that stand for buffers of Layers, as traced and as run, each with the place of its
        Tensor."""
        run = self.runner.program.global_block().vars
        bound = {id(v.tensor): (v, run[v.name]) for v in self.main_program.bound()}
        return [
            (bound[id(tensor)], layer._buffers, name)
            for layer in (*layers, *(sub for other in self._others for sub in tree_of(other)))
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
        return self._read.unchanged() and self.state == self.current_state()

    def __call__(self, tensors: list[Tensor]) -> Any:
        return self._finished(tensors, self.runner(tensors) if self._step is None else self._step(tensors))

    @cached_property
    def _at_once(self) -> AtOnce:
        from engine.jit.at_once import AtOnce  # only trainings need it

        return AtOnce(self.runner)

    def with_gradients(self, tensors: list[Tensor]) -> Any:
        """Call it and ``backward()`` of its first result: by one plan, where the difference is not seen."""
        found = None
        if self._step is None and not self._changed and not self._stored:
            found = self._at_once(tensors)
        if found is not None:
            return self._finished(tensors, found)
        results = self(tensors)
        nest.flatten(results)[0].backward()
        return results

    def plans(self) -> list[tuple[str, Plan]]:
        """The plans that were made so far, each with what it runs: "forward", "backward", or "forward and
        backward" of a training that does both by one plan."""
        at_once = self.__dict__.get("_at_once")
        both = [] if at_once is None else [("forward and backward", plan) for plan in at_once.plans()]
        return both + self.runner.plans()

    def _finished(self, tensors: list[Tensor], results: list[Tensor]) -> Any:
        """What the function gives, from the results of its Program."""
        if self._changed:
            self._hand_back(tensors, results[-len(self._changed) :])
        for result, output in zip(results, self._named, strict=False):
            result._name = output
        if self._roots and modes.current().grad:
            for n in self._roots:
                results[n].stop_gradient = False
        values = iter(results)
        leaves = _filled(self._leaves, values)
        for n, kind in self._numbers:
            leaves[n] = kind(leaves[n])
        for stored in self._stored:
            stored.put(_filled(stored.leaves, values))
        return nest.pack(self.result, leaves)

    def _hand_back(self, tensors: list[Tensor], results: list[Tensor]) -> None:
        """Write the values of tensors that the function changes in place into the caller's tensors."""
        place = {id(v): n for n, v in enumerate(self.inputs)}
        for x, value in zip(self._changed, results, strict=True):
            replace("to_static", x if isinstance(x, Tensor) else tensors[place[id(x)]], value)


def _require_no_effects(read: PlainValues, given: dict[str, Any], arguments: dict[str, Any]) -> None:
    """Raise ChangingError where a trace changed its arguments' containers, or put values of its Program
    into containers that calls share: a run of the Program does neither."""
    if read.take_back():
        raise ChangingError(
            "to_static: the function puts values that are known only in a run into a list, dict or set that "
            "is not made by the call; return them instead"
        )
    if not nest.same_structure(given, arguments):
        raise ChangingError(
            "to_static: the function changes a list or dict that is its argument; return a new one instead"
        )


def _require_owners(
    made: list[tuple[Parameter, FrameType | None]],
    before: Before,
    tree: Iterable[Layer],
    called: Iterable[Layer],
) -> None:
    """Raise InnerParameterError for a parameter that a call made and that no Layer keeps for the next."""
    if not made:
        return
    kept = {id(p) for layer in tree for p in layer._parameters.values()}
    kept |= {id(p) for layer in called for p in layer._parameters.values()} - before.parameters
    for parameter, frame in made:
        if id(parameter) not in kept:
            raise located(
                InnerParameterError(
                    f"to_static: the parameter {parameter.name!r} is made by the call: each eager call would "
                    "make another one; make it in __init__ of the Layer, and keep lists of parameters or "
                    "Layers in nn.ParameterList or nn.LayerList"
                ),
                frame,
            )


def _filled(leaves: list[Any], results: Iterator[Any]) -> list[Any]:
    """The leaves with the values of the run in place of the Program's Variables."""
    made = []
    for leaf in leaves:
        if isinstance(leaf, TensorArray):
            made.append(leaf.elements([next(results) for _ in leaf.leaves()]))
        else:
            made.append(next(results) if isinstance(leaf, Variable | Tensor) else leaf)
    return made


def _asked(leaf: Any) -> Any:
    """A leaf of the result; a dimension that is not known yet as a Variable that stands for a number."""
    made = known_operand(leaf)
    if made is not leaf:
        made.number = 0
    return made


def _roots(program: Program, outputs: Sequence[Variable | None], step: TracedStep | None) -> list[int]:
    """The places of results that have a gradient though no input or parameter of the Program has one: those
    computed from ``to_tensor(..., stop_gradient=False)``. None of a Program that trains by itself."""
    made = [v for v in outputs if v is not None]
    if step is not None or all(v.stop_gradient for v in made):
        return []
    block = program.global_block()
    flowing = {
        id(v) for v in block.vars.values() if not v.stop_gradient and (v.is_data or v.tensor is not None)
    }
    for operator in block.ops:
        if any(id(v) in flowing for v in variables_of(operator.inputs)):
            flowing.update(id(v) for v in variables_of(operator.outputs) if not v.stop_gradient)
    return [
        n for n, v in enumerate(made) if not v.stop_gradient and v.dtype.is_inexact and id(v) not in flowing
    ]


def _numbers(leaves: Sequence[Any], stay: bool) -> list[tuple[int, type]]:
    """The places of Variables that stand for Python numbers, with the kinds of those; none if they stay."""
    if stay:
        return []
    return [
        (n, type(leaf.number))
        for n, leaf in enumerate(leaves)
        if isinstance(leaf, Variable) and leaf.number is not None
    ]


def _parts(leaf: Any) -> list[Any]:
    """The values of the Program that a leaf of the result consists of."""
    return leaf.leaves() if isinstance(leaf, TensorArray) else [leaf]


def tree_of(layer: object) -> list[Layer]:
    """A Layer with all Layers below it; nothing for another object."""
    return cast("Layer", layer).sublayers(include_self=True) if hasattr(layer, "_sub_layers") else []


def walk_modes(layer: Layer) -> list[Any]:
    """What a trace of a Layer depends on: the Layers of its tree, their modes, hooks and parameters."""
    found: list[Any] = []
    layers: list[Layer | None] = [layer]
    # A loop over dicts: it is run at each call, and takes a part of the time of a small network.
    for each in layers:
        if each is None:
            continue
        fields = each.__dict__
        below = fields["_sub_layers"]
        found += (each.training, each, fields.get("forward"), len(below))
        if fields["_forward_pre_hooks"] or fields["_forward_post_hooks"]:
            found += (*fields["_forward_pre_hooks"], 0, *fields["_forward_post_hooks"])  # their numbers
        if parameters := fields["_parameters"]:
            found += map(id, parameters.values())
        if below:
            layers += below.values()
    return found
