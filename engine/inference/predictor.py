"""``paddle.inference``: predictors, which run a saved model for inputs that a program copies in and out."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, overload

import numpy as np

from engine.core.containers.lru import LRU
from engine.core.errors import AbsentError, ArgumentError, DTypeError, OutOfRangeError, UnreadyError
from engine.core.version import VERSION
from engine.eager.tensor import Tensor as EagerTensor
from engine.eager.tensor import wrap
from engine.files import inference as files
from engine.inference.config import Config
from engine.inference.handle import Tensor
from engine.jit.run_program import ProgramRunner, wrapped
from engine.jit.saved.model_files import is_model_file
from engine.kernels.cpu.threads import set_num_threads
from engine.program.graph.lengths import without_levels
from engine.program.passes.pipeline import PREDICTION, level
from engine.program.run.executor import Executor, fed
from engine.program.run.lod_tensor import LoDTensor
from engine.program.run.plan import Plan
from engine.program.run.scope import Scope
from engine.static.inference_files import model_at, model_in
from resources.regular_files import LARGE_FILE, read_regular
from resources.settings.export import ENDINGS

Hook = Callable[[str, str, EagerTensor], None]


class _Model:
    """A Program with its parameters, which a predictor and its clones run."""

    def __init__(self, config: Config) -> None:
        self.scope = Scope()
        self.program = _read(config, self.scope)
        self.executor = Executor(config._place())
        self.passes = PREDICTION if config.ir_optim() else 0
        self.inputs = without_levels(self.program.inputs)
        self.on_sequences = self.inputs != self.program.inputs  # which it takes the lengths of, too
        self._plans: LRU[Any, Plan] = LRU("plans")  # by the kinds of inputs that were checked
        self._runner: ProgramRunner | None = None
        if self.passes and self.executor.place.kind == "cpu":
            self._bind()

    def _bind(self) -> None:
        """Let the passes take the values of the weights, which stay on the CPU."""
        block = self.program.global_block()
        unbound = 0
        for variable in block.vars.values():
            found = self.scope.find_var(variable.name) if variable.persistable else None
            if found is not None and found.tensor is not None:
                self.program.bind(variable, found.tensor)
            elif variable.persistable:
                unbound += 1
        inputs, outputs = self.program.inputs, self.program.outputs
        if inputs and outputs and not unbound and not self.on_sequences:
            self._runner = ProgramRunner(
                self.program,
                [block.var(n) for n in inputs],
                [block.var(n) for n in outputs],
                passes=self.passes,
                frozen=True,
            )

    def run(self, feed: dict[str, Any], fetch: Sequence[Any]) -> list[Any]:
        """The values of Variables for what is fed, each a separate array: Tensors, or LoDTensors."""
        with level.guard(self.passes):
            return self.executor.run(self.program, feed, list(fetch), scope=self.scope, return_numpy=False)

    def predict(self, values: Sequence[EagerTensor]) -> list[EagerTensor] | None:
        """The outputs for all inputs, in order, by a frozen plan; None where the model has none."""
        runner = self._runner
        if runner is None:
            return None
        arrays = [value._array for value in values]
        kinds = tuple([(a.__class__, a.shape, a.dtype) for a in arrays])
        plan = self._plans.get(kinds)
        if plan is None:
            checked = [fed(v, x, np) for v, x in zip(runner.inputs, values, strict=True)]
            plan = runner.frozen_plan(checked)
            if plan is None:
                self._runner = None
                return None
            self._plans.put(kinds, plan)
        return [wrapped(result) for result in plan(arrays)]

    def forget(self) -> None:
        """Drop what was compiled for the shapes that were run."""
        self.program.plans.clear()
        self._plans.clear()
        if self._runner is not None:
            self._runner.forget()


class Predictor:
    """Runs a model: inputs are copied into handles, ``run()`` computes, outputs are copied out of handles.

    ``clone()`` gives another one for the same model: each may run in a thread of its own. Several threads may
    call ``run(inputs)`` of one predictor, one after the other; handles belong to one thread at a time.
    """

    def __init__(self, config: Config) -> None:
        if not isinstance(config, Config):
            raise DTypeError(f"create_predictor: takes a Config: got {type(config).__name__}")
        if config._threads is not None:
            set_num_threads(config._threads)
        self._of(_Model(config))

    def _of(self, model: _Model) -> None:
        block = model.program.global_block()
        self._model = model
        self._running = threading.RLock()
        self._hooks: list[Hook] = []
        self._inputs = {name: Tensor(name, block.var(name).dtype) for name in model.inputs}
        self._outputs = {name: Tensor(name, block.var(name).dtype) for name in model.program.outputs}

    def get_input_names(self) -> list[str]:
        return list(self._inputs)

    def get_output_names(self) -> list[str]:
        return list(self._outputs)

    def get_input_handle(self, name: str) -> Tensor:
        """The handle of an input. Raises UnreadyError, a RuntimeError, for another name."""
        return _handle("get_input_handle", self._inputs, name)

    def get_output_handle(self, name: str) -> Tensor:
        """The handle of an output. Raises UnreadyError, a RuntimeError, for another name."""
        return _handle("get_output_handle", self._outputs, name)

    @overload
    def run(self, inputs: None = None) -> bool: ...

    @overload
    def run(self, inputs: Sequence[Any]) -> list[EagerTensor]: ...

    def run(self, inputs: Sequence[Any] | None = None) -> Any:
        """Compute the outputs from what the input handles hold; returns True.

        With ``inputs``, a list of Tensors (or arrays) in the order of ``get_input_names()``, the outputs are
        returned as a list of Tensors. Raises ArgumentError for another number of them, UnreadyError, a
        RuntimeError, for an input without values, ShapeError or DTypeError for values that do not fit.
        """
        with self._running:
            return self._run(inputs)

    def _run(self, inputs: Sequence[Any] | None) -> Any:
        if inputs is not None:
            self._give(inputs)
        absent = [name for name, handle in self._inputs.items() if handle._value is None]
        if absent:
            raise UnreadyError(
                f"Predictor.run: no values for {absent}; copy them in with "
                "get_input_handle(name).copy_from_cpu(array)"
            )
        feed: dict[str, Any] = {name: handle._value for name, handle in self._inputs.items()}
        if self._model.on_sequences:
            feed = {name: handle._with_lod() for name, handle in self._inputs.items()}
        if self._hooks:
            results = self._hooked(feed)
        else:
            found = self._model.predict([*feed.values()])
            results = self._model.run(feed, list(self._outputs)) if found is None else found
        for handle, value in zip(self._outputs.values(), results, strict=True):
            handle.set_lod(value.lod() if isinstance(value, LoDTensor) else [])
            handle._take(_tensor(value))
        return True if inputs is None else [_tensor(value) for value in results]

    def _give(self, inputs: Sequence[Any]) -> None:
        if len(inputs) != len(self._inputs):
            raise ArgumentError(
                f"Predictor.run: got {len(inputs)} inputs: the model takes {list(self._inputs)}, in "
                "this order"
            )
        for handle, value in zip(self._inputs.values(), inputs, strict=True):
            if isinstance(value, EagerTensor):
                handle.share_external_data(value)
            else:
                handle.copy_from_cpu(value)

    def _hooked(self, feed: dict[str, Any]) -> list[Any]:
        """The outputs, after the hooks were called for what each operator wrote."""
        block = self._model.program.global_block()
        written = [
            (operator.type, variable)
            for operator in block.ops
            for variable in operator.outputs or ()
            if variable is not None and not variable.persistable
        ]
        outputs = [block.var(name) for name in self._outputs]
        values = self._model.run(feed, [*(variable for _, variable in written), *outputs])
        for (kind, variable), value in zip(written, values, strict=False):
            for hook in self._hooks:
                hook(kind, variable.name, _tensor(value))
        return values[len(written) :]

    def register_output_hook(self, hook_func: Hook) -> None:
        """Call ``hook_func(operator type, name, Tensor)`` in each run for each value that is computed.

        The calls come after the run, in the order of the operators; values within branches and loops are
        skipped. Only this predictor has the hook, not its clones.
        """
        self._hooks.append(hook_func)

    def clone(self) -> Predictor:
        """A predictor of the same model and parameters, with handles of its own."""
        made = Predictor.__new__(Predictor)
        made._of(self._model)
        return made

    def clear_intermediate_tensor(self) -> None:
        """Forget the values of inputs and outputs."""
        for handle in (*self._inputs.values(), *self._outputs.values()):
            handle._clear()

    def try_shrink_memory(self) -> int:
        """Drop what was compiled for the shapes that were run, and return 0 as Paddle does on the CPU.

        Values are freed in any case when nothing reads them any more. The next run compiles again.
        """
        self._model.forget()
        return 0


class PredictorPool:
    """A predictor and its clones, by number."""

    def __init__(self, config: Config, size: int = 1) -> None:
        if size < 1:
            raise ArgumentError(f"PredictorPool: size must be at least 1: got {size}")
        first = Predictor(config)
        self._predictors = [first, *(first.clone() for _ in range(size - 1))]

    def retrive(self, idx: int) -> Predictor:
        """Predictor number ``idx``; the name is Paddle's. Raises OutOfRangeError, a ValueError."""
        if not 0 <= idx < len(self._predictors):
            raise OutOfRangeError(f"PredictorPool.retrive: there are {len(self._predictors)}: got {idx}")
        return self._predictors[idx]


