"""ModelProcess: a saved model in a process of its own, which has limits and can be ended at any time.

An untrusted model file defines what is computed: it may loop forever or ask for all memory, and native code
may crash on what it does. In a child process that costs the caller nothing but an error. The child of a model
that this installation did not write can't write files, and has limits on memory and time that follow from
``engine.model_limits``; own models run without limits, and can be cancelled all the same.
"""

from __future__ import annotations

import builtins
import json
import os
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np

from engine.core import errors
from engine.core.errors import (
    CancelledError,
    EngineError,
    FormatError,
    LimitError,
    ProgramError,
    UnreadyError,
)
from engine.core.models.limits import ModelLimits, current, how_to_raise
from engine.files.untrusted import child as children
from engine.files.untrusted.limits import TOO_MUCH_MEMORY
from engine.inference.child_process import Child
from engine.inference.wire import ClosedError, Message, Most, WireError
from engine.jit.saved.model_files import is_own_model, model_paths, model_prefix

# The start of Python and the engine, on a machine with much else to do.
START_SECONDS = 120.0
# The engine's own limits come first and say more; the process is ended where they can't act.
MORE_SECONDS = 2.0
MEMORY_FACTOR = 2
LEAST_ADVISED = 64_000_000  # less does not load the libraries that read a model
# Information on a model, and its Program with its text. JSON of n bytes may take 50 n bytes of memory.
MOST_SAID = 4 << 20
MOST_PROGRAM = 8 << 20
MOST_OF_OWN = 1 << 30
# Characters of an error that is shown, as the child cuts it.
MOST_MESSAGE = 10_000
_NO_MEMORY = ("MemoryError", "_ArrayMemoryError", "AllocationError")
# What the system says of a library that it finds no memory for.
_LOADING = ("ImportError", "OSError", "SystemError")
_NO_MAPPING = ("failed to map segment", "annot allocate memory", "annot map zero-fill pages", "paging file")
_BUILT_IN = (
    "ValueError",
    "TypeError",
    "RuntimeError",
    "IndexError",
    "ZeroDivisionError",
    "OverflowError",
    "FloatingPointError",
    "NotImplementedError",
)


@dataclass(frozen=True)
class ModelDescription:
    """What is known of a model that was loaded.

    ``info`` is the content of its information file as parsed JSON; it may be untrusted, and the caller
    checks it. ``own`` says whether this installation wrote all files.
    """

    prefix: Path
    save_id: str
    info: Any
    own: bool


