"""A debugger of one batch: operator by operator, forward, backward and update, with breakpoints, conditions
and the values."""

from engine.debugger.breakpoints import Breakpoint
from engine.debugger.conditions import Above, AllZero, Condition, NotFinite, ShapeIs, condition_of
from engine.debugger.debugger import KEPT_BYTES, Debugger
from engine.debugger.guarded.guarded_debugger import GuardedDebugger, open_saved
from engine.debugger.points import Failure, Part, Point, Site, Subject
from engine.debugger.stop import Reason, Stop, Value
from engine.debugger.subjects.building import of_config, of_run, of_saved
from engine.debugger.subjects.program import ProgramSubject

__all__ = [
    "KEPT_BYTES",
    "Above",
    "AllZero",
    "Breakpoint",
    "Condition",
    "Debugger",
    "Failure",
    "GuardedDebugger",
    "NotFinite",
    "Part",
    "Point",
    "ProgramSubject",
    "Reason",
    "ShapeIs",
    "Site",
    "Stop",
    "Subject",
    "Value",
    "condition_of",
    "of_config",
    "of_run",
    "of_saved",
    "open_saved",
]
