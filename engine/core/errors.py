"""The family of the engine's errors: each message has the location, the problem, the values seen, the remedy.

Every class also derives from the built-in exception that a Paddle user would catch (``ValueError`` for a
wrong shape, ``TypeError`` for a wrong dtype, ...), so code written for Paddle catches the same errors here.
Where Paddle raises different classes for the same mistake (an axis out of range is an ``IndexError`` in
slicing and a ``ValueError`` in a reduction), ours derives from both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Self


class EngineError(Exception):
    """Base of everything that the engine raises on purpose.

    ``str(error)`` is the whole message, ``where: what is wrong: values seen; what to do``. ``located`` says
    that the message begins with the user's file and line, ``unattributed`` that it explains an error of
    Python or NumPy for which no argument is known to be the reason: the engine may be at fault.
    """

    located = False
    unattributed = False
    kind = ""  # Paddle's word for the kind of error, which scripts look for in the message and in args[0]

    def set_kind(self, kind: str) -> Self:
        """This error with another word for its kind."""
        if self.args:
            message = self.message
            self.kind = kind
            said = message if f"({kind})" in message else f"{message} ({kind})"
            self.args = (said, *self.args[1:])
        return self

    @property
    def message(self) -> str:
        """The message without the word for the kind of error."""
        message = str(self.args[0]) if self.args else ""
        return message.replace(f" ({self.kind})", "") if self.kind else message

    def __str__(self) -> str:
        # OSError would print errno and file name instead, once they are set.
        return f"{self.message} ({self.kind})" if self.kind else self.message


class KindError(EngineError):
    """Base of the errors whose class determines the word for their kind."""

    def __init__(self, *args: object) -> None:
        super().__init__(*args)
        self.set_kind(self.kind)


class ShapeError(KindError, ValueError):
    """Shapes that don't fit an operator or a layer."""

    kind = "InvalidArgument"


class DTypeError(EngineError, TypeError, ValueError):
    """A dtype that an operator or a layer does not take."""


class ArgumentError(EngineError, ValueError):
    """An argument that a function does not accept."""


class ArgumentTypeError(ArgumentError, DTypeError, AttributeError):
    """An argument of a class that a function does not take: a list where it needs a Tensor."""


class CallError(ArgumentError, TypeError):
    """Arguments that a function's signature does not take: TypeError in Python, ValueError in Paddle."""


class ConditionError(ArgumentError, AssertionError):
    """An argument that fails a condition which Paddle asserts."""


class OutOfRangeError(KindError, IndexError, ValueError):
    """An index or axis outside its range: IndexError in some of Paddle's functions, ValueError in others."""

    kind = "OutOfRange"


class ElementRangeError(OutOfRangeError):
    """A tensor of indices that has one outside its range, where Paddle has another kind than for an axis."""

    kind = "InvalidArgument"


class AssertedRangeError(OutOfRangeError, AssertionError):
    """An axis outside its range where Paddle asserts it."""


class GradientError(EngineError, RuntimeError, ValueError):
    """Backward could not run: graph freed, needed value changed in place, no gradient defined."""


class NotFiniteError(EngineError, RuntimeError):
    """A result that holds nan or infinity, where results are checked for them."""


class ModeError(EngineError, RuntimeError):
    """A call that has no meaning in the current mode (eager or static)."""


class WorkerError(EngineError, RuntimeError, SystemError):
    """A worker process that ended before its time; Paddle raises SystemError."""


class KilledWorkerError(WorkerError):
    """A signal killed a process of a training, which can be resumed from its last checkpoint."""


class DeviceError(EngineError, RuntimeError, ValueError):
    """A device that does not exist, or whose extra is not installed.

    ``why`` and ``remedy`` are the parts of the message that can also be worded differently; they may be
    empty.
    """

    why = ""
    remedy = ""


class AbsentDeviceError(DeviceError, AssertionError):
    """A device whose presence Paddle asserts."""


class UnsupportedError(EngineError, NotImplementedError, TypeError):
    """An object of this class lacks a feature: the mean of a distribution, the inverse of a transform."""


class UnreadyError(EngineError, AssertionError, ValueError, RuntimeError):
    """An object that is used before it was prepared, or with an argument that Paddle asserts."""


class ConversionError(EngineError):
    """Python source that can't become a Program; names file, line, construct and remedy."""


class EagerOnlyError(ConversionError, AttributeError, AssertionError):
    """A member of eager tensors that static Variables lack; Paddle asserts some of them."""


class InnerParameterError(ConversionError, ValueError):
    """A converted function makes a parameter, which each of its eager calls would make anew."""


class BlockGradientError(ConversionError, GradientError):
    """A gradient is requested in a branch or loop for values from outside of it."""


class BranchError(ConversionError, ShapeError):
    """The sides of a branch, or a loop's value before and after an iteration, differ in rank."""


class ElementError(ConversionError, ShapeError):
    """An element of a list whose length a Tensor decides differs from the others in shape or dtype."""


class LoopError(ConversionError, DTypeError):
    """A loop's value has another dtype after an iteration."""


class NoValueError(ConversionError, TypeError, ValueError):
    """A Python number is requested from a static Variable, whose value is known only when its Program
    runs: TypeError for ``int(variable)``, ValueError in Paddle for an attribute that can't be a Variable."""


class AssertFailedError(EngineError, AssertionError, ValueError):
    """A condition that a Program asserts does not hold."""


class ProgramError(EngineError, ValueError, RuntimeError):
    """A Program is ill-formed, or can't run as requested."""


class EOFException(EngineError):
    """A reader of a Program has no more batches; the name is Paddle's, which scripts catch."""


class LimitError(KindError, RuntimeError, MemoryError):
    """A model that this installation did not write takes more memory, time or iterations than it may."""

    kind = "ResourceExhausted"


class AllocationError(KindError, MemoryError):
    """The computer has too little memory for an array."""

    kind = "ResourceExhausted"


class DeviceMemoryError(KindError, MemoryError, RuntimeError):
    """A GPU has too little memory for a request."""

    kind = "ResourceExhausted"


class CancelledError(EngineError):
    """Work that was ended on request before it was done."""


class FormatError(EngineError, ValueError):
    """A file that is damaged, truncated, foreign or of a version this build can't read."""


class NewerVersionError(FormatError):
    """A file of a newer version: it is sound, and must not be replaced or removed as a damaged one is."""


class CodeError(EngineError, ImportError):
    """Code that was not agreed to, so it is not imported."""


class DataError(EngineError, OSError):
    """Data that is absent, unreadable or not what it claims to be."""


class AbsentError(DataError, FileNotFoundError, ValueError):
    """A file that does not exist."""


class AbsentStateError(AbsentError, AssertionError):
    """A state file that a model is to load does not exist."""


class InUseError(EngineError, BlockingIOError):
    """Files that another process works on."""


class HubError(EngineError, RuntimeError):
    """A folder of models lacks the requested model."""


class SaveError(EngineError, OSError):
    """A file that could not be written; the old file is untouched."""


class MissingExtraError(EngineError, ImportError):
    """An optional dependency is not installed; names the extra that brings it."""


class MissingDeviceError(MissingExtraError, DeviceError):
    """A device whose extra is not installed."""
