"""``Profiler``: records operators, phases of training and blocks of the user's code in chosen steps."""

from __future__ import annotations

import datetime
import os
import socket
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import Any

from engine.core.errors import ModeError, SaveError
from engine.core.spans import OpenSpan, watch
from engine.device import is_compiled_with_cuda
from engine.profiler.recorder import Recorder
from engine.profiler.result import ProfilerResult
from engine.profiler.states import ProfilerState, ProfilerTarget, Scheduler, scheduler_of
from engine.profiler.statistics import SortedKeys, SummaryView, build_table
from engine.profiler.timer import benchmark

Handler = Callable[[Any], Any]

_RECORDS = (ProfilerState.RECORD, ProfilerState.RECORD_AND_RETURN)


def export_chrome_tracing(dir_name: str, worker_name: str | None = None) -> Handler:
    """For ``on_trace_ready``: writes each recording to a file in ``dir_name`` that Chrome's tracing and
    Perfetto show, ``WORKER_time_TIME.paddle_trace.json``. Raises SaveError where there can be no such folder.
    """
    return _exporting("export_chrome_tracing", dir_name, worker_name, "json")


def export_protobuf(dir_name: str, worker_name: str | None = None) -> Handler:
    """For ``on_trace_ready``: writes each recording to ``WORKER_time_TIME.paddle_trace.pb`` in ``dir_name``,
    for ``load_profiler_result``. Raises SaveError where there can be no such folder.

    Differs from Paddle: the content is that of ``export_chrome_tracing``, not a protobuf message.
    """
    return _exporting("export_protobuf", dir_name, worker_name, "pb")


def _into_the_working_folder(profiler: Profiler) -> None:
    export_chrome_tracing("./profiler_log/")(profiler)


def _exporting(where: str, folder: str, worker: str | None, format: str) -> Handler:
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise SaveError(f"{where}: {folder} can't be made a folder: {error}; choose another one") from error
    name = worker or f"host_{socket.gethostname()}pid_{os.getpid()}"

    def write(profiler: Profiler) -> None:
        moment = datetime.datetime.now().strftime("%Y_%m_%d_%H_%M_%S_%f")
        profiler.export(os.path.join(folder, f"{name}_time_{moment}.paddle_trace.{format}"), format)

    return write


