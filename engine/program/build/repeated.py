"""Calls of a function that is traced more than once: they share the parameters that the first one makes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import ParamSpec, TypeAlias, TypeVar

from engine.core import mode as modes
from engine.core.errors import ConversionError
from engine.core.frames import located, user_frame
from engine.core.names import naming_of_step

P = ParamSpec("P")
T = TypeVar("T")
_Place: TypeAlias = tuple[str, int, str]  # the user's file and line, and what is named there


class RepeatedCalls:
    """The calls of one step of a loop: functions such as ``fc`` make parameters at the first, and share them.

    A loop traces its body again where shapes change, and its first step may come before it.
    """

    def __init__(self, where: str) -> None:
        self.where = where
        self.names: dict[tuple[_Place, int], str] = {}
        self.is_begun = False

    def calls(self, function: Callable[P, T]) -> Callable[P, T]:
        """``function``, each of whose calls is one of these."""

        def one(*args: P.args, **kwargs: P.kwargs) -> T:
            if not modes.is_static():
                return function(*args, **kwargs)
            with naming_of_step.guard(_Call(self, naming_of_step.get()).name):
                result = function(*args, **kwargs)
            self.is_begun = True
            return result

        return one


class _Call:
    """One call: which of the names at a line comes next. ``outer`` names in the call that it is a part of."""

    def __init__(self, calls: RepeatedCalls, outer: Callable[[str, Callable[[], str]], str] | None) -> None:
        self._calls, self._outer = calls, outer
        self._counts: Counter[_Place] = Counter()

    def name(self, kind: str, make: Callable[[], str]) -> str:
        """See ``names.of_step``. Raises ConversionError for a parameter that only a further call makes."""
        frame = user_frame()
        place = ("", 0, kind) if frame is None else (frame.f_code.co_filename, frame.f_lineno, kind)
        key = place, self._counts[place]
        self._counts[place] += 1
        found = self._calls.names.get(key)
        if found is None:
            if self._calls.is_begun and kind.startswith("parameter"):
                error = ConversionError(
                    f"{self._calls.where}: a step makes a parameter that the first one did not make; call "
                    "the same functions in each step, and others before the loop"
                )
                raise located(error, frame)
            found = make() if self._outer is None else self._outer(kind, make)
            self._calls.names[key] = found
        return found
