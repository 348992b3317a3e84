"""Reads pickles of protocols 2 to 4 by a walk over their opcodes, without an unpickler: nothing is called.

A pickle is a program for a machine with a stack. Here the machine knows texts, numbers, bytes, lists, tuples,
dicts and sets. A global is two texts, which are looked up in a :class:`Vocabulary`; one that it does not
contain refuses the file. What the walk takes is charged before it is taken: at most twice the length of the
pickle and 64 MB, besides the pickle itself.
"""

from __future__ import annotations

import struct
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from engine.core.errors import FormatError
from engine.files.paddle.pickle_values import Blob, Malformed, Name, Pending, Text, finished, shown

Meaning: TypeAlias = "Callable[[Walk, tuple[Any, ...]], Any] | None"
"""What a global stands for, from the arguments that it is called with; None where it is only named."""

SLACK = 64 << 20  # bytes that a walk may take besides a multiple of the length
_STEP = 48  # charged for each opcode: it bounds the time too
_SHORT = 1000  # bytes of a text or of bytes that are copied at once
_LONGEST_INTEGER = 32  # bytes
_LINE = 200  # characters of the two lines of a GLOBAL
_UNICODE_ERRORS = "surrogatepass"


@dataclass(frozen=True)
class Vocabulary:
    """The globals that a file may name, and what ``persistent`` makes of a persistent id, if it may hold any.

    ``kind`` says in messages what such a file holds.
    """

    kind: str
    names: Mapping[tuple[str, str], Meaning]
    persistent: Callable[[Walk, Any], Any] | None = None


def read_pickle(
    data: bytes | memoryview, where: str, vocabulary: Vocabulary, length: int | None = None
) -> Any:
    """The value in ``data``, which is one whole pickle.

    ``length`` is that of the whole file, where arrays lie outside the pickle; it sets the limit on memory.

    Raises:
        FormatError: damaged, of another protocol, with a global outside ``vocabulary``, with values that
            contain themselves or are nested over 100 levels, or larger in memory than its length explains.
    """
    value, end = read_first_pickle(data, where, vocabulary, length)
    if end != len(data):
        raise FormatError(
            f"{where}: not loaded: {len(data) - end} bytes follow the end of the pickle; get the file again"
        )
    return value


def read_first_pickle(
    data: bytes | memoryview, where: str, vocabulary: Vocabulary, length: int | None = None
) -> tuple[Any, int]:
    """The value of the pickle that ``data`` begins with, and where it ends. Raises as :func:`read_pickle`."""
    walk = Walk(memoryview(data), vocabulary, left=2 * (len(data) if length is None else length) + SLACK)
    try:
        value = walk.run()
        return finished(value, walk.charge), walk.at
    except Malformed as cause:
        reason = str(cause)
    except (struct.error, IndexError):
        reason = "it is truncated or damaged"
    except UnicodeError:
        reason = "a text in it is damaged"
    except (MemoryError, RecursionError, OverflowError, ValueError, TypeError) as cause:
        reason = f"it is damaged ({type(cause).__name__})"
    raise FormatError(
        f"{where}: not loaded: byte {walk.begun} of the pickle: {reason}; nothing in it was run; get the "
        f"file again, or save it as {vocabulary.kind}"
    )


