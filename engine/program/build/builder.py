"""The building mode: applying an operator infers its results and appends it to the current Block."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, cast

from engine.core import mode as modes
from engine.core.errors import ArgumentTypeError, ConversionError, EngineError, ProgramError
from engine.core.frames import located, user_frame
from engine.core.layer_calls import layer_call
from engine.core.operators.bounds import require_int64
from engine.core.operators.infer import same_as_x
from engine.core.operators.opdef import OpDef
from engine.core.operators.operator import Operator
from engine.core.precision import Precision
from engine.core.values.spec import Spec
from engine.eager.precision import cast_inputs
from engine.eager.tensor import Tensor
from engine.ops.control import with_values
from engine.ops.training import parameter_updates
from engine.program.build.annotate import marks, segment
from engine.program.build.buffer_place import BufferPlace
from engine.program.build.results import make_results
from engine.program.graph import delegates
from engine.program.graph.program import Block, Program, Variable, variables_of
from engine.program.graph.variable import kind_error
from engine.program.text.naming import Calls

Rebound = dict[int, tuple[Any, Variable]]


class Hooked(NamedTuple):
    """A Variable with hooks on its gradient, the Variable that is read in its place, and the hooks."""

    variable: Variable
    made: Variable
    functions: list[Callable[[Any], Any]]


class Builder(modes.Mode):
    """Appends to ``program``. An eager Tensor it meets becomes a persistable Variable of the same storage."""

    fast = False
    static = True

    def __init__(
        self,
        program: Program,
        grad: bool = True,
        block: Block | None = None,
        startup: Program | None = None,
        precision: Precision | None = None,
    ) -> None:
        self.program = program
        self.precision = precision
        # In static mode: the Program that gives parameters their first values. None while a function is
        # traced, where parameters are eager Tensors.
        self.startup = startup
        self.calls = Calls()
        self.grad = grad
        self.block = block if block is not None else program.global_block()
        # Values changed in place while building: the object the user holds, and its present Variable. In
        # static mode they outlive the builder, because another program_guard() continues the Program.
        self.rebound: Rebound = {} if startup is None else program.rebound
        # Variables with hooks on their gradients, by id, and the Variables that operators read instead.
        self.hooked: dict[int, Hooked] = {}
        # The base of each view (by id), and all values that share storage with such a base.
        self.roots: dict[int, Variable] = {}
        self.families: dict[int, list[Variable]] = {}
        self.stale: dict[int, Variable] = {}  # storage of theirs was changed through another name
        # Buffers that were assigned a value, by the dict they live in and their name there. None where they
        # are written at once, because the end of building is not known.
        self.assigned: dict[tuple[int, str], BufferPlace] | None = None
        self.training: modes.Training | None = None

    def with_grad(self, grad: bool) -> modes.Mode:
        return self if grad == self.grad else self._variant(grad, self.block, self.precision)

    def with_precision(self, precision: Precision | None) -> modes.Mode:
        return self if precision is self.precision else self._variant(self.grad, self.block, precision)

    def in_block(self, block: Block) -> Builder:
        return self._variant(self.grad, block, self.precision)

    def _variant(self, grad: bool, block: Block, precision: Precision | None) -> Builder:
        made = Builder(self.program, grad, block, self.startup, precision)
        made.calls = self.calls
        made.rebound, made.hooked = self.rebound, self.hooked
        made.roots, made.families, made.stale = self.roots, self.families, self.stale
        made.assigned, made.training = self.assigned, self.training
        return made

    def apply(self, opdef: OpDef, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        if self.precision is not None:
            inputs = cast_inputs(self.precision, opdef, inputs)
        return self._append(opdef, inputs, attrs)

    def _append(self, opdef: OpDef, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        if any(_holds_variable(value) for value in attrs.values()) and with_values.plain(opdef):
            return self._apply_with_values(opdef, inputs, attrs)
        values = tuple(self._value(opdef, i.name, v) for i, v in opdef.named_inputs(inputs))
        # Gradients have the kinds of the values that they belong to.
        asked = variables_of(values) if self.training is not None else ()
        kinds = next((v.kinds for v in asked if v.kinds is not None), None)
        if kinds is not None and (opdef.infer is not same_as_x or kinds[0].dtype is not kinds[1].dtype):
            raise located(kind_error(opdef.name, kinds), user_frame())
        attrs = opdef.with_defaults(attrs)
        try:
            require_int64(opdef, attrs)
            specs = opdef.infer_specs([_spec_of(v) for v in values], attrs)
        except EngineError as error:
            raise located(error, user_frame()) from None
        operator = Operator(opdef, values, attrs)
        operator.set_place(user_frame(), layer_call())
        operator.segment = segment()
        outputs = make_results(self, operator, specs)
        operator.outputs = tuple(outputs)
        if kinds is not None:
            outputs[0].kinds = kinds
        if found := marks():
            operator.note("attrs", {**found, **(operator.notes or {}).get("attrs", {})})
        self.block.append(operator)
        if opdef.view:
            root = self.roots.get(id(values[0]), values[0])
            self.roots[id(outputs[0])] = root
            self.families.setdefault(id(root), [root]).append(outputs[0])
        return outputs[0] if opdef.single else tuple(outputs)

    def _apply_with_values(self, opdef: OpDef, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        """Apply an operator some of whose attributes are Variables."""
        flat, values, rest = with_values.separated(inputs, attrs, modes.is_symbolic)
        made = self._append(with_values.with_values.opdef, (flat, values), {"of": opdef.name, **rest})
        return made[0] if opdef.single else tuple(made)

    def rebind(self, x: Tensor | Variable | BufferPlace, value: Variable) -> None:
        """Let ``x``, which was changed in place, mean ``value`` from here on.

        Values that share storage with ``x`` would see the change in eager mode, but not here: reading them
        again is refused. In static mode nothing shares storage, as in Paddle, and a persistable Variable is
        written, so that it keeps the value for the next run.
        """
        if self.startup is not None and isinstance(x, Variable):
            if x.persistable:
                parameter_updates.assign_into(x, value)
            else:
                self.rebound[id(x)] = (x, value)
            return
        if isinstance(x, BufferPlace):
            x.put(value)
            self.rebound[id(x)] = (x, value)
            return
        now = self.now(x)
        root = self.roots.get(id(now), now)
        self.stale.update({id(v): v for v in self.families.get(id(root), ()) if v is not now})
        self.rebound[id(x)] = (x, value)

    def rename(self, x: Variable, value: Variable) -> None:
        """Let ``x``, which got another shape or dtype in place, mean ``value`` from here on.

        The elements are the same, so that what shares storage with ``x`` stays valid.
        """
        self.rebound[id(x)] = (x, value)

    def now(self, x: Tensor | Variable | BufferPlace) -> Any:
        """The Variable of ``x`` at this point."""
        if isinstance(x, BufferPlace):
            return self.now(x.value())
        return self.read_as(self.rebound[id(x)][1] if id(x) in self.rebound else x)

    def read_as(self, x: Tensor | Variable) -> Any:
        """The Variable that is read in place of ``x``: another one where its gradient has hooks."""
        return self.hooked[id(x)].made if id(x) in self.hooked else x

    def side(self, function: Callable[[], Any]) -> tuple[Any, Rebound]:
        """The result of ``function``, one branch or a loop's body, and the values that it changed in place.

        Afterwards every name has its value before the call, until the caller rebinds it.
        """
        rebound, stale = dict(self.rebound), dict(self.stale)
        held = {id(place): place.value() for place in self._places()}
        try:
            value = function()
            return value, {k: v for k, v in self.rebound.items() if rebound.get(k) is not v}
        finally:
            for current, before in ((self.rebound, rebound), (self.stale, stale)):
                current.clear()
                current.update(before)  # type: ignore[arg-type]
            for place in self._places():
                place.put(held.get(id(place), place.buffer))

    def _places(self) -> list[BufferPlace]:
        return list((self.assigned or {}).values())

    def assign(self, fields: dict[str, Any], name: str, value: Variable | None) -> None:
        """Let ``fields[name]``, a buffer, be ``value`` from here on; a run of the Program stores it there.

        The buffer is written at the end of the run. Raises ShapeError or DTypeError where ``value`` does not
        fit it.
        """
        assigned = self.assigned
        if assigned is None:
            if value is None or fields[name] is None:
                fields[name] = value
            else:
                parameter_updates.assign_into(fields[name], value)
            return
        place = assigned.setdefault((id(fields), name), BufferPlace(fields, name))
        buffer = place.buffer
        if buffer is not None and value is not None:
            try:
                parameter_updates.assign_into.opdef.infer_specs(
                    [Spec(buffer.shape, buffer.dtype), value.spec], {}
                )
            except EngineError as error:
                raise located(error, user_frame()) from None
        self.rebind(place, cast(Variable, value))  # None where it has no value any more

    @contextmanager
    def assigning(self) -> Iterator[None]:
        """Build a Program from a function within the block; at its end write the buffers that it assigned."""
        assigned: dict[tuple[int, str], BufferPlace] = {}
        self.assigned = assigned
        try:
            yield
            for tensor, value in list(self.rebound.values()):
                if isinstance(tensor, Tensor) and value.stop_gradient:
                    parameter_updates.assign_into(self.program.capture(tensor), value)
            for place in assigned.values():
                value = place.value()
                if place.buffer is not None and value is not None and value is not place.buffer:
                    parameter_updates.assign_into(place.buffer, value)
        finally:
            for place in assigned.values():
                if place.value() is not None:
                    place.put(place.buffer)

    def handed_back(self) -> list[tuple[Any, Variable]]:
        """The values from outside that were changed in place, each with its last value.

        Only those that the Program can't write itself: inputs, and tensors whose new value has a gradient.
        Raises ConversionError where such a value was changed through a view of it.
        """
        for variable in self.stale.values():
            if variable.is_data or variable.persistable:
                raise ConversionError(
                    f"to_static: {variable.name!r} {variable.spec} comes from outside and was changed "
                    "through a view of it; change it by its own name, or clone() it first"
                )
        return [
            (x, self.read_as(value))
            for x, value in self.rebound.values()
            if not isinstance(x, BufferPlace)
            and (x.is_data if isinstance(x, Variable) else not value.stop_gradient)
        ]

    def result(self, value: object) -> Variable | None:
        """The Variable of a leaf of a function's result; None for a plain Python value."""
        if id(value) in self.rebound:
            return self.result(self.rebound[id(value)][1])
        if isinstance(value, Variable):
            self._require_current("return", value)
            return self.read_as(value)  # type: ignore[no-any-return]
        return self.program.capture(value) if isinstance(value, Tensor) else None

    def _value(self, opdef: OpDef, name: str, value: Any) -> Any:
        if id(value) in self.rebound:
            return self._value(opdef, name, self.rebound[id(value)][1])
        if isinstance(value, Variable):
            if self.startup is not None and value.block.program is not self.program:
                raise located(
                    ProgramError(
                        f"{opdef.name}: {value.name!r} {value.spec} is a Variable of another Program than "
                        "the one that is being built; make it within the same program_guard()"
                    ),
                    user_frame(),
                )
            self._require_current(opdef.name, value)
            return self.read_as(value)
        if value is None:
            return value
        if isinstance(value, (list, tuple)):
            return [self._value(opdef, name, v) for v in value]
        if isinstance(value, Tensor):
            return self.program.capture(value)
        raise ArgumentTypeError(
            f"{opdef.name}: input {name!r} must be a Variable or Tensor: got {type(value).__name__}; "
            "use to_tensor()"
        )

    def _require_current(self, where: str, value: Variable) -> None:
        if id(value) in self.stale:
            raise located(
                ConversionError(
                    f"{where}: {value.name!r} {value.spec} shares its storage with a tensor that was changed "
                    "in place since; in a Program it would keep the old value: clone() it before the change, "
                    "or take the view after it"
                ),
                user_frame(),
            )


def _holds_variable(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(modes.is_symbolic, value))
    return modes.is_symbolic(value)


def _spec_of(value: Any) -> Any:
    if isinstance(value, list):
        return [_spec_of(v) for v in value]
    return None if value is None else value.spec


@delegates.building_block.define
def building_block(program: Program) -> Block | None:
    builder = current_builder()
    return builder.block if builder is not None and builder.program is program else None


@contextmanager
def building(program: Program, grad: bool = True, precision: Precision | None = None) -> Iterator[Builder]:
    """Append operators to ``program`` within the block."""
    builder = Builder(program, grad, precision=precision)
    with modes.use(builder):
        yield builder


def current_builder() -> Builder | None:
    mode = modes.current()
    return mode if isinstance(mode, Builder) else None


def variable(program: Program, name: str, spec: Spec, stop_gradient: bool = True) -> Variable:
    """A Variable that is fed when the Program runs."""
    return program.global_block().create_var(name, spec, stop_gradient=stop_gradient, is_data=True)
