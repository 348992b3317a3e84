"""``Model``: a network with what trains, evaluates and runs it in few lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np

from engine.core import mode as modes
from engine.core.errors import DTypeError, UnreadyError
from engine.hapi.callbacks import Callback
from engine.hapi.callbacks.base import CallbackList, Logs
from engine.hapi.callbacks.chosen import with_defaults
from engine.hapi.callbacks.recorder import recorded, recorders
from engine.hapi.data import (
    DataLike,
    SpecsLike,
    count_inputs,
    flat,
    listed,
    loader_of,
    size_of,
    specs_of,
    steps_of,
)
from engine.hapi.dynamic import DynamicSteps
from engine.hapi.precision import MixedPrecision, mixed_precision
from engine.hapi.static import StaticSteps
from engine.hapi.summary import SizeLike, summary
from engine.metric import Metric
from engine.nn import Layer
from engine.tensor.tensor_like import AnyTensor, DTypeLike, TensorLike


class Minimizes(Protocol):
    """What trains: an Optimizer, or what wraps one."""

    def minimize(self, loss: AnyTensor, /) -> Any: ...


class Model:
    """Trains, evaluates and runs ``network``, in eager or in static mode.

    Args:
        network: the Layer.
        inputs: the ``InputSpec``, or a list of them, of what ``forward`` takes. Static mode needs it, and
            ``save(training=False)`` where nothing ran before. Without it a batch's first fields, as many as
            ``forward`` has parameters, are the inputs.
        labels: the ``InputSpec``s of the fields after the inputs, which go to the loss and the metrics.

    ``stop_training`` set to True ends ``fit`` after the epoch; as in Paddle it stays until it is set to
    False. ``mode`` is ``train``, ``eval`` or ``test``: what ran last.

    Raises DTypeError for a network that is not a Layer and for specs that are not InputSpecs.
    """

    def __init__(
        self, network: Layer, inputs: SpecsLike | None = None, labels: SpecsLike | None = None
    ) -> None:
        if not isinstance(network, Layer):
            raise DTypeError(f"Model: network must be a Layer: got {type(network).__name__}; pass a Layer")
        self.network = network
        self.mode = "train"
        self.stop_training = False
        self._inputs = specs_of("inputs", inputs)
        self._labels = specs_of("labels", labels)
        self._loss: Any = None
        self._optimizer: Any = None
        self._precision = MixedPrecision()
        self._metrics: list[Metric] = []
        self._remaining: int | None = None  # batches that num_iters leaves
        if modes.is_static() and self._inputs is None:
            raise DTypeError(
                "Model: 'inputs' must be list or tuple or dict, and couldn't be None in static mode: pass "
                "InputSpecs"
            )
        self._steps: Any = StaticSteps(self) if modes.is_static() else DynamicSteps(self)

    # -- one batch -----------------------------------------------------------------------------------------
    def prepare(
        self,
        optimizer: Minimizes | None = None,
        loss: Callable[..., Any] | None = None,
        metrics: Metric | Sequence[Metric] | None = None,
        amp_configs: str | dict[str, Any] | None = None,
    ) -> None:
        """Say what trains and measures the network.

        ``loss`` is a Layer or a function of the outputs and the labels, and returns one loss or a list;
        ``metrics`` is a ``Metric`` or a list. Raises DTypeError for anything else, ArgumentError for an
        unknown ``amp_configs``.
        """
        if loss is not None and not callable(loss):
            raise DTypeError(
                "prepare: 'loss' must be sub classes of `paddle.nn.Layer` or any callable function: got "
                f"{type(loss).__name__}"
            )
        for metric in listed(metrics):
            if not isinstance(metric, Metric):
                raise UnreadyError(f"prepare: {type(metric).__name__} is not sub class of Metric; pass one")
        self._precision = mixed_precision(amp_configs, optimizer)
        self._optimizer = optimizer
        self._loss = loss
        self._metrics = listed(metrics)
        self._steps.prepare()

    def train_batch(self, inputs: TensorLike, labels: TensorLike | None = None, update: bool = True) -> Any:
        """Train on one batch: arrays or Tensors, or lists of them.

        ``update=False`` only adds to the gradients (not in static mode). Returns the losses as a list of
        arrays, and with metrics a pair of it and the list of their values for this batch.
        """
        self._require("train_batch")
        return self._steps.train(listed(inputs), listed(labels), update)

    def eval_batch(self, inputs: TensorLike, labels: TensorLike | None = None) -> Any:
        """Evaluate one batch; returns what ``train_batch`` returns."""
        return self._steps.evaluate(listed(inputs), listed(labels))

    def predict_batch(self, inputs: TensorLike) -> list[np.ndarray[Any, Any]]:
        """The outputs of one batch as a list of arrays."""
        outputs: list[np.ndarray[Any, Any]] = self._steps.predict(listed(inputs))
        return outputs

    # -- many batches --------------------------------------------------------------------------------------
    def fit(
        self,
        train_data: DataLike | None = None,
        eval_data: DataLike | None = None,
        batch_size: int | list[int] = 1,
        epochs: int = 1,
        eval_freq: int = 1,
        log_freq: int = 10,
        save_dir: str | None = None,
        save_freq: int = 1,
        verbose: int = 2,
        drop_last: bool = False,
        shuffle: bool = True,
        num_workers: int = 0,
        callbacks: Callback | Sequence[Callback] | None = None,
        accumulate_grad_batches: int = 1,
        num_iters: int | None = None,
    ) -> None:
        """Train for ``epochs``, and evaluate ``eval_data`` after every ``eval_freq``-th, the first included.

        Args:
            train_data: a Dataset, which ``batch_size`` (a pair for training and evaluation), ``shuffle``,
                ``drop_last`` and ``num_workers`` divide into batches, or a DataLoader or another iterable of
                batches.
            save_dir: where every ``save_freq``-th epoch and the end are saved.
            verbose, log_freq: see ``callbacks.ProgBarLogger``.
            accumulate_grad_batches: the optimizer takes a step after as many batches; gradients are added.
            num_iters: stop after as many batches. As in Paddle, those of evaluations count, and
                ``stop_training`` stays set.
        """
        if train_data is None:
            raise UnreadyError("fit: train_data must be given!: got None")
        self._require("fit")
        train_size, eval_size = batch_size if isinstance(batch_size, (list, tuple)) else [batch_size] * 2
        loader = loader_of(train_data, train_size, shuffle, drop_last, num_workers)
        tests = None if eval_data is None else loader_of(eval_data, eval_size, num_workers=num_workers)
        steps = steps_of(loader)
        if num_iters is not None and steps:
            epochs = num_iters // steps + 1
            steps = min(steps, num_iters)
        if epochs <= 0:
            raise UnreadyError(f"fit: epochs must be greater than 0: got {epochs}")
        chosen = listed(callbacks)
        runs = recorders(chosen, loader)
        called = self._callbacks(
            chosen, epochs, steps, log_freq, verbose, save_freq, save_dir, self._metric_names()
        )
        logs: Logs = {}
        with self._limited("fit", num_iters), recorded(runs):
            called.begin("train")
            for epoch in range(epochs):
                called.epoch_begin(epoch)
                self._run_epoch(loader, called, "train", logs, accumulate_grad_batches)
                called.epoch_end(epoch, logs)
                if tests is not None and epoch % eval_freq == 0:
                    self._evaluate(tests, called, logs, steps_of(tests))
                if self.stop_training:
                    break
            called.end("train", logs)

    def evaluate(
        self,
        eval_data: DataLike,
        batch_size: int = 1,
        log_freq: int = 10,
        verbose: int = 2,
        num_workers: int = 0,
        callbacks: Callback | Sequence[Callback] | None = None,
        num_iters: int | None = None,
    ) -> dict[str, Any]:
        """The loss of the last batch (a list) and the metrics over all, by name.

        ``eval_data`` is what ``fit`` takes.
        """
        loader = loader_of(eval_data, batch_size, num_workers=num_workers)
        steps = steps_of(loader)
        if num_iters is not None:
            steps = steps and min(steps, num_iters)
        names = self._metric_names()
        called = self._callbacks(callbacks, None, None, log_freq, verbose, 1, None, names)
        logs: Logs = {}
        with self._limited("evaluate", num_iters):
            self._evaluate(loader, called, logs, steps)
        return {name: logs[name] for name in names if name in logs}

    def predict(
        self,
        test_data: DataLike,
        batch_size: int = 1,
        num_workers: int = 0,
        stack_outputs: bool = False,
        verbose: int = 1,
        callbacks: Callback | Sequence[Callback] | None = None,
    ) -> list[Any]:
        """For each output a tuple of the arrays of all batches, one array with ``stack_outputs``.

        Fields of a batch after the inputs are omitted. ``test_data``: see ``fit``.
        """
        loader = loader_of(test_data, batch_size, num_workers=num_workers)
        called = self._callbacks(callbacks, None, None, 2, verbose, 1, None, [])
        logs: Logs = {}
        with self._limited("predict", None):
            called.begin("predict", {"steps": steps_of(loader)})
            outputs = self._run_epoch(loader, called, "predict", logs)
            called.end("predict", logs)
        together = list(zip(*outputs, strict=True))
        return [np.concatenate(each) for each in together] if stack_outputs else together

    def _evaluate(self, loader: Any, called: CallbackList, logs: Logs, steps: int | None) -> None:
        called.begin("eval", {"steps": steps, "metrics": self._metric_names()})
        self._run_epoch(loader, called, "eval", logs)
        called.end("eval", logs)

    def _run_epoch(
        self, loader: Any, called: CallbackList, kind: str, logs: Logs, accumulate: int = 1
    ) -> list[Any]:
        """Run all batches once; ``logs`` is brought up to date. Returns what a prediction gave.

        Metrics are reset at the end, as in Paddle: batches of ``train_batch`` before it count.
        """
        outputs = []
        count, steps = self._input_count(), steps_of(loader)
        for step, batch in enumerate(loader):
            fields = flat(batch)
            called.batch_begin(kind, step, logs)
            if kind == "predict":
                outputs.append(self.predict_batch(fields[:count]))
            elif kind == "eval":
                logs.update(self._named(self.eval_batch(fields[:count], fields[count:])))
            else:
                update = (step + 1) % accumulate == 0 or step + 1 == steps
                logs.update(self._named(self.train_batch(fields[:count], fields[count:], update)))
            logs["step"] = step
            logs["batch_size"] = size_of(fields[0])
            called.batch_end(kind, step, logs)
            if self._remaining is not None:
                self._remaining -= 1
                if self._remaining == 0:
                    self.stop_training = True
                    self._remaining = None
                    break
        for metric in self._metrics:
            metric.reset()
        return outputs

    def _named(self, result: Any) -> Logs:
        """The losses of a batch and the metrics so far, by name."""
        values: list[Any] = []
        if self._loss is not None:
            losses = result[0] if self._metrics else result
            values.append([_number(loss) for loss in losses])
        for metric in self._metrics:
            values += listed(metric.accumulate())
        return dict(zip(self._metric_names(), values, strict=True))

    def _metric_names(self) -> list[str]:
        names = [] if self._loss is None else ["loss"]
        for metric in self._metrics:
            names += listed(metric.name())
        return names

    def _input_count(self) -> int:
        return count_inputs(self.network) if self._inputs is None else len(self._inputs)

    @contextmanager
    def _limited(self, where: str, num_iters: int | None) -> Iterator[None]:
        """Stop what runs within the block after ``num_iters`` batches.

        A run within a run (``evaluate`` in a callback of ``fit``) has a count of its own.
        """
        if num_iters is not None and num_iters <= 0:
            raise UnreadyError(f"{where}: num_iters must be greater than 0!: got {num_iters}")
        before, self._remaining = self._remaining, num_iters
        try:
            yield
        finally:
            self._remaining = before

    def _callbacks(
        self,
        given: Callback | Sequence[Callback] | None,
        epochs: int | None,
        steps: int | None,
        log_freq: int,
        verbose: int,
        save_freq: int,
        save_dir: str | None,
        metrics: list[str],
    ) -> CallbackList:
        callbacks = with_defaults(listed(given), log_freq, verbose, save_freq, save_dir)
        params = {
            "batch_size": None,
            "epochs": epochs,
            "steps": steps,
            "verbose": verbose,
            "metrics": metrics,
        }
        return CallbackList(callbacks, self, params)

    def _require(self, where: str) -> None:
        if self._optimizer is None:
            raise UnreadyError(
                f"{where}: model not ready, please call `model.prepare()` first: there is no optimizer"
            )
        if self._loss is None:
            raise UnreadyError(f"{where}: there is no loss: pass it to prepare()")

    # -- state ---------------------------------------------------------------------------------------------
    def parameters(self, *args: Any, **kwargs: Any) -> list[Any]:
        """The network's parameters."""
        return self.network.parameters()

    def summary(
        self, input_size: SizeLike | None = None, dtype: DTypeLike | Sequence[DTypeLike] | None = None
    ) -> dict[str, int]:
        """Print a table of the network's layers; see ``paddle.summary``.

        Without ``input_size`` the inputs are those of the InputSpecs, else those of the last batch. Raises
        UnreadyError where there is neither.
        """
        specs = self._inputs or self._steps.seen
        if input_size is None and specs is None:
            raise UnreadyError(
                "summary: 'input_size' or 'inputs' on initialization cannot be None: no batch has run; pass "
                "e.g. input_size=(1, 3, 224, 224)"
            )
        if input_size is None:
            input_size, dtype = specs, dtype or [spec.dtype for spec in specs]
        with self._steps.describing():
            return summary(self.network, input_size, dtype)

    def save(self, path: str, training: bool = True) -> None:
        """Write ``path.pdparams`` and, where the optimizer keeps a state, ``path.pdopt``.

        With ``training=False`` write the files of an inference model, as of ``jit.save``. Raises UnreadyError
        for a model that has neither ``inputs`` nor run yet.
        """
        if training:
            self._steps.save(path)
        else:
            self._steps.save_inference(path)

    def load(self, path: str, skip_mismatch: bool = False, reset_optimizer: bool = False) -> None:
        """Give network and optimizer the state that ``save`` wrote; ``path`` may have its suffix. It may also
        be a checkpoint (``.h5``) of a run that a ``RunRecorder`` recorded.

        ``skip_mismatch`` leaves parameters as they are that the file does not have or has in another shape,
        with a warning. ``reset_optimizer`` leaves the optimizer's state out.

        Raises AbsentStateError for an absent file, ArgumentError for parameters that do not fit; then nothing
        is changed.
        """
        self._steps.load(path, skip_mismatch, reset_optimizer)


def _number(loss: Any) -> float:
    if np.size(loss) != 1:
        raise DTypeError(
            f"Model: only length-1 arrays can be converted to Python scalars: a loss has shape "
            f"{list(np.shape(loss))}; take its mean"
        )
    return float(np.asarray(loss).reshape(()))
