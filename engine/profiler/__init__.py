"""Paddle's ``profiler``: how long operators, phases of training and the user's own blocks take."""

from engine.profiler import utils
from engine.profiler.events import RecordEvent
from engine.profiler.profiler import Profiler, export_chrome_tracing, export_protobuf
from engine.profiler.result import ProfilerResult, load_profiler_result
from engine.profiler.states import ProfilerState, ProfilerTarget, TracerEventType, make_scheduler
from engine.profiler.statistics import SortedKeys, SummaryView

__all__ = [
    "Profiler",
    "ProfilerState",
    "ProfilerTarget",
    "RecordEvent",
    "SortedKeys",
    "SummaryView",
    "export_chrome_tracing",
    "export_protobuf",
    "load_profiler_result",
    "make_scheduler",
]