def create_predictor(config: Config) -> Predictor:
    """The predictor of a model.

    Raises AbsentError for absent files, FormatError for damaged or foreign ones, ArgumentError where the
    Config names no model.
    """
    return Predictor(config)


def get_version() -> str:
    """The version of Paddle that the engine follows, as Paddle's inference library says it."""
    return f"version: {VERSION}\ncommit: none\nbranch: none\n"


def get_trt_compile_version() -> tuple[int, int, int]:
    """(0, 0, 0), as in a build without TensorRT."""
    return (0, 0, 0)


def get_trt_runtime_version() -> tuple[int, int, int]:
    """(0, 0, 0), as in a build without TensorRT."""
    return (0, 0, 0)


def _tensor(value: Any) -> EagerTensor:
    return wrap(np.asarray(value)) if isinstance(value, LoDTensor) else value


def _handle(where: str, handles: dict[str, Tensor], name: str) -> Tensor:
    found = handles.get(name)
    if found is None:
        raise UnreadyError(f"Predictor.{where}: there is no {name!r}; there are {list(handles)}")
    return found


def _read(config: Config, scope: Scope) -> Any:
    """The Program that a Config names, its parameters in ``scope``."""
    if config._buffers is not None:
        return model_in("create_predictor", *config._buffers, scope)
    program, params = config.prog_file(), config.params_file()
    if program:
        if not params or files.inference_prefix(params) == files.inference_prefix(program):
            return model_at(program, scope)
        return model_in("create_predictor", _bytes(program), _bytes(params), scope)
    if config.model_dir():
        return model_at(_prefix_in(config.model_dir()), scope)
    raise ArgumentError(
        "create_predictor: the Config names no model; pass Config(prog_file, params_file), or "
        "call set_model_buffer"
    )


def _bytes(path: str) -> bytes:
    try:
        return read_regular(path, LARGE_FILE)
    except OSError as error:
        raise AbsentError(f"create_predictor: {path} can't be read: {error}; check the path") from error


def _prefix_in(path: str) -> str:
    """The prefix of the one model in a folder, or ``path`` itself where that is a prefix or a file."""
    folder = Path(path)
    if not folder.is_dir():
        return path
    found = sorted(folder.glob(f"*.{files.PROGRAM}"))
    found += [
        each for ending in ENDINGS.values() for each in folder.glob(f"*{ending}") if is_model_file(each)
    ]
    if len(found) != 1:
        raise AbsentError(
            f"create_predictor: {path} holds {len(found)} models ({[each.name for each in found][:5]}); "
            "name one with Config(prog_file, params_file)"
        )
    return str(found[0])
