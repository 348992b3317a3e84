"""Names of what operators give, as Paddle's LayerHelper makes them: ``fc_0.tmp_1``, ``elementwise_add_0``.

In Paddle each public function makes a helper, ``linear_3``, and the results of its operators are called after
it, ``linear_3.tmp_0``. Here a table says for functions (by their code) and for operators (by type) what their
helper is called; the innermost function of the call that stands in the table makes the name.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

from engine.core.frames import ENGINE_FOLDER, is_internal

if TYPE_CHECKING:
    from engine.program.graph.program import Program

# Where a parameter called ``name`` names the result.
_FUNCTIONS = tuple(
    f"{ENGINE_FOLDER}{os.path.join(*folder.split('/'))}{os.sep}"
    for folder in ("tensor", "nn/functional", "static", "vision/ops", "signal", "incubate")
)
_LAYERS = f"{ENGINE_FOLDER}{os.path.join('nn', 'layer')}{os.sep}"

HELPER = "{helper}.tmp"  # the usual form: a helper for each call, its results counted


class Naming:
    """How the results of one call are named.

    ``key`` is what the helper is counted under (``{operator}``: that of the first operator); ``form`` the
    results' own key: ``{helper}.tmp`` as a rule,
    ``{helper}`` bare for a result that is called like its helper, ``tmp`` or ``{x}_slice`` (``x`` is the name
    of the first input) where there is no helper, nothing at all where each operator names its own.
    ``skip`` helpers are made in vain before. ``only`` names
    the operators that are named so (all by default); ``early`` those whose result Paddle declares before that
    of the operator in front; ``order`` is that of the results' slots, where it is not the form's. An
    ``owner``'s results are called after the Layer whose method it is. ``outer`` goes before the functions
    called inside. ``device`` is where Paddle computes the operator.
    """

    __slots__ = ("device", "early", "form", "key", "only", "order", "outer", "owner", "skip")

    def __init__(
        self,
        key: str = "",
        form: str = HELPER,
        skip: int = 0,
        only: str = "",
        early: str = "",
        order: str = "",
        owner: bool = False,
        outer: bool = False,
        device: str = "",
    ) -> None:
        self.key, self.form, self.skip, self.owner, self.outer = key, form, skip, owner, outer
        self.order = tuple(order.split())
        self.device = device
        self.only = frozenset(only.split())
        self.early = frozenset(early.split())


FUNCTIONS: dict[CodeType, Naming] = {}
OPERATORS: dict[str, Naming] = {}


def name_function(function: Any, key: str = "", form: str = HELPER, **more: Any) -> None:
    """Let the operators that ``function`` applies name their results so."""
    FUNCTIONS[function.__code__] = Naming(key, form, **more)


def name_operator(operator: str, key: str = "", form: str = HELPER, **more: Any) -> None:
    """Let an operator name its results so where no function does."""
    OPERATORS[operator] = Naming(key, form, **more)


class Helpers:
    """The helpers of the calls that are running, so that all results of one call share a helper."""

    def __init__(self) -> None:
        self._running: list[tuple[FrameType, str]] = []
        self._forced: list[tuple[str, Naming]] = []

    def namer(
        self, program: Program, operator: str, first: str, frames: list[FrameType]
    ) -> tuple[Naming, Callable[[], str]]:
        """How the results of ``operator`` are named, and what gives one name after the other.

        ``first`` is the name of its first input, ``frames`` those of the engine's functions it was applied
        in, from inside to outside.
        """
        if self._forced:
            forced, naming = self._forced[-1]
            return naming, lambda: program.unique_name(forced)
        active = set(map(id, frames))
        self._running = [entry for entry in self._running if id(entry[0]) in active]
        found = _found(operator, frames)
        given = _given(frames)
        if given is not None:
            naming = found[1] if found and found[1].form else OPERATORS.get(operator) or Naming(operator)
            helper = given
        elif found is None:
            naming = OPERATORS.get(operator) or Naming(operator)
            helper = _helper(program, naming)
        else:
            frame, naming = found
            running = next((name for f, name in self._running if f is frame), None)
            if running is None:
                own = frame.f_locals["self"].full_name() if naming.owner else None
                running = own or _helper(program, naming, operator)
                self._running.append((frame, running))
            helper = running
        if not naming.form:  # by the operators, whatever the functions inside say
            naming = OPERATORS.get(operator) or Naming(operator)
            helper = _helper(program, naming)
        key = naming.form.format(helper=helper, x=first)
        if naming.form == "{helper}":  # the first result is called like the helper itself
            first_one = iter(() if any(helper in b.vars for b in program.blocks) else (helper,))
            return naming, lambda: next(first_one, None) or program.unique_name(f"{helper}.tmp")
        return naming, lambda: program.unique_name(key)

    @contextmanager
    def forced(self, key: str, order: str = "") -> Iterator[None]:
        """Within the block every result is called ``key``, numbered."""
        self._forced.append((key, Naming(order=order)))
        try:
            yield
        finally:
            self._forced.pop()


def _found(operator: str, frames: list[FrameType]) -> tuple[FrameType, Naming] | None:
    found = None
    for frame in frames:
        naming = FUNCTIONS.get(frame.f_code)
        if naming is not None and (not naming.only or operator in naming.only):
            if naming.outer:
                return frame, naming
            found = found or (frame, naming)
    return found


def _given(frames: list[FrameType]) -> str | None:
    """The name that the user gave: to a function, as ``name``, or to the Layer that applies it."""
    for frame in frames:
        code = frame.f_code
        if code.co_name == "forward":
            own = frame.f_locals.get("self")
            fields = getattr(own, "__dict__", {}) if code.co_filename.startswith(_LAYERS) else {}
            found = fields.get("_name") or fields.get("name")
        elif "name" in code.co_varnames[: code.co_argcount] and code.co_filename.startswith(_FUNCTIONS):
            found = None if code.co_name.startswith("_") else frame.f_locals["name"]
        else:
            continue
        if isinstance(found, str) and found:
            return found
    return None


def _helper(program: Program, naming: Naming, operator: str = "") -> str:
    key = naming.key.format(operator=operator)
    if not key:
        return ""
    for _ in range(naming.skip):
        program.unique_name(key)
    return program.unique_name(key)


def engine_frames(frame: FrameType | None) -> Iterator[FrameType]:
    """The frames of the engine's own functions from ``frame`` outwards, up to the user's code."""
    while frame is not None and is_internal(frame.f_code.co_filename):
        yield frame
        frame = frame.f_back