class Profiler:
    """Records what runs between ``start()`` and ``stop()``, in the steps that ``scheduler`` chooses.

    ``scheduler`` is a function of the step's number, as ``make_scheduler`` makes them, a pair (first step,
    step behind the last), or None for all steps; ``step()`` ends a step. When a recording is complete,
    ``on_trace_ready(profiler)`` is called; by default it writes a file into ``./profiler_log``. With
    ``timer_only`` nothing but the duration of steps and of data loading is measured.

    While nothing is recorded, operators run as without a profiler. Of ``record_shapes`` the written files
    have the shapes of what operators took; of ``profile_memory`` and ``with_flops`` the bytes that their
    kernels read and gave, floating-point operations where they are counted, and the user's line
    (``engine.profiler.report`` adds them up).

    Differs from Paddle: an operator's time is that of its kernel, without what Python does around it.
    """

    def __init__(
        self,
        *,
        targets: Iterable[ProfilerTarget] | None = None,
        scheduler: Scheduler | tuple[int, int] | None = None,
        on_trace_ready: Handler | None = None,
        record_shapes: bool | None = False,
        profile_memory: bool | None = False,
        timer_only: bool | None = False,
        emit_nvtx: bool | None = False,
        custom_device_types: Sequence[str] | None = (),
        with_flops: bool | None = False,
    ) -> None:
        here = {ProfilerTarget.CPU, *([ProfilerTarget.GPU] if is_compiled_with_cuda() else [])}
        self.targets = set(targets or here)
        for target in sorted(self.targets - here, key=lambda each: each.value):
            warnings.warn(f"Profiling {target} is not supported in current context.", stacklevel=2)
        self.targets &= here
        self.scheduler = scheduler_of(scheduler)
        self.on_trace_ready = on_trace_ready or _into_the_working_folder
        self.timer_only, self.record_shapes = timer_only, record_shapes
        self._details = bool(profile_memory or with_flops)
        self.step_num = 0
        self.previous_state = ProfilerState.CLOSED
        self.current_state = self.scheduler(0)
        self.profiler_result: ProfilerResult | None = None
        self._recorder: Recorder | None = None
        self._began = (0.0, 0.0)
        self._step_span: OpenSpan | None = None

    def __enter__(self) -> Profiler:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Begin step 0. Raises ModeError where another Profiler is recording."""
        benchmark().begin()
        if self.timer_only:
            return
        if self.current_state in _RECORDS:
            self._record()
        self._open_step()

    def step(self, num_samples: int | None = None) -> None:
        """A step of ``num_samples`` samples ends, the next one begins."""
        benchmark().step(num_samples)
        if self.timer_only:
            return
        self._close_step()
        self.step_num += 1
        self.previous_state, self.current_state = self.current_state, self.scheduler(self.step_num)
        self._change()
        self._open_step()

    def stop(self) -> None:
        """End the last step; what is being recorded is handed to ``on_trace_ready``."""
        benchmark().end()
        if self.timer_only:
            return
        self._close_step()
        if self.current_state is ProfilerState.READY:
            warnings.warn("Profiler: it stops in a step to warm up, so nothing is recorded", stacklevel=2)
        if self._recorder is not None:
            self._return()
        self.current_state = ProfilerState.CLOSED

    def step_info(self, unit: str | None = None) -> str:
        """Seconds for reading and for a whole step, and ``unit`` ('samples') a second, as means since the
        last call. Without ``num_samples`` in ``step()`` steps are counted."""
        return benchmark().step_info(unit or "samples")

    def export(self, path: str = "", format: str = "json") -> None:
        """Write the last recording to ``path``: 'json' for Chrome's tracing, 'pb' with the same content.

        Raises ModeError where nothing has been recorded, SaveError where the file can't be written.
        """
        if self.profiler_result is None:
            raise ModeError("Profiler.export: nothing is recorded yet; call it after the recorded steps")
        self.profiler_result.save(path, format)

    def summary(
        self,
        sorted_by: SortedKeys = SortedKeys.CPUTotal,
        op_detail: bool = True,
        thread_sep: bool = False,
        time_unit: str = "ms",
        views: SummaryView | Sequence[SummaryView] | None = None,
    ) -> None:
        """Print tables of the last recording: devices, phases, operators with those inside of them
        (``op_detail``), the user's blocks; ``thread_sep`` lists threads one by one."""
        chosen = [views] if isinstance(views, SummaryView) else views
        if self.profiler_result is not None:
            print(build_table(self.profiler_result, sorted_by, op_detail, thread_sep, time_unit, chosen))

    # -- recording -----------------------------------------------------------------------------------------
    def _change(self) -> None:
        """What the change of state from the last step to this one asks for."""
        before, now = self.previous_state, self.current_state
        if before is ProfilerState.READY and now is ProfilerState.CLOSED:
            self._tell(before, now, "nothing is recorded")
        if before is ProfilerState.RECORD and now not in _RECORDS:
            self._tell(before, now, "what was recorded is lost")
            self._end()
        if before is ProfilerState.RECORD_AND_RETURN:
            self._return()
        if now in _RECORDS and self._recorder is None:
            self._record()

    def _tell(self, before: ProfilerState, now: ProfilerState, result: str) -> None:
        warnings.warn(
            f"Profiler: the schedule goes from {before.name} to {now.name} in step {self.step_num}: {result}",
            stacklevel=4,  # _change and step stand between
        )

    def _record(self) -> None:
        self._recorder = Recorder(bool(self.record_shapes), self._details)
        watch.start(self._recorder)
        self._began = time.perf_counter(), time.process_time()

    def _end(self) -> ProfilerResult:
        recorder, self._recorder = self._recorder, None
        assert recorder is not None, "it recorded"
        watch.stop()
        passed = max(time.perf_counter() - self._began[0], 1e-9)
        share = (time.process_time() - self._began[1]) / passed / (os.cpu_count() or 1)
        return ProfilerResult(recorder.spans, {"CPU(Process)": f"{100 * share:.2f}"})

    def _return(self) -> None:
        self.profiler_result = self._end()
        self.on_trace_ready(self)

    def _open_step(self) -> None:
        self._step_span = watch.open("ProfileStep", f"ProfileStep#{self.step_num}")

    def _close_step(self) -> None:
        if self._step_span is not None:
            self._step_span.close()
            self._step_span = None
