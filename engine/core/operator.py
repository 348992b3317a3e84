"""One application of an operator: the same record on the tape of eager execution and in a Block."""

from __future__ import annotations

import linecache
import os
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

from engine.core.errors import EngineError

if TYPE_CHECKING:
    from engine.core.opdef import OpDef


class Operator:
    """An operator with its inputs, attributes and the place in the user's code that made it.

    In a Block, ``inputs`` are the Variables read (lists for list inputs, None for absent ones) and
    ``outputs`` the Variables written. ``key`` is the Variable that keeps the random key drawn,
    where a gradient replays the operator; ``replay`` marks such a second run, which draws no new
    key and has no effects. ``notes`` keeps what only its text shows.

    On the tape it never refers to its output Tensors, so a graph is a tree of references from results to
    arguments and is freed the moment the last result goes. ``inputs`` then holds only the Tensors that a
    gradient rule asks for, ``outputs`` only the arrays that one asks for, ``edges`` where the gradients
    go, ``versions`` what the inputs' version counters said, and ``shapes`` the shape of the output (a
    tuple of shapes for several).
    """

    __slots__ = (
        "attrs",
        "code",
        "counters",
        "edges",
        "hooks",
        "inputs",
        "instruction",
        "key",
        "notes",
        "opdef",
        "outputs",
        "replay",
        "shapes",
        "versions",
    )

    opdef: OpDef
    inputs: Any
    attrs: dict[str, Any]
    outputs: Any
    code: CodeType | tuple[str, int] | None
    instruction: int
    edges: tuple[Any, ...] | None
    versions: Any
    shapes: Any
    counters: Any
    hooks: Any
    key: Any
    notes: dict[str, Any] | None
    replay: bool

    def __init__(self, opdef: OpDef, inputs: Any, attrs: dict[str, Any]) -> None:
        self.opdef = opdef
        self.inputs = inputs
        self.attrs = attrs
        self.outputs = None
        self.code = None
        self.instruction = 0
        self.edges = None
        self.versions = None
        self.shapes = None
        self.counters = None
        self.hooks = None
        self.key = None
        self.notes = None
        self.replay = False

    @property
    def type(self) -> str:
        """The operator's name, as in Paddle's OpDesc."""
        return self.opdef.name

    @property
    def position(self) -> tuple[str, int] | None:
        """File and line that made this operator, or None where it was not kept."""
        if self.code is None:
            return None
        if isinstance(self.code, tuple):
            return self.code
        return self.code.co_filename, line_of(self.code, self.instruction)

    def note(self, key: str, value: Any) -> None:
        """Keep something that only the text shows."""
        self.notes = {**(self.notes or {}), key: value}

    def where(self) -> str:
        """``file:line: source text``, for messages; empty where no position was kept."""
        position = self.position
        if position is None:
            return ""
        text = linecache.getline(*position).strip()
        return f"{position[0]}:{position[1]}" + (f": {text}" if text else "")

    def __repr__(self) -> str:
        return f"<Operator {self.opdef.name}>"


def at_line(error: EngineError, operator: Operator) -> EngineError:
    """``error`` with the user's file and line that made ``operator`` in front."""
    position = operator.position
    return error if position is None else type(error)(f"{position[0]}:{position[1]}: {error}")


class OutEdge:
    """Where the gradient of output number ``index`` of an operator with several outputs goes."""

    __slots__ = ("index", "node")

    def __init__(self, node: Operator, index: int) -> None:
        self.node = node
        self.index = index


class Leaf:
    """Collects the gradient of a Tensor that no operator made. Knows no Tensor, so there is no cycle.

    ``cleared`` makes zeros of the last gradient's kind if someone looks at a gradient set to zero; the
    next backward then has nothing to add to.
    """

    __slots__ = ("cleared", "grad", "hooks", "shape")

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape
        self.grad: Any = None
        self.cleared: Any = None
        self.hooks: Any = None


class Counter:
    """How often the storage that a Tensor and its views share was changed in place."""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0


ENGINE_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


# Whether a file belongs to the engine, by name. A plain dict, asked with a subscript: once for every
# operator that is recorded.
INTERNAL: dict[str, bool] = {}


def is_internal(filename: str) -> bool:
    """Whether a file belongs to the engine; remembered in ``INTERNAL``."""
    found = INTERNAL.get(filename)
    if found is None:
        found = INTERNAL[filename] = filename.startswith((ENGINE_FOLDER, "<apply "))
    return found


def outside(frame: FrameType) -> FrameType:
    """The first frame outside the engine's own files, from ``frame`` on outwards: the user's line."""
    while is_internal(frame.f_code.co_filename) and frame.f_back is not None:
        frame = frame.f_back
    return frame


def line_of(code: CodeType, instruction: int) -> int:
    """The source line of a byte offset into ``code``."""
    for start, end, line in code.co_lines():
        if start <= instruction < end and line is not None:
            return line
    return code.co_firstlineno