@dataclass
class Walk:
    """The machine: what is read of ``data`` up to ``at``, the stack above the last mark, and what lies below.

    ``begun`` is where the current opcode begins, ``left`` the bytes of memory that may still be taken.
    """

    data: memoryview
    vocabulary: Vocabulary
    left: int
    at: int = 0
    begun: int = 0
    stack: list[Any] = field(default_factory=list)
    below: list[list[Any]] = field(default_factory=list)
    memo: dict[int, Any] = field(default_factory=dict)

    def run(self) -> Any:
        """The value that the program leaves. Raises Malformed, or an error of the bytes."""
        length, data = len(self.data), self.data
        if length < 2 or data[0] != 0x80 or not 2 <= data[1] <= 4:
            raise Malformed(
                f"protocol {data[1]} where 2 to 4 are read"
                if length >= 2 and data[0] == 0x80
                else "no pickle of protocol 2 to 4 begins like this"
            )
        self.at = 2
        while self.at < length:
            self.begun = self.at
            code = data[self.at]
            self.at += 1
            if code == _STOP:
                if self.below or len(self.stack) != 1:
                    raise Malformed(f"it ends with {len(self.stack)} values where one is expected")
                return self.stack[0]
            step = _STEPS.get(code)
            if step is None:
                raise Malformed(f"opcode {code:#04x} is not one of those for plain values")
            self.left -= _STEP
            if self.left < 0:
                self.charge(0)
            step(self)
        raise Malformed("it ends before its last opcode")

    def charge(self, size: int) -> None:
        """Count ``size`` bytes of memory. Raises Malformed beyond the limit."""
        self.left -= size
        if self.left < 0:
            raise Malformed("reading it takes more memory than its size explains")

    # ----- bytes ---------------------------------------------------------------------------------------

    def take(self, count: int) -> memoryview:
        """The next ``count`` bytes."""
        end = self.at + count
        if not count >= 0 or end > len(self.data):
            raise Malformed(f"it is truncated: {count} bytes are announced")
        found = self.data[self.at : end]
        self.at = end
        return found

    def number(self, form: struct.Struct) -> int:
        """The next number."""
        found: int = form.unpack_from(self.data, self.at)[0]
        self.at += form.size
        return found

    def line(self) -> str:
        """The text up to the next line feed."""
        most = bytes(self.data[self.at : self.at + _LINE])
        end = most.find(b"\n")
        if end < 0:
            raise Malformed("the name of a global has no end")
        self.at += end + 1
        return most[:end].decode("utf-8")

    # ----- the stack -----------------------------------------------------------------------------------

    def push(self, value: object) -> None:
        self.stack.append(value)

    def pop(self) -> Any:
        """The value on top, which is taken. Raises Malformed where there is none above the mark."""
        if not self.stack:
            raise Malformed("it takes a value from an empty stack")
        return self.stack.pop()

    def top(self, what: type | tuple[type, ...]) -> Any:
        """The value on top, which must be a ``what`` and remains."""
        if not self.stack or not isinstance(self.stack[-1], what):
            raise Malformed("it adds values to something that takes none")
        return self.stack[-1]

    def marked(self) -> list[Any]:
        """The values above the last mark, which are taken with it."""
        if not self.below:
            raise Malformed("a mark is missing")
        found = self.stack
        self.stack = self.below.pop()
        return found

    # ----- containers, globals -------------------------------------------------------------------------

    def put(self, index: int) -> None:
        """Store the value on top under a number."""
        if not self.stack:
            raise Malformed("it stores a value from an empty stack")
        self.charge(100)
        self.memo[index] = self.stack[-1]

    def get(self, index: int) -> None:
        """Push the value that is stored under a number."""
        if index not in self.memo:
            raise Malformed(f"value {index} is used before it is stored")
        self.stack.append(self.memo[index])

    def set_items(self, pairs: list[Any]) -> None:
        """Add keys and values, in alternation, to the dict on top."""
        if len(pairs) % 2:
            raise Malformed("a dict has a key without a value")
        self.charge(60 * len(pairs))
        target = self.top((dict,))
        for key, value in zip(pairs[::2], pairs[1::2], strict=True):
            check_key(key, "a key of a dict")
            if key in target:
                raise Malformed(f"a dict has the key {shown(key)} twice")
            target[key] = value

    def add_items(self, items: list[Any]) -> None:
        """Add values to the set on top."""
        target = self.top((set,))
        self.charge(80 * len(items))
        for item in items:
            check_key(item, "a value in a set")
            target.add(item)

    def extend(self, items: list[Any]) -> None:
        """Add values to the list on top."""
        self.charge(9 * len(items))
        self.top((list,)).extend(items)

    def name(self, module: object, name: object) -> None:
        """Push a global; it is only compared with those of the vocabulary."""
        if type(module) is not str or type(name) is not str:
            raise Malformed("a global is not named by two texts")
        found = Name(module, name)
        if (module, name) not in self.vocabulary.names:
            raise Malformed(f"it names {shown(f'{module}.{name}')}, which is refused")
        self.charge(100)
        self.stack.append(found)

    def call(self) -> None:
        """Push what the global below the arguments stands for."""
        arguments, function = self.pop(), self.pop()
        if type(function) is not Name or type(arguments) is not tuple:
            raise Malformed("it calls something that is not a global")
        meaning = self.vocabulary.names[function.module, function.name]
        if meaning is None:
            raise Malformed(f"it calls {shown(str(function))}, which is refused")
        self.charge(200)
        self.stack.append(meaning(self, arguments))

    def build(self) -> None:
        """Give the value below it the state on top."""
        state = self.pop()
        target = self.top((Pending, OrderedDict))
        if isinstance(target, Pending):
            target.build(self.charge, state)
        elif not isinstance(state, dict):  # the attributes of an OrderedDict, which have no meaning here
            raise Malformed("an OrderedDict has an invalid state")

    def persistent(self) -> None:
        """Push what the persistent id on top stands for."""
        meaning = self.vocabulary.persistent
        if meaning is None:
            raise Malformed("it refers to a value outside the pickle")
        self.charge(200)
        self.stack.append(meaning(self, self.pop()))

    def text(self, length: int) -> None:
        """Push the text of the next bytes; a long one is decoded where it is needed."""
        found = self.take(length)
        if length > _SHORT:
            self.charge(300)
            self.stack.append(Text(found))
            return
        self.charge(60 + 4 * length)
        self.stack.append(str(found, "utf-8", _UNICODE_ERRORS))

    def blob(self, length: int) -> None:
        """Push the next bytes; many are not copied."""
        found = self.take(length)
        self.charge(300 if length > _SHORT else 40 + length)
        self.stack.append(Blob(found) if length > _SHORT else bytes(found))

    def old_text(self, length: int) -> None:
        """Push a text of Python 2: ASCII is a text, anything else is bytes."""
        found = self.take(length)
        if length > _SHORT:
            self.charge(300)
            self.stack.append(Blob(found))
            return
        self.charge(60 + length)
        plain = bytes(found)
        self.stack.append(plain.decode("ascii") if plain.isascii() else plain)

    def integer(self, length: int) -> None:
        """Push the integer of the next bytes."""
        if length > _LONGEST_INTEGER:
            raise Malformed(f"an integer of {length} bytes")
        self.stack.append(int.from_bytes(self.take(length), "little", signed=True))

    def tuple_of(self, count: int) -> None:
        """Replace the ``count`` values on top by a tuple of them."""
        if len(self.stack) < count:
            raise Malformed("it takes values from an empty stack")
        self.charge(40 + 8 * count)
        self.stack[-count:] = [tuple(self.stack[-count:])]


