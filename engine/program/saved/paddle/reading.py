"""The Program that is read from OpDescs: present values of names, and operators appended with inference.

Paddle declares shapes of intermediate values and writes some values in place. Here each value is a Variable
of its own, whose shape is inferred: ``Frame.values`` has the present one of each name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from engine.core.errors import FormatError
from engine.core.layer_calls import of_scope
from engine.core.operators.opdef import OPS, OpDef
from engine.core.operators.operator import Operator
from engine.core.program_desc import BlockDesc, OpDesc, ProgramDesc, VarDesc
from engine.core.values.spec import Spec
from engine.ops.control import with_values
from engine.program.build.results import ends_gradient
from engine.program.graph.program import Block, Program, Variable, variables_of

_MOST_KNOWN = 1024  # elements of a value that is computed while it is read: shapes, bounds of slices


class Reading:
    """What is common to all blocks of a Program that is read."""

    def __init__(self, desc: ProgramDesc) -> None:
        self.desc = desc
        self.program = Program()
        self.known: dict[int, Any] = {}  # arrays of constant Variables, by id
        self.shapes: dict[int, Spec] = {}  # results of ``shape``: the Spec that they give
        self.negations: dict[int, Variable] = {}  # results of ``logical_not``, by id: its input
        self.selected: dict[tuple[int, tuple[str, ...]], Variable] = {}  # merged results of branches
        self.entered: set[int] = set()  # sub-blocks that an operator runs
        self.lengths: dict[int, Variable] = {}  # results of ``lod_array_length``, by id: its list
        self._forgotten: list[Block] = []
        self._names: set[str] = set()
        self._numbers: dict[str, int] = {}

    def name(self, wanted: str) -> str:
        """``wanted``, or that with a number where another Variable has the name."""
        name = wanted
        while name in self._names or not name:
            number = self._numbers[wanted] = self._numbers.get(wanted, 0) + 1
            name = f"{wanted or 'value'}.{number}"
        self._names.add(name)
        return name

    def rename(self, variable: Variable, wanted: str) -> None:
        """Give a Variable the name ``wanted``, or one like it."""
        if variable.name == wanted:
            return
        owned = variable.block.vars
        del owned[variable.name]
        self._names.discard(variable.name)
        variable.name = self.name(wanted)
        owned[variable.name] = variable

    def negated(self, x: Variable) -> Variable | None:
        """The Variable that x is the negation of."""
        return self.negations.get(id(x))

    def forget_blocks(self, count: int) -> None:
        """Remove all blocks but the first ``count``: a loop is read again with wider shapes."""
        for block in self.program.blocks[count:]:
            self._names -= block.vars.keys()
        self._forgotten += self.program.blocks[count:]  # so that no new Variable has the id of one of theirs
        del self.program.blocks[count:]


class Frame:
    """The names of one of Paddle's blocks, and the Block that its operators are appended to."""

    def __init__(self, reading: Reading, desc: BlockDesc, block: Block, around: Frame | None = None) -> None:
        self.reading, self.desc, self.block, self.around = reading, desc, block, around
        self.values: dict[str, Variable] = {}
        self.declared = {v.name: v for v in desc.vars}
        self.branches: dict[str, Any] = {}  # results of branches that no select_input has merged yet

    def find(self, name: str) -> Variable | None:
        """The present value of a name here or around."""
        frame: Frame | None = self
        while frame is not None:
            if name in frame.branches:
                frame.branches[name].settle(name)
            if name in frame.values:
                return frame.values[name]
            frame = frame.around
        return None

    def is_outer(self, name: str) -> bool:
        """Whether a name belongs to a block around this one."""
        if name in self.declared:
            return False
        frame = self.around
        while frame is not None:
            if name in frame.declared or name in frame.values:
                return True
            frame = frame.around
        return False

    def declaration(self, name: str) -> VarDesc | None:
        """The VarDesc of a name, here or around; None where there is none."""
        frame: Frame | None = self
        while frame is not None:
            if name in frame.declared:
                return frame.declared[name]
            frame = frame.around
        return None


