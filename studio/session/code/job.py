"""The dry run: what a child process finds out about a model's text while it is edited."""

from __future__ import annotations

import inspect
import math
import multiprocessing
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, ClassVar, Literal, TypedDict

from resources.scratch import make_scratch
from studio.session.code.inputs import Input
from studio.session.graph.pass_changes import line_passes
from studio.session.work.job import TYPING_DELAY, Emit, Inbox, job

# How long a dry run may take, and how much memory more than the engine itself.
SECONDS = 15.0
MEMORY = 4 << 30
BATCH = 2
STATIC, EAGER, IMPORT, MAKE, OUTPUT = "static", "eager", "import", "make", "output"


class CodeChecked(TypedDict):
    """What a dry run found.

    ``problems`` have stage (import, make, eager, output or static), line (0 where it is not known), where,
    what, do and details; ``layers`` the layers in the order of their calls; ``lines`` for each line of the
    text what it gives: shapes, parameters, operations. ``functions`` are the forwards that the text defines,
    as they are after every pass of the conversion; ``program`` is the Program with the lines of the text.
    """

    event: Literal["code_checked"]
    time: float
    problems: list[dict[str, Any]]
    layers: list[dict[str, Any]]
    lines: dict[int, dict[str, Any]]
    functions: list[dict[str, Any]]
    program: dict[str, Any]
    output: list[int]
    parameters: int
    operations: int
    all_counted: bool


class CodeStuck(TypedDict):
    """The dry run has not ended after ``SECONDS``; ``line`` is the one that runs."""

    event: Literal["code_stuck"]
    time: float
    line: int


@job
class CheckCode:
    """Try the class ``class_name`` of a text: import, make, run eagerly on random numbers, convert.

    ``text`` is what the editor holds, ``file`` where it belongs: modules in its folder can be imported; it is
    not read. ``inputs`` are (shape, dtype) of each input, none for an image of the data of ``config`` (a
    TrainingConfig as plain values).
    """

    TITLE: ClassVar = "Checking {0}"
    PAGE: ClassVar = "code"
    DELAY: ClassVar = TYPING_DELAY
    EVENTS: ClassVar = (CodeChecked, CodeStuck)

    text: str
    file: str
    class_name: str
    inputs: tuple[Input, ...]
    config: dict[str, Any]
    agreed: str = ""

    @property
    def subject(self) -> str:
        return self.class_name

    def run(self, emit: Emit, inbox: Inbox) -> None:
        """Report one ``code_checked``, and ``code_stuck`` where it takes too long."""
        if multiprocessing.parent_process() is not None:
            from engine.files.untrusted.limits import limit_memory

            limit_memory(MEMORY)
        scratch = make_scratch()
        try:
            copy = scratch.path.resolve() / Path(self.file).name
            copy.write_text(self.text, encoding="utf-8", newline="")
            with _watched(str(copy), emit):
                emit(_DryRun(self, copy).event())
        finally:
            scratch.remove()