class ModelProcess:
    """The model saved under ``prefix``, in a child process that starts with the first request.

    A child that was ended, by a limit, by ``cancel()`` or by a crash, is started again by the next request.
    Requests of several threads are answered in turn; ``cancel()`` and ``close()`` may come from any thread.
    What the operators of the model print is not shown. Use it as a context manager, or call ``close()``.

    Args:
        prefix: the saved model, without suffix, or its file.
        limits: for a model that this installation did not write; ``engine.model_limits`` in force unless
            given.
    """

    # The module whose ``serve`` answers in the child.
    _server = "engine.inference.serve"
    _starts = Child

    def __init__(self, prefix: str | os.PathLike[str], limits: ModelLimits | None = None) -> None:
        self._path = prefix
        self.limits = limits or current()
        self._child: Child | None = None
        self._described: ModelDescription | None = None
        self._requests = threading.Lock()
        self._state = threading.Lock()
        self._cancels = 0
        self._closed = False

    @cached_property
    def prefix(self) -> Path:
        """What finds the model: looked up with the first request, since a slow disk may hold it."""
        return model_prefix(self._path)

    def moment(self) -> int:
        """This moment, for a request that is made later and that any ``cancel()`` after it shall end."""
        with self._state:
            return self._cancels

    def load(self, since: int | None = None) -> ModelDescription:
        """Start the child and load the model; once it is loaded, its description.

        Args:
            since: a ``moment()``, from which on ``cancel()`` ends the request; that of the call unless given.

        Raises:
            DataError, FormatError: a file is absent, damaged, or of another save than the others.
            LimitError: loading takes more memory or time than the limits allow.
            ProgramError: the child crashed. CancelledError: ``cancel()`` or ``close()`` was called.
        """
        with self._requests:
            return self._ready(self._begin(since))[1]

    def run(self, inputs: Sequence[Any], since: int | None = None) -> list[np.ndarray[Any, Any]]:
        """The model's outputs for arrays, as a call of the loaded Layer computes them.

        Raises what the model raises for inputs that do not fit, and as :meth:`load`.
        """
        return self.request({"do": "run"}, [np.asarray(each) for each in inputs], since).arrays

    def request(
        self,
        said: dict[str, Any],
        arrays: Sequence[np.ndarray[Any, Any]] = (),
        since: int | None = None,
        most: int | None = None,
    ) -> Message:
        """The answer to a request of what the module of the child serves.

        ``most`` are the bytes of arrays that a model with limits may answer with; what its process may take
        unless given. Raises as ``run``.
        """
        with self._requests:
            child, described = self._ready(self._begin(since))
            limits = None if described.own else self._limits_for(sum(array.nbytes for array in arrays))
            size = MOST_OF_OWN << 10 if limits is None else most or MEMORY_FACTOR * limits.memory
            return self._ask(child, "a run", {**said, **self._at()}, arrays, limits, Most(MOST_SAID, size))

    def program(self, since: int | None = None) -> tuple[Any, str]:
        """The Program as JSON has it (``serialize.to_plain``, not yet checked), and as Paddle prints it.

        Raises as :meth:`load`, and LimitError for a Program too large to be shown.
        """
        with self._requests:
            child, described = self._ready(self._begin(since))
            limits = None if described.own else self._limits_for(0)
            most = Most(MOST_SAID, MOST_OF_OWN if described.own else MOST_PROGRAM)
            found = self._ask(child, "sending its Program", {"do": "program"}, [], limits, most).arrays
            try:
                plain, text = (bytes(array).decode("utf-8", "replace") for array in found)
                return json.loads(plain), text
            except (ValueError, RecursionError) as error:
                self._end(child)
                raise self._odd(error) from error

    def cancel(self) -> None:
        """End the request in progress, whatever it does: the thread that waits gets a CancelledError."""
        with self._state:
            self._cancels += 1
            child = self._child
        if child is not None:
            child.stop("cancelled")

    def end(self) -> None:
        """End the child without waiting, as ``close()`` does; nothing can be asked any more."""
        with self._state:
            self._closed = True
        self.cancel()

    def close(self) -> None:
        """End the child and what it does; nothing can be asked any more."""
        self.end()
        with self._requests:
            if self._child is not None:
                self._end(self._child)

    @property
    def pid(self) -> int:
        """The child's process id; 0 where there is none now."""
        child = self._child
        return 0 if child is None or child.process.returncode is not None else child.process.pid

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    # ----- what is run: files of inference; engine.inference.run_process has runs instead -----

    def _is_own(self) -> bool:
        """Whether this installation wrote the model, which then has no limits."""
        return is_own_model(self.prefix)

    def _files(self) -> list[Path]:
        """The files whose sizes explain what the model takes."""
        return model_paths(self.prefix)

    def _load_request(self) -> dict[str, Any]:
        return {"do": "load", "prefix": os.path.abspath(self.prefix)}

    def _at(self) -> dict[str, str]:
        """What each request names of it."""
        return {}

    # ----- one request after the other -----

    def _begin(self, since: int | None) -> int:
        with self._state:
            before = self._cancels if since is None else since
            if before != self._cancels:
                raise CancelledError(f"{self.prefix}: cancelled before it began")
            if self._closed:
                raise UnreadyError(f"{self.prefix}: the process of the model is closed; make another one")
            return before

    def _ready(self, cancels: int) -> tuple[Child, ModelDescription]:
        """The child with the model loaded, started unless it is there. ``cancels`` counts those before."""
        child = self._child
        if child is not None and (child.reason is not None or child.process.poll() is not None):
            self._end(child)
            child = None
        if child is not None and self._described is not None:
            return child, self._described
        own = self._is_own()
        child = self._starts(None if own else self.limits, self._server)
        with self._state:
            self._child = child
            if self._cancels != cancels:
                child.stop("cancelled")
        self._ask(child, "its start", None, [], ModelLimits(seconds=START_SECONDS), Most(MOST_SAID, 0))
        limits = None if own else self._limits_for(0)
        request = {
            **self._load_request(),
            "memory": limits and MEMORY_FACTOR * limits.memory,
            "seconds": limits and (limits.seconds + MORE_SECONDS) * (os.cpu_count() or 1),
        }
        said = self._ask(child, "loading it", request, [], limits, Most(MOST_SAID, 0)).said
        if not isinstance(said.get("save_id"), str):
            self._end(child)
            raise self._odd("no save id")
        before = self._described
        if before is not None and (before.save_id, before.own) != (said["save_id"], own):
            self._end(child)
            raise FormatError(
                f"{self.prefix}: the files were replaced since they were loaded; load them again"
            )
        self._described = ModelDescription(self.prefix, said["save_id"], said.get("info"), own)
        return child, self._described

    def _limits_for(self, inputs: int) -> ModelLimits:
        """The limits of a request with ``inputs`` bytes; what the files' sizes explain is added."""
        sizes = 0
        for path in self._files():
            with suppress(OSError):
                sizes += path.stat().st_size
        return self.limits.for_bytes(sizes + inputs)

    def _ask(
        self,
        child: Child,
        what: str,
        request: dict[str, Any] | None,
        arrays: Sequence[np.ndarray[Any, Any]],
        limits: ModelLimits | None,
        most: Most,
    ) -> Message:
        """The answer to a request; without one, what the child says first. Raises the error it answers."""
        seconds = None if limits is None else limits.seconds + MORE_SECONDS
        try:
            answer = child.ask(request, arrays, seconds, most)
        except ClosedError as error:
            self._end(child)
            raise self._death(child, what, limits) from error
        except WireError as error:
            reason = child.reason
            self._end(child)
            if request is not None and reason is None and "bytes where at most" in str(error):
                raise LimitError(
                    f"{self.prefix}: {what}: the answer is too large: {error.message}"
                ) from error
            raise (self._death(child, what, limits) if reason else self._odd(error)) from error
        except BaseException:  # such as Ctrl-C: what the child answers later would answer the next request
            self._end(child)
            raise
        if "error" in answer.said:
            if what != "a run":
                self._end(child)
            raise self._answered(answer.said, what, limits)
        return answer

    def _end(self, child: Child) -> None:
        with self._state:
            self._child = None
        child.end()

    # ----- what went wrong -----

    def _answered(self, said: dict[str, Any], what: str, limits: ModelLimits | None) -> Exception:
        """The error that a child answered with. Only names of known classes are believed."""
        name, message = (
            " ".join(str(said.get(key, ""))[:most].splitlines()) or "without a message"
            for key, most in (("error", 100), ("message", MOST_MESSAGE))
        )
        no_memory = name in _NO_MEMORY or (name in _LOADING and any(each in message for each in _NO_MAPPING))
        if no_memory and limits is not None:
            return self._memory_error(what, limits)
        kind = getattr(errors, name, None)
        if isinstance(kind, type) and issubclass(kind, EngineError):
            return kind(message)
        if name in _BUILT_IN:
            built_in: Exception = getattr(builtins, name)(message)
            return built_in
        return ProgramError(f"{self.prefix}: the model could not be run: {name}: {message}")

    def _death(self, child: Child, what: str, limits: ModelLimits | None) -> EngineError:
        """Why a child is gone that should have answered."""
        if child.reason == "cancelled":
            return CancelledError(f"{self.prefix}: {what} was cancelled")
        code = child.process.returncode
        how = children.ending(code)
        if child.reason == "seconds" or "SIGXCPU" in how:
            if limits is None or what == "its start":
                return LimitError(
                    f"{self.prefix}: the process for the model did not start within {START_SECONDS:g} s; "
                    "try again when the computer has less to do"
                )
            return LimitError(
                f"{self.prefix}: {what} took over {limits.seconds + MORE_SECONDS:.3g} s, its limit, and "
                f"its process was ended; {how_to_raise('seconds', round(10 * self.limits.seconds))}"
            )
        if code == TOO_MUCH_MEMORY and limits is not None:
            return self._memory_error(what, limits)
        memory = "" if limits is None else f", or its {_mega(MEMORY_FACTOR * limits.memory)} did not suffice"
        return ProgramError(
            f"{self.prefix}: {what} made its process crash{memory}: {how}; nothing else was "
            "touched, don't use the model unless you trust where it comes from"
        )

    def _memory_error(self, what: str, limits: ModelLimits) -> LimitError:
        return LimitError(
            f"{self.prefix}: {what} takes more than the {_mega(MEMORY_FACTOR * limits.memory)} of memory of "
            f"the model's process, which its limit memory={_mega(self.limits.memory)} gives it; "
            f"{how_to_raise('memory', _mega(max(4 * self.limits.memory, LEAST_ADVISED)))}"
        )

    def _odd(self, error: object) -> FormatError:
        return FormatError(
            f"{self.prefix}: the model's process sent an invalid reply ({error}), and was ended; "
            "don't use the model, get it again from a source that you trust"
        )


def _mega(count: int) -> str:
    return f"{count / 1e6:.0f} MB"
