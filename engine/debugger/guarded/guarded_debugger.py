"""GuardedDebugger: the debugger of a saved model that this installation did not write."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self, cast

import numpy as np

from engine.core.errors import FormatError, UnreadyError
from engine.core.models.limits import ModelLimits
from engine.debugger.breakpoints import Breakpoint
from engine.debugger.changes import Given, How
from engine.debugger.conditions import Condition
from engine.debugger.debugger import KEPT_BYTES, Debugger
from engine.debugger.points import Part
from engine.debugger.stop import Stop
from engine.debugger.subjects.building import of_saved
from engine.debugger.timeline import Named
from engine.inference.process import MOST_PROGRAM, ModelProcess
from engine.inference.wire import Message
from engine.jit.saved.model_files import is_own_model

Array = np.ndarray[Any, Any]


class DebugProcess(ModelProcess):
    """The process that steps through one model; it has the limits of a model of another installation."""

    _server = "engine.debugger.guarded.serve"

    def ask(self, said: dict[str, Any], arrays: Sequence[Array] = ()) -> Message:
        """As ``request``, for answers with a Program."""
        return self.request(said, arrays, most=MOST_PROGRAM)


class GuardedDebugger:
    """A :class:`Debugger` in a child process with limits, for a saved model; see there for what it does.

    A limit ends the child, and so does ``interrupt()``, from any thread; ``restart()`` starts another one
    with the same breakpoints, conditions and watches. Use it as a context manager, or call ``close()``.

    Raises DataError, FormatError, LimitError, ProgramError as :class:`ModelProcess`, and what the model
    raises for inputs that do not fit.
    """

    def __init__(
        self,
        prefix: str | os.PathLike[str],
        inputs: Sequence[Array] | None = None,
        seed: int = 0,
        keep_bytes: int = KEPT_BYTES,
        limits: ModelLimits | None = None,
    ) -> None:
        self._process = process = DebugProcess(prefix, limits)
        self.keep_bytes = min(keep_bytes, process.limits.memory // 4)
        self.watches: list[str] = []
        self._breakpoints: dict[int, Breakpoint] = {}
        self._conditions: list[Condition] = []
        self._title, self._inputs, self._seed = Path(prefix).name, inputs, seed
        try:
            self._start()
        except BaseException:
            process.close()
            raise

    def _start(self) -> None:
        request = {
            "do": "begin",
            "given": self._inputs is not None,
            "seed": self._seed,
            "keep": self.keep_bytes,
            "title": self._title,
        }
        found = self._process.ask(request, [] if self._inputs is None else list(self._inputs))
        self.title = str(found.said.get("title", ""))
        self.notes = [str(note) for note in found.said.get("notes", ())]
        self.notes.append("it runs in a process with limits: another installation wrote the model")
        self.stop = Stop.of_plain(found.said["stop"])
        self.parts: Sequence[Part] = self._parts(found.arrays)

    def _parts(self, arrays: Sequence[Array]) -> list[Part]:
        try:
            plain = json.loads(bytes(arrays[0]).decode("utf-8", "replace"))
            return [Part(str(each["name"]), cast("Mapping[str, Any]", each["program"])) for each in plain]
        except (LookupError, TypeError, ValueError, RecursionError) as error:
            raise FormatError(f"{self._process.prefix}: its Program could not be read: {error}") from error

    def _call(self, name: str, /, **asked: Any) -> Any:
        return self._process.ask({"do": "call", "name": name, "asked": asked}).said.get("value")

    def _moved(self, name: str, /, **asked: Any) -> Stop:
        self.stop = Stop.of_plain(self._call(name, **asked))
        return self.stop

    # -- as of Debugger ------------------------------------------------------------------------------------
    @property
    def position(self) -> int:
        return self.stop.position

    @property
    def batch(self) -> int:
        return self.stop.batch

    @property
    def kept_bytes(self) -> int:
        return int(self._call("kept_bytes"))

    def step(self) -> Stop:
        return self._moved("step")

    def step_back(self) -> Stop:
        return self._moved("step_back")

    def go_to(self, position: int) -> Stop:
        return self._moved("go_to", position=position)

    def resume(self) -> Stop:
        return self._moved("resume")

    def until_nan(self, ignore: Sequence[str] = (), batches: int = 1, breaks: bool = False) -> Stop:
        return self._moved("until_nan", ignore=list(ignore), batches=batches, breaks=breaks)

    def next_batch(self) -> Stop:
        return self._moved("next_batch")

    def restart(self) -> Stop:
        try:
            return self._moved("restart")
        except UnreadyError:  # another child, which knows nothing yet
            self._start()
        before, self._breakpoints = self._breakpoints, {}
        for each in before.values():
            self.add_breakpoint(each)
        self.conditions = self._conditions
        for name in self.watches:
            self._call("watch", name=name)
        return self.stop

    @property
    def conditions(self) -> list[Condition]:
        return self._conditions

    @conditions.setter
    def conditions(self, conditions: Sequence[Condition]) -> None:
        self._call("set_conditions", conditions=[each.plain() for each in conditions])
        self._conditions = list(conditions)

    @property
    def breakpoints(self) -> dict[int, Breakpoint]:
        return dict(self._breakpoints)

    def add_breakpoint(self, wanted: Breakpoint) -> int:
        number = int(self._call("add_breakpoint", wanted=wanted.plain()))
        self._note_breakpoints()
        return number

    def change_breakpoint(self, number: int, wanted: Breakpoint) -> None:
        self._call("change_breakpoint", number=number, wanted=wanted.plain())
        self._note_breakpoints()

    def remove_breakpoint(self, number: int) -> None:
        self._call("remove_breakpoint", number=number)
        self._note_breakpoints()

    def _note_breakpoints(self) -> None:
        found = dict(self._call("breakpoints"))
        self._breakpoints = {int(number): Breakpoint.of_plain(each) for number, each in found.items()}

    def hits(self, number: int) -> int:
        return int(self._call("hits", number=number))

    def values(self, first: int = 0, count: int = 1000) -> list[Named]:
        return cast("list[Named]", self._call("values", first=first, count=count))

    def view(self, name: str, kind: str = "statistics", **options: Any) -> dict[str, Any]:
        return dict(self._call("view", name=name, kind=kind, **options))

    def watch(self, name: str) -> None:
        self._call("watch", name=name)
        if name not in self.watches:
            self.watches.append(name)

    def unwatch(self, name: str) -> None:
        self._call("unwatch", name=name)
        if name in self.watches:
            self.watches.remove(name)

    @property
    def changes(self) -> list[dict[str, Any]]:
        return list(self._call("changes"))

    def change(self, name: str, how: How, value: Given, index: Sequence[int] = ()) -> Stop:
        given = value.tolist() if isinstance(value, np.ndarray) else value
        return self._moved("change", name=name, how=how, value=given, index=list(index))

    def interrupt(self) -> None:
        self._process.cancel()

    def forget_interrupt(self) -> None:
        """Nothing is left of one: it has ended the process."""

    def close(self) -> None:
        self._process.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def open_saved(
    prefix: str | os.PathLike[str],
    inputs: Sequence[Array] | None = None,
    seed: int = 0,
    keep_bytes: int = KEPT_BYTES,
    limits: ModelLimits | None = None,
) -> Debugger | GuardedDebugger:
    """The debugger of a saved model: in this process where this installation wrote it, else in a child
    process with limits. ``inputs`` are arrays in the order of the model's inputs; else random numbers."""
    if is_own_model(prefix):
        return Debugger(of_saved(prefix, inputs, seed), keep_bytes)
    return GuardedDebugger(prefix, inputs, seed, keep_bytes, limits)
