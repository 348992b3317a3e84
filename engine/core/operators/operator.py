"""One application of an operator: the same record on the tape of eager execution and in a Block."""

from __future__ import annotations

import linecache
import os
import threading
from collections.abc import Sequence
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, Protocol, final

from engine.core import mode as modes
from engine.core.containers.nest import flatten
from engine.core.delegate import delegate
from engine.core.errors import ArgumentError, EngineError
from engine.core.frames import line_of
from engine.core.layer_calls import common_call

if TYPE_CHECKING:
    from engine.core.operators.opdef import OpDef


class Operator:
    """An operator with its inputs, attributes and the place in the user's code that created it.

    In a Block, ``inputs`` are the Variables read (lists for list inputs, None for absent ones) and
    ``outputs`` the Variables written. ``regions`` are the sub-blocks that it runs. ``saved_state`` is the
    Variable that stores the state for a replay, if a gradient replays the operator: the random key that was
    drawn, or the iterations of a loop. ``replay`` marks the replay, which draws no new key and has no
    effects; ``replayed_state`` is the ``saved_state`` of its first run. ``segment`` is the number of the
    ``recompute`` call that it belongs to, 0 for none. ``layer`` is the path of the call of a Layer that made
    it (``engine.core.layer_calls``). ``notes`` holds data for its text only.

    On the tape it never refers to its output Tensors, so a graph is a tree of references from results to
    arguments and is freed with the last result. ``inputs`` then holds only the Tensors that a
    gradient rule asks for, ``outputs`` only the arrays that one asks for, ``edges`` where the gradients go,
    ``versions`` the inputs' version counts at that time, and ``shapes`` the shape of the output (a tuple of
    shapes for several).
    """

    __slots__ = (
        "attrs",
        "code",
        "counters",
        "edges",
        "hooks",
        "inputs",
        "instruction",
        "layer",
        "notes",
        "opdef",
        "outputs",
        "regions",
        "replay",
        "replayed_state",
        "saved_state",
        "segment",
        "shapes",
        "versions",
    )

    opdef: OpDef
    inputs: Any
    attrs: dict[str, Any]
    outputs: Any
    code: CodeType | tuple[str, int] | None
    instruction: int
    layer: str
    edges: tuple[Any, ...] | None
    versions: Any
    shapes: Any
    counters: Any
    hooks: Any
    saved_state: Any
    replayed_state: Any
    notes: dict[str, Any] | None
    regions: tuple[Any, ...]  # of Region, which Blocks belong to
    replay: bool
    segment: int

    def __init__(self, opdef: OpDef, inputs: Sequence[Any] | None, attrs: dict[str, Any]) -> None:
        self.opdef = opdef
        self.inputs = inputs
        self.attrs = attrs
        self.outputs = None
        self.code = None
        self.instruction = 0
        self.layer = ""
        self.edges = None
        self.versions = None
        self.shapes = None
        self.counters = None
        self.hooks = None
        self.saved_state = None
        self.replayed_state = None
        self.notes = None
        self.regions = ()
        self.replay = False
        self.segment = 0

    @property
    def position(self) -> tuple[str, int] | None:
        """File and line that created this operator, or None if the position was not recorded."""
        if self.code is None:
            return None
        if isinstance(self.code, tuple):
            return self.code
        return self.code.co_filename, line_of(self.code, self.instruction)

    def set_place(self, frame: FrameType | None, layer: str = "") -> None:
        """Note the line of ``frame``, where it was made, and the path of the call of a Layer."""
        if frame is not None:
            self.code, self.instruction = frame.f_code, frame.f_lasti
        self.layer = layer

    def take_place(self, *others: Operator) -> None:
        """Take the line of the last of these, and the call of a Layer that all of them are a part of."""
        self.code, self.instruction = others[-1].code, others[-1].instruction
        self.layer = common_call([each.layer for each in others])

    def replaced(self, number: int) -> Any:
        """The input whose storage that output replaces; None for a new array."""
        opdef = self.opdef
        name = None if opdef.listed else opdef.outputs[number].writes
        return None if name is None else self.inputs[opdef.index_of[name]]

    def note(self, key: str, value: Any) -> None:
        """Keep a value that only the text shows."""
        self.notes = {**(self.notes or {}), key: value}

    def where(self) -> str:
        """``file:line: source text``, for messages; empty if no position was recorded."""
        position = self.position
        if position is None:
            return ""
        text = linecache.getline(*position).strip()
        return f"{position[0]}:{position[1]}" + (f": {text}" if text else "")

    # -- text that its Program prints -----------------------------------------------------------------------
    @property
    def type(self) -> str:
        """The operator's name, as in Paddle's OpDesc: ``relu``, ``relu_grad``, ``adam``."""
        return paddle_type(self)

    @property
    def input_names(self) -> list[str]:
        """The slots that it reads."""
        return list(described(self).inputs)

    @property
    def output_names(self) -> list[str]:
        """The slots that it writes."""
        return list(described(self).outputs)

    @property
    def input_arg_names(self) -> list[str]:
        """The names of the Variables that it reads, slot by slot."""
        return [name for names in described(self).inputs.values() for name in names]

    @property
    def output_arg_names(self) -> list[str]:
        """The names of the Variables that it writes, slot by slot."""
        return [name for names in described(self).outputs.values() for name in names]

    @property
    def attr_names(self) -> list[str]:
        """The names of its attributes."""
        return list(self.all_attrs())

    def input(self, name: str) -> list[str]:
        """The names of the Variables that it reads in a slot. Raises ArgumentError for an unknown slot."""
        return self._slot("input", described(self).inputs, name)

    def output(self, name: str) -> list[str]:
        """The names of the Variables that it writes in a slot. Raises ArgumentError for an unknown slot."""
        return self._slot("output", described(self).outputs, name)

    def _slot(self, where: str, slots: dict[str, list[str]], name: str) -> list[str]:
        if name not in slots:
            raise ArgumentError(
                f"Operator.{where}: {self.type} has no slot {name!r}; its slots are {list(slots)}"
            )
        return slots[name]

    def all_attrs(self) -> dict[str, Any]:
        """Its attributes by name, with the line that created it as ``op_callstack``."""
        made: list[str] = []
        position = self.position
        if position is not None:
            made.append(f'  File "{position[0]}", line {position[1]}')
            text = linecache.getline(*position).strip()
            made += [f"    {text}"] if text else []
        return dict(sorted({**described(self).attrs, "op_callstack": made}.items()))

    def attr(self, name: str) -> Any:
        """An attribute's value. Raises ArgumentError for an unknown attribute."""
        found = self.all_attrs()
        if name not in found:
            raise ArgumentError(f"Operator.attr: {self.type} has no attribute {name!r}; it has {list(found)}")
        return found[name]

    def has_attr(self, name: str) -> bool:
        """Whether it has an attribute of that name."""
        return name in self.all_attrs()

    @property
    def desc(self) -> OpDesc:
        """The counterpart of Paddle's C++ description: scripts read attributes and types from it."""
        return OpDesc(self)

    def to_string(self, throw_on_error: bool = True, **_: Any) -> str:
        """Its line in the text of its Program."""
        return described(self).text()

    def __repr__(self) -> str:
        # The tape may leave the field unset; there the outputs are arrays.
        outputs = getattr(self, "outputs", None)
        if isinstance(outputs, tuple) and any(map(modes.is_symbolic, flatten(outputs))):
            return self.to_string()
        return f"<Operator {self.opdef.name}>"


