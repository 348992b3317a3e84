"""Errors of plans: the operator that raised one, and its message with that operator's line of the user's
code."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from engine.core.errors import AssertFailedError, DeviceMemoryError, EngineError, LimitError
from engine.core.operators.operator import Operator, at_line
from engine.core.raw_errors import with_kind
from engine.eager.mode import explain_specs

if TYPE_CHECKING:
    from engine.program.run.inspected import Inspected


def operator_of(lines: Mapping[int, Operator], error: Exception) -> Operator | None:
    """The operator of a plan's source that raised ``error``; None where it was none."""
    traceback = error.__traceback__
    line = None
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == "<plan>":
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    return lines.get(line) if line is not None else None


def explained(plan: Inspected, lines: Mapping[int, Operator], error: Exception) -> Exception:
    """The error with the operator and the user's line that created it."""
    operator = operator_of(lines, error)
    full = isinstance(error, DeviceMemoryError)
    has_message = full or isinstance(error, LimitError) or hasattr(error, "shape")  # NumPy's has its array's
    if operator is not None and isinstance(error, AssertFailedError):
        return with_kind(error, operator.opdef.name)
    if operator is None or (isinstance(error, (MemoryError, AssertionError)) and not has_message):
        return error
    made: Exception = error
    if (full or not isinstance(error, EngineError)) and not operator.regions:
        specs = [plan.spec_of(v) for v in operator.inputs]
        made = explain_specs(operator.opdef, specs, operator.attrs, error)
    if full:
        made = _with_largest(made, plan)
    if isinstance(made, EngineError):
        made = with_kind(at_line(made, operator), operator.opdef.name)
        made.__cause__ = error
    return made


def _with_largest(error: Exception, plan: Inspected) -> DeviceMemoryError:
    """An error for lack of GPU memory, with the largest values that the plan holds at its peak."""
    from engine.kernels.cupy.device.out_of_memory import in_words  # already imported, as it raised the error

    largest = []
    for each in plan.report().owners[:3]:
        where = f" of {Path(each.file).name}:{each.line}" if each.file else ""
        largest.append(f"{each.operator}{where} {in_words(each.bytes)}")
    what, _, remedy = str(error).rpartition("; ")
    held = f", and at its fullest the program holds {', '.join(largest)}" if largest else ""
    return DeviceMemoryError(f"{what}{held}; {remedy}")
