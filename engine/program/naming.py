"""Names of what operators give, as Paddle's LayerHelper makes them: ``fc_0.tmp_1``, ``elementwise_add_0``.

In Paddle each public function makes a helper, ``linear_3``, and the results of its operators are called after
it, ``linear_3.tmp_0``. Here a table says for functions (by their code) and for operators (by type) what their
helper is called; the innermost function of the call that stands in the table makes the name.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engine.program.program import Program

_ENGINE_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep

HELPER = "{helper}.tmp"  # the usual form: a helper for each call, its results counted


class Naming:
    """How the results of one call are named.

    ``key`` is what the helper is counted under; ``form`` the results' own key: ``{helper}.tmp`` as a rule,
    ``{helper}`` bare for a result that is called like its helper, ``tmp`` or ``{x}_slice`` (``x`` is the name
    of the first input) where there is no helper. ``skip`` helpers are made in vain before. ``only`` names
    the operators that are named so (all by default); ``early`` those whose result Paddle declares before that
    of the operator in front.
    """

    __slots__ = ("early", "form", "key", "only", "skip")

    def __init__(
        self, key: str = "", form: str = HELPER, skip: int = 0, only: str = "", early: str = ""
    ) -> None:
        self.key, self.form, self.skip = key, form, skip
        self.only = frozenset(only.split())
        self.early = frozenset(early.split())


_HELPED = Naming()

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

    def namer(
        self, program: Program, operator: str, first: str, frames: list[FrameType]
    ) -> tuple[Naming, Callable[[], str]]:
        """How the results of ``operator`` are named, and what gives one name after the other.

        ``first`` is the name of its first input, ``frames`` those of the engine's functions it was applied
        in, from inside to outside.
        """
        self._prune(frames)
        for frame in frames:
            naming = FUNCTIONS.get(frame.f_code)
            helper = next((name for f, name in self._running if f is frame), None)
            if helper is not None and naming is None:
                naming = _HELPED
            if naming is not None and (not naming.only or operator in naming.only):
                if helper is None:
                    helper = _helper(program, naming)
                    self._running.append((frame, helper))
                break
        else:
            naming = OPERATORS.get(operator) or Naming(operator)
            helper = _helper(program, naming)
        key = naming.form.format(helper=helper, x=first)
        if naming.form == "{helper}":  # the first result is called like the helper itself
            given = iter((helper,))
            return naming, lambda: next(given, None) or program.unique_name(f"{helper}.tmp")
        return naming, lambda: program.unique_name(key)

    def enter(self, frame: FrameType, helper: str) -> None:
        """Let what the call of ``frame`` applies be called after ``helper``."""
        self._prune(list(engine_frames(frame)))
        self._running.append((frame, helper))

    def _prune(self, frames: list[FrameType]) -> None:
        """Let go of the calls that are over."""
        active = set(map(id, frames))
        self._running = [entry for entry in self._running if id(entry[0]) in active]


def _helper(program: Program, naming: Naming) -> str:
    if not naming.key:
        return ""
    for _ in range(naming.skip):
        program.unique_name(naming.key)
    return program.unique_name(naming.key)


def engine_frames(frame: FrameType | None) -> Iterator[FrameType]:
    """The frames of the engine's own functions from ``frame`` outwards, up to the user's code."""
    while frame is not None and frame.f_code.co_filename.startswith((_ENGINE_FOLDER, "<apply ")):
        yield frame
        frame = frame.f_back