def check_key(key: object, what: str) -> None:
    """Raise Malformed unless ``key`` is a text, an integer, a boolean or None, whose hash costs little."""
    if type(key) not in (str, int, bool, type(None)):
        raise Malformed(f"{what} is neither a text nor an integer")


def _mark(walk: Walk) -> None:
    walk.charge(64)
    walk.below.append(walk.stack)
    walk.stack = []


def _pop(walk: Walk) -> None:
    if walk.stack:
        walk.stack.pop()
    else:
        walk.marked()


def _pop_mark(walk: Walk) -> None:
    walk.marked()


def _pushes(make: Callable[[], Any], size: int) -> Callable[[Walk], None]:
    def step(walk: Walk) -> None:
        walk.charge(size)
        walk.stack.append(make())

    return step


def _tuple(walk: Walk) -> None:
    items = walk.marked()
    walk.charge(40 + 8 * len(items))
    walk.stack.append(tuple(items))


def _frozen(walk: Walk) -> None:
    items = walk.marked()
    walk.charge(200 + 80 * len(items))
    for item in items:
        check_key(item, "a value in a set")
    walk.stack.append(frozenset(items))


def _frame(walk: Walk) -> None:
    if walk.number(_U8) > len(walk.data) - walk.at:
        raise Malformed("it is truncated: a frame is longer than the rest")