class _DryRun:
    """One try; what it finds collects in ``found``."""

    def __init__(self, job: CheckCode, copy: Path) -> None:
        self._job, self._copy = job, copy
        self.found: dict[str, Any] = {
            "event": "code_checked",
            "time": time.time(),
            "problems": [],
            "layers": [],
            "lines": {},
            "functions": [],
            "program": {},
            "output": [],
            "parameters": 0,
            "operations": 0,
            "all_counted": True,
        }

    def event(self) -> dict[str, Any]:
        """Try as far as it goes."""
        from engine.training.config import TrainingConfig
        from engine.training.network.models import ModelSource, build_model, load_model

        config = TrainingConfig.from_dict(self._job.config)
        source = ModelSource(self._job.file, self._copy, self._job.class_name, False)
        loaded = self._try(IMPORT, lambda: load_model(source, Path(self._job.file).parent))
        network = None
        if loaded is not None:
            network = self._try(MAKE, lambda: build_model(loaded, config.model_params))
        if network is not None:
            self.found["parameters"] = sum(math.prod(each.shape) for each in network.parameters())
            self._show_passes(network)
            self._run(network, config)
        return self.found

    def _try(self, stage: str, action: Callable[[], Any]) -> Any:
        try:
            return action()
        except Exception as error:
            self._tell(stage, error)
            return None

    def _tell(self, stage: str, error: Exception) -> None:
        from engine.training.problem import describe_problem

        copy, file = str(self._copy), self._job.file
        problem = describe_problem(error, [copy])
        line = problem.line if problem.file in ("", copy) else 0
        where = problem.where
        if (place := re.fullmatch(rf"{re.escape(copy)}:(\d+)", where)) is not None:
            line = int(place[1])
        if line:
            where = f"{Path(file).name}:{line}"
        what, do = (part.replace(copy, Path(file).name) for part in (problem.what, problem.do))
        self.found["problems"].append(
            {
                "stage": stage,
                "line": line,
                "where": where,
                "what": what,
                "do": do,
                "error": problem.error,
                "details": problem.traceback.replace(copy, file),
            }
        )

    # ----- a run on random numbers -----

    def _run(self, network: Any, config: Any) -> None:
        from engine.eager.grad_mode import no_grad
        from engine.jit.switch import Switch
        from engine.training.data import BUILT_IN
        from engine.training.measuring.evaluation import check_output
        from engine.training.network.describe import fed_inputs
        from engine.training.network.given_inputs import random_inputs
        from engine.training.randomness import measuring

        inputs: Sequence[Input] = self._job.inputs
        if not inputs:
            found = self._try(EAGER, lambda: fed_inputs(config, network))
            if found is None:
                return
            inputs = found
        made = random_inputs(inputs, BATCH)
        with measuring(network), no_grad(), Switch.as_written(), self._noting(network):
            output = self._try(EAGER, lambda: network(*made))
        first = _first(output)
        if first is None:
            if not self.found["problems"]:
                self._tell(OUTPUT, TypeError(f"forward gives no Tensor: it gives {type(output).__name__}"))
            return
        self.found["output"] = _open(first.shape)
        if not self._job.inputs and config.data in BUILT_IN:
            self._try(OUTPUT, lambda: check_output(tuple(first.shape), 10, BATCH))
        self._convert(network, inputs)

    @contextmanager
    def _noting(self, network: Any) -> Iterator[None]:
        """While the network runs, note what each of its layers gives, and at which lines it is called."""
        from engine.hapi.flops import layer_operations
        from engine.nn.layer.rnn import RNNBase

        rows: dict[int, dict[str, Any]] = {}
        seen: set[tuple[int, int]] = set()  # (line, layer): its parameters are counted once for a line
        within: list[Any] = []  # recurrent layers that run: the cells in them are theirs

        def before(layer: Any, given: Any) -> None:
            if isinstance(layer, RNNBase):
                within.append(layer)

        def after(layer: Any, given: Any, made: Any) -> None:
            whole = not layer.sublayers() or isinstance(layer, RNNBase)
            if isinstance(layer, RNNBase):
                within.pop()
            if within:
                return
            x, y = _first(given), _first(made)
            shape = _open(y.shape) if y is not None else []
            lines = self._lines_now()
            if lines and shape:
                shapes = self._line(lines[0])["shapes"]
                if shape not in shapes:
                    shapes.append(shape)
            if not whole:
                return
            operations = layer_operations(layer, x, y) if x is not None and y is not None else None
            held = sum(math.prod(each.shape) for each in layer.parameters())
            counted = operations is not None or not held
            row = rows.setdefault(
                id(layer),
                {
                    "name": names[id(layer)],
                    "kind": type(layer).__name__,
                    "line": lines[0] if lines else 0,
                    "shape": shape,
                    "parameters": held,
                    "operations": 0,
                    "counted": counted,
                },
            )
            each = (operations or 0) // BATCH
            row["operations"] += each
            self.found["operations"] += each
            self.found["all_counted"] = self.found["all_counted"] and counted
            for line in lines:
                note = self._line(line)
                note["operations"] += each
                note["counted"] = note["counted"] and counted
                if (line, id(layer)) not in seen:
                    seen.add((line, id(layer)))
                    note["parameters"] += held

        names = {id(layer): name or type(layer).__name__ for name, layer in network.named_sublayers()}
        names.setdefault(id(network), type(network).__name__)
        layers = list(network.sublayers() or [network])
        hooks = [layer.register_forward_pre_hook(before) for layer in layers]
        hooks += [layer.register_forward_post_hook(after) for layer in layers]
        try:
            yield
        finally:
            for hook in hooks:
                hook.remove()
            self.found["layers"] = list(rows.values())

    def _lines_now(self) -> list[int]:
        """The lines of the text that run at this moment, the innermost first."""
        return list(dict.fromkeys(_lines_of(sys._getframe(1), str(self._copy))))

    def _line(self, line: int) -> dict[str, Any]:
        found: dict[str, Any] = self.found["lines"].setdefault(
            line, {"shapes": [], "parameters": 0, "operations": 0, "counted": True}
        )
        return found

    # ----- conversion -----

    def _convert(self, network: Any, inputs: Sequence[Any]) -> None:
        from engine import jit
        from engine.jit.input_spec import InputSpec
        from engine.program.saved.serialize import to_plain
        from engine.training.randomness import measuring

        specs = [
            InputSpec(shape=list(shape), dtype=dtype, name="x" if len(inputs) == 1 else f"x{at}")
            for at, (shape, dtype) in enumerate(inputs)
        ]

        def trace() -> dict[str, Any]:
            with measuring(network):
                forward = jit.to_static(network.forward, input_spec=specs, full_graph=True)
                return dict(to_plain(forward.concrete_program.main_program))

        program = self._try(STATIC, trace)
        if program is not None:
            self._place(program)
            self.found["program"] = program

    def _place(self, program: dict[str, Any]) -> None:
        """Give the operators the file of the text, and lines without a layer the shape that they give."""
        copy = str(self._copy)
        last: dict[int, list[int]] = {}
        for block in program["blocks"]:
            shapes = {variable["name"]: variable["shape"] for variable in block["vars"]}
            for operator in block["ops"]:
                if operator["file"] != copy:
                    continue
                operator["file"] = self._job.file
                outputs = [name for names in operator["outputs"].values() for name in names]
                if outputs and shapes.get(outputs[0]) is not None:
                    last[operator["line"]] = list(shapes[outputs[0]])
        for line, shape in last.items():
            note = self._line(line)
            # The last operator of a line gives what the line gives, where it calls one thing once.
            if len(note["shapes"]) < 2:
                note["shapes"] = [shape]

    def _show_passes(self, network: Any) -> None:
        from engine.core.errors import ConversionError
        from engine.jit.convert.convert import pass_by_pass

        forwards = {}
        for layer in network.sublayers(include_self=True):
            forward = inspect.unwrap(getattr(type(layer).forward, "dygraph_function", type(layer).forward))
            code = getattr(forward, "__code__", None)
            if code is not None and code.co_filename == str(self._copy):
                forwards[code.co_firstlineno] = forward
        for first, forward in sorted(forwards.items()):
            lines, _ = inspect.getsourcelines(forward)
            try:
                passes = pass_by_pass(forward)
            except ConversionError:
                continue  # the tracing reports why
            self.found["functions"].append(
                {
                    "name": forward.__qualname__,
                    "first": first,
                    "last": first + len(lines) - 1,
                    "passes": passes,
                    "changes": line_passes(passes),
                }
            )


@contextmanager
def _watched(file: str, emit: Emit) -> Iterator[None]:
    """Tell which line of ``file`` runs if the body has not ended after ``SECONDS``."""
    thread = threading.get_ident()
    done = threading.Event()

    def watch() -> None:
        if not done.wait(SECONDS):
            frame = sys._current_frames().get(thread)
            lines = list(_lines_of(frame, file)) if frame is not None else []
            emit({"event": "code_stuck", "time": time.time(), "line": lines[0] if lines else 0})

    watcher = threading.Thread(target=watch, name="dry-run-watch", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def _lines_of(frame: FrameType | None, file: str) -> Iterator[int]:
    while frame is not None:
        if frame.f_code.co_filename == file:
            yield frame.f_lineno
        frame = frame.f_back


def _open(shape: Sequence[int]) -> list[int]:
    """A shape of the run with the batch of any size."""
    return [-1 if at == 0 and size == BATCH else int(size) for at, size in enumerate(shape)]


def _first(value: Any) -> Any:
    """The first Tensor in what a layer is given or gives, or None."""
    if hasattr(value, "stop_gradient"):
        return value
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return next((found for each in value if (found := _first(each)) is not None), None)
    return None