class Step:
    """One OpDesc that is read. Rows take its inputs and attributes, run operators, and give its outputs."""

    def __init__(self, frame: Frame, desc: OpDesc) -> None:
        self.frame, self.desc = frame, desc
        self.reading = frame.reading
        self._fresh: set[int] = set()
        self._used: set[str] = set()

    # -- what the OpDesc says -------------------------------------------------------------------------------
    def one(self, slot: str) -> Variable | None:
        """The value in a slot; None where it is empty. Raises FormatError for several."""
        found = self.many(slot)
        if len(found) > 1:
            raise FormatError(f"slot {slot} has {len(found)} variables where it takes one")
        return found[0] if found else None

    def need(self, slot: str) -> Variable:
        """The value in a slot. Raises FormatError where it is empty."""
        found = self.one(slot)
        if found is None:
            raise FormatError(f"its input {slot} is missing")
        return found

    def many(self, slot: str) -> list[Variable]:
        """The values in a slot."""
        self._used.add(slot)
        return [self.value(name) for name in self.desc.inputs.get(slot, ())]

    def value(self, name: str) -> Variable:
        """The present value of a name. Raises FormatError where no operator has computed it."""
        found = self.frame.find(name)
        if found is None:
            raise FormatError(f"it reads {name!r:.80}, which nothing before it computes")
        return found

    def attr(self, name: str, default: object = None) -> Any:
        """An attribute's value, ``default`` where it is absent."""
        found = self.desc.attrs.get(name)
        return default if found is None else found.value

    def unread(self) -> Iterator[str]:
        """Slots with Variables that nothing took."""
        return (slot for slot, names in self.desc.inputs.items() if names and slot not in self._used)

    def accept(self, slot: str) -> None:
        """Take a slot as read: its Variables do not change the results."""
        self._used.add(slot)

    # -- numbers that may be values -------------------------------------------------------------------------
    def numbers(self, attribute: Iterable[Any], tensor: str, each: str = "") -> list[int | Variable]:
        """Integers that are an attribute, one tensor, or a tensor for each; a Variable for an unknown one."""
        if each and self.desc.inputs.get(each):
            return [self.number(v) for v in self.many(each)]
        whole = self.one(tensor) if tensor else None
        if whole is None:
            return [int(v) for v in attribute]
        return self.elements(whole)

    def elements(self, x: Variable) -> list[int | Variable]:
        """The elements of a vector, as integers where they are known."""
        known = self.known(x)
        if known is not None:
            return [int(v) for v in known.reshape(-1)]
        if id(x) in self.reading.shapes:
            sizes = self.reading.shapes[id(x)].shape
            return [d if d >= 0 else self.slice(x, n) for n, d in enumerate(sizes)]
        if x.ndim == 0:
            return [x]
        if x.ndim != 1 or x.shape[0] < 0:
            raise FormatError(f"sizes are the elements of {x.name!r:.80} {x.spec}, whose number is not known")
        return [self.slice(x, n) for n in range(x.shape[0])]

    def number(self, x: Variable) -> int | Variable:
        """The one element of a tensor, an integer where it is known."""
        known = self.known(x)
        return int(known.reshape(-1)[0]) if known is not None and known.size == 1 else x

    def slice(self, x: Variable, place: int) -> Any:
        """One element of a vector, as a tensor without dimensions."""
        return self.run("slice_view", x, index=[place])

    def known(self, x: Variable) -> np.ndarray[Any, Any] | None:
        """The array of a constant; None for a value that only a run gives."""
        return self.reading.known.get(id(x))

    # -- operators ------------------------------------------------------------------------------------------
    def run(self, name: str, *inputs: Any, **attrs: Any) -> Any:
        """Append an operator of ours; its result, or the tuple of its results with None for absent ones.

        Attributes may be Variables, which become inputs. Raises the errors of its inference.
        """
        opdef = OPS[name]
        if any(_holds_variable(value) for value in attrs.values()):
            full = (*inputs, *[None] * (len(opdef.inputs) - len(inputs)))
            flat, values, rest = with_values.separated(full, attrs, _is_variable)
            found = self.append(with_values.with_values.opdef, [flat, values], {"of": name, **rest})
            return found[0] if opdef.single else found
        found = self.append(opdef, list(inputs), attrs)
        return found[0] if opdef.single else found

    def append(self, opdef: OpDef, inputs: list[Any], attrs: dict[str, Any]) -> tuple[Variable | None, ...]:
        """Append an operator; see ``run``."""
        inputs += [None] * (len(opdef.inputs) - len(inputs))
        full = opdef.with_defaults(attrs)
        specs = opdef.infer_specs([_spec(v) for v in inputs], full)
        operator = Operator(opdef, tuple(inputs), full)
        stop = ends_gradient(operator)
        outputs: list[Any] = []
        for n, spec in enumerate(specs):
            found = None if spec is None else operator.replaced(n)
            if spec is not None and found is None:
                found = self.variable(f"{self.desc.type}.part", spec, stop or not spec.dtype.is_inexact)
            outputs.append(found)
        operator.outputs = tuple(outputs)
        operator.layer = of_scope(str(self.attr("op_namescope", "")))
        self.frame.block.append(operator)
        self._remember(operator)
        return tuple(outputs)

    def variable(self, name: str, spec: Spec, stop_gradient: bool) -> Variable:
        """A new Variable of the block, which ``give`` names."""
        made = self.frame.block.create_var(self.reading.name(name), spec, stop_gradient=stop_gradient)
        self._fresh.add(id(made))
        return made

    def _remember(self, operator: Operator) -> None:
        """Compute the results of constants: shapes and bounds that later operators need now."""
        known, opdef = self.reading.known, operator.opdef
        inputs, outputs = list(variables_of(operator.inputs)), operator.outputs
        if opdef.name == "shape":
            spec = inputs[0].spec
            self.reading.shapes[id(outputs[0])] = spec
            if spec.known:
                known[id(outputs[0])] = np.array(spec.shape, np.int32)
            return
        if opdef.name == "slice_view" and id(inputs[0]) in self.reading.shapes:
            found = np.array(self.reading.shapes[id(inputs[0])].shape, np.int32)
            picked = opdef.kernel(np, found, **operator.attrs)
            if picked.size and (picked >= 0).all():
                known[id(outputs[0])] = picked
            return
        small = all(v is None or (v.spec.known and v.size <= _MOST_KNOWN) for v in (*inputs, *outputs))
        if not small or not with_values.plain(opdef) or not all(id(v) in known for v in inputs):
            return
        given = [_arrays(known, value) for value in operator.inputs]
        try:
            result = opdef.kernel(np, *given, **operator.attrs)
        except Exception:  # a constant that can't be computed raises when the Program runs
            return
        for variable, array in zip(outputs, (result,) if opdef.single else result, strict=True):
            if variable is not None:
                known[id(variable)] = np.asarray(array)

    # -- results --------------------------------------------------------------------------------------------
    def rename(self, value: Variable, name: str) -> None:
        """Give a new Variable the name that it has in Paddle."""
        self.reading.rename(value, name)
        self._fresh.discard(id(value))

    def give(self, slot: str, value: Variable | Sequence[Variable]) -> None:
        """Let the names in an output slot mean ``value``, one or one for each name."""
        names = self.desc.outputs.get(slot, [])
        values = [value] if isinstance(value, Variable) else list(value)
        if len(values) != len(names):
            if names:
                raise FormatError(f"slot {slot} has {len(names)} variables for {len(values)} results")
            return
        for name, each in zip(names, values, strict=True):
            self.bind(name, each)

    def bind(self, name: str, value: Variable) -> None:
        """Let a name mean ``value`` from here on."""
        if id(value) in self._fresh:
            self._fresh.discard(id(value))
            self.reading.rename(value, name)
        before = self.frame.find(name)
        if before is not None and before.persistable and before is not value:
            raise FormatError(f"it writes the weight {name!r:.80}; save the model for prediction")
        self.frame.branches.pop(name, None)
        self.frame.values[name] = value


def _is_variable(value: Any) -> bool:
    return isinstance(value, Variable)


def _holds_variable(value: Any) -> bool:
    return any(map(_is_variable, value)) if isinstance(value, (list, tuple)) else _is_variable(value)


def _spec(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_spec(v) for v in value]
    return None if value is None else value.spec


def _arrays(known: dict[int, Any], value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [known[id(v)] for v in value]
    return None if value is None else known[id(value)]