def _stack_global(walk: Walk) -> None:
    name, module = walk.pop(), walk.pop()
    walk.name(module, name)


def _set_item(walk: Walk) -> None:
    value, key = walk.pop(), walk.pop()
    walk.set_items([key, value])


_U1, _U2, _U4, _U8 = (struct.Struct(form) for form in ("<B", "<H", "<I", "<Q"))
_I4, _F8 = struct.Struct("<i"), struct.Struct(">d")
_STOP = ord(".")
_STEPS: dict[int, Callable[[Walk], None]] = {
    0x95: _frame,
    ord("("): _mark,
    ord("0"): _pop,
    ord("1"): _pop_mark,
    ord("N"): lambda walk: walk.push(None),
    0x88: lambda walk: walk.push(True),
    0x89: lambda walk: walk.push(False),
    ord("K"): lambda walk: walk.push(walk.number(_U1)),
    ord("M"): lambda walk: walk.push(walk.number(_U2)),
    ord("J"): lambda walk: walk.push(walk.number(_I4)),
    0x8A: lambda walk: walk.integer(walk.number(_U1)),
    0x8B: lambda walk: walk.integer(walk.number(_I4)),
    ord("G"): lambda walk: walk.push(walk.number(_F8)),
    ord("X"): lambda walk: walk.text(walk.number(_U4)),
    0x8C: lambda walk: walk.text(walk.number(_U1)),
    0x8D: lambda walk: walk.text(walk.number(_U8)),
    ord("B"): lambda walk: walk.blob(walk.number(_U4)),
    ord("C"): lambda walk: walk.blob(walk.number(_U1)),
    0x8E: lambda walk: walk.blob(walk.number(_U8)),
    ord("T"): lambda walk: walk.old_text(walk.number(_I4)),
    ord("U"): lambda walk: walk.old_text(walk.number(_U1)),
    ord("]"): _pushes(list, 64),
    ord("}"): _pushes(dict, 64),
    ord(")"): _pushes(tuple, 0),
    0x8F: _pushes(set, 216),
    ord("a"): lambda walk: walk.extend([walk.pop()]),
    ord("e"): lambda walk: walk.extend(walk.marked()),
    ord("s"): _set_item,
    ord("u"): lambda walk: walk.set_items(walk.marked()),
    0x90: lambda walk: walk.add_items(walk.marked()),
    0x91: _frozen,
    ord("t"): _tuple,
    0x85: lambda walk: walk.tuple_of(1),
    0x86: lambda walk: walk.tuple_of(2),
    0x87: lambda walk: walk.tuple_of(3),
    ord("c"): lambda walk: walk.name(walk.line(), walk.line()),
    0x93: _stack_global,
    ord("R"): lambda walk: walk.call(),
    ord("b"): lambda walk: walk.build(),
    ord("Q"): lambda walk: walk.persistent(),
    ord("h"): lambda walk: walk.get(walk.number(_U1)),
    ord("j"): lambda walk: walk.get(walk.number(_U4)),
    ord("q"): lambda walk: walk.put(walk.number(_U1)),
    ord("r"): lambda walk: walk.put(walk.number(_U4)),
    0x94: lambda walk: walk.put(len(walk.memo)),
}