@final
class Recorded(Operator):
    """An operator that generated code records: it sets the fields that are read on the tape, no others.

    Without the base's ``__init__``, which sets all, ``Recorded()`` costs two thirds of ``object.__new__``."""

    __slots__ = ()
    if not TYPE_CHECKING:
        __init__ = object.__init__


class OpDesc:
    """The value of ``Operator.desc``: properties of an Operator are methods here."""

    __slots__ = ("_operator",)

    def __init__(self, operator: Operator) -> None:
        self._operator = operator

    def type(self) -> str:
        """Paddle's name of the operator."""
        return self._operator.type

    def input(self, name: str) -> list[str]:
        return self._operator.input(name)

    def output(self, name: str) -> list[str]:
        return self._operator.output(name)

    def input_names(self) -> list[str]:
        return self._operator.input_names

    def output_names(self) -> list[str]:
        return self._operator.output_names

    def input_arg_names(self) -> list[str]:
        return self._operator.input_arg_names

    def output_arg_names(self) -> list[str]:
        return self._operator.output_arg_names

    def attr_names(self) -> list[str]:
        return self._operator.attr_names

    def attr(self, name: str) -> Any:
        """The value of an attribute. Raises ArgumentError for one that the operator does not have."""
        return self._operator.attr(name)

    def has_attr(self, name: str) -> bool:
        return self._operator.has_attr(name)


def at_line(error: EngineError, operator: Operator) -> EngineError:
    """``error`` with the user's file and line that created ``operator`` in front."""
    position = operator.position
    return error if position is None else type(error)(f"{position[0]}:{position[1]}: {error}")


class Description(Protocol):
    """An operator as Paddle's OpDesc shows it: names by slot, attributes by name, and the line of text."""

    inputs: dict[str, list[str]]
    outputs: dict[str, list[str]]
    attrs: dict[str, Any]

    def text(self) -> str: ...


@delegate("engine.program.text.describe")
def described(operator: Operator) -> Description:
    """The description of an operator of a Block as Paddle shows it."""
    raise NotImplementedError


@delegate("engine.program.text.describe")
def paddle_type(operator: Operator) -> str:
    """The name of an operator in Paddle's OpDesc."""
    raise NotImplementedError


@final
class OutEdge:
    """The edge of output number ``index`` of an operator with several outputs."""

    __slots__ = ("index", "node")

    def __init__(self, node: Operator, index: int) -> None:
        self.node = node
        self.index = index


# Locks of gradients, each for many leaves. No code of users runs while one is held, except code that the
# garbage collector calls: so they are reentrant.
_LOCKS = [threading.RLock() for _ in range(64)]


def lock_of(leaf: Leaf) -> threading.RLock:
    """The lock that a thread holds while it changes the gradient of ``leaf``; never two at once."""
    return _LOCKS[id(leaf) >> 6 & 63]


def _renew_locks() -> None:
    """A forked process has one thread: locks that other threads held at that moment are never released."""
    _LOCKS[:] = [threading.RLock() for _ in _LOCKS]


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_renew_locks)


@final
class Leaf:
    """Collects the gradient of a Tensor that no operator created. Knows no Tensor, so there is no cycle.

    ``cleared`` is set while the gradient is one that was set to zero: it creates the zeros on access to
    them, and the next backward replaces them. ``shown`` marks that other code may hold the gradient, which
    then sees additions to it and when it is set to zero. ``watcher`` is called during backward when the
    gradient is complete, and stores it (a ``Watcher`` of ``engine.autodiff.tape``).
    """

    __slots__ = ("cleared", "grad", "hooks", "shape", "shown", "watcher")

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape
        self.grad: Any = None
        self.cleared: Any = None
        self.hooks: Any = None
        self.shown = False
        self.watcher: Any = None


class Counter:
    """Version counter: how often the storage that a Tensor and its views share was changed in place."""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0
