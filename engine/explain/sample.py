"""Sample: one sample of a model, of which one number is explained, and variants of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from engine.core.errors import ArgumentError, CancelledError, EngineError, LimitError, NotFiniteError
from engine.explain.answers import Array, Value
from engine.explain.model import Model, require_all

# Of the values of one run: variants run together as far as they fit. Large networks gain nothing by batches.
_BYTES_AT_ONCE = 32 << 20
_MOST_AT_ONCE = 512

Found = TypeVar("Found")


class Sample:
    """One sample of ``model``, the chosen input and the number of an output that is explained.

    ``arrays`` are what the model is fed. Where they have a batch axis the first sample counts, and variants
    of it run together; a batch size that the model fixes is filled with variants too.

    Args:
        target: the place in the flat output of the sample; that of its largest number unless given.

    Raises:
        ArgumentError: no such input, output or target. NotFiniteError: NaN or infinity in the input or in
            what the model answers. What the model raises for arrays that do not fit.
    """

    def __init__(
        self, model: Model, arrays: Sequence[Array], target: int | None, output: int, input: int
    ) -> None:
        self.model, self.input, self.output = model, input, output
        self.arrays = [np.asarray(array) for array in arrays]
        require_all(model.inputs, self.arrays)
        chosen(model.inputs, input, "input")
        chosen(model.outputs, output, "output")
        for value, array in zip(model.inputs, self.arrays, strict=True):
            require_finite(array, f"the input {value.name!r}")
        answered = model.run(self.arrays)[output]
        self.batch = _batch(model, self.arrays, answered)
        """How many samples the model is fed at once here, 0 where it is fed without a batch axis."""
        self.answer = np.asarray(answered[0] if self.batch else answered)
        require_finite(self.answer, f"the output {model.outputs[output].name!r}")
        self.target = self._checked(target)
        self.score = float(self.answer.reshape(-1)[self.target])
        self.value = self.arrays[input][0] if self.batch else self.arrays[input]
        """The chosen input of the sample, without the batch axis."""
        self._together = self._most_together()

    def _checked(self, target: int | None) -> int:
        count = self.answer.size
        if self.answer.dtype.kind not in "fiub" or not count:
            raise ArgumentError(
                f"explain: the output is {self.answer.dtype} of shape {list(self.answer.shape)}: no numbers "
                "to explain; choose another output"
            )
        if target is None:
            return int(self.answer.argmax())
        if not 0 <= target < count:
            raise ArgumentError(f"explain: no number {target}: the output has {count}; give 0 to {count - 1}")
        return int(target)

    def _most_together(self) -> int:
        if not self.batch:
            return 1
        if self.batch > 1 or self.model.inputs[self.input].shape[:1] == (self.batch,) != (1,):
            return self.batch
        size = max(1, self.model.bytes_of(self.arrays))
        return max(1, min(_MOST_AT_ONCE, _BYTES_AT_ONCE // size))

    @property
    def together(self) -> int:
        """How many variants run at once."""
        return self._together

    def placed(self, values: Array) -> Array:
        """Values of the sample as an array of the input's shape."""
        if not self.batch:
            return values
        found = np.zeros(self.arrays[self.input].shape, values.dtype)
        found[0] = values
        return found

    def scores(self, variants: Array) -> np.ndarray:
        """The explained number for each of ``variants`` [n, ...] of the chosen input, as float64.

        As many as ``together`` run at once, fewer where a limit of the model's process ends that.
        """
        return np.concatenate(self._in_parts(variants, self._scores))

    def gradients(self, variants: Array) -> tuple[np.ndarray, Array]:
        """The explained number for each of ``variants``, and its gradient with respect to each."""
        scores, gradients = zip(*self._in_parts(variants, self._gradients), strict=True)
        return np.concatenate(scores), np.concatenate(gradients)

    def _in_parts(self, variants: Array, compute: Callable[[Array], Found]) -> list[Found]:
        found, done = [], 0
        while done < len(variants):
            part = variants[done : done + self._together]
            try:
                found.append(compute(part))
            except LimitError:
                if self.batch != 1 or len(part) == 1:
                    raise
                self._together = max(1, len(part) // 8)
                continue
            done += len(part)
        return found

    def _scores(self, variants: Array) -> np.ndarray:
        return self._numbers(self._run(variants), len(variants))

    def _gradients(self, variants: Array) -> tuple[np.ndarray, Array]:
        fed, count = self._fed(variants), len(variants)
        shape = self._output_shape(fed)
        incoming = np.zeros(shape, self.answer.dtype)
        rows = incoming.reshape(-1)[None] if not self.batch else incoming.reshape(shape[0], -1)
        rows[:count, self.target] = 1
        answered, gradient = self.model.gradient(fed, self.input, self.output, incoming)
        found = gradient[:count] if self.batch else gradient[None]
        return self._numbers(answered, count), found

    def _output_shape(self, fed: Sequence[Array]) -> tuple[int, ...]:
        return (fed[self.input].shape[0], *self.answer.shape) if self.batch else self.answer.shape

    def _numbers(self, answered: Array, count: int) -> np.ndarray:
        rows = answered.reshape(len(answered), -1)[:count] if self.batch else answered.reshape(1, -1)
        found = rows[:, self.target].astype(np.float64)
        require_finite(found, "what the model answers")
        return found

    def _run(self, variants: Array) -> Array:
        fed = self._fed(variants)
        answered = self.model.run(fed)[self.output]
        if answered.shape != self._output_shape(fed):
            raise ArgumentError(
                f"explain: {len(variants)} samples at once give an output of shape {list(answered.shape)}"
            )
        return answered

    def _fed(self, variants: Array) -> list[Array]:
        """The inputs for variants; free places of a batch repeat the last one."""
        if not self.batch:
            fed = list(self.arrays)
            fed[self.input] = variants[0]
            return fed
        rows = self.batch if self.batch > 1 else _even(len(variants))
        if len(variants) < rows:
            variants = np.concatenate([variants, np.repeat(variants[-1:], rows - len(variants), axis=0)])
        return [
            variants if n == self.input else np.repeat(array[:1], rows, axis=0)
            for n, array in enumerate(self.arrays)
        ]

    def alone_unless_alike(self) -> None:
        """Run variants one at a time from now on where two samples at once are not answered like one.

        Some models fix a batch of 1 in their operators, or mix the samples of a batch.
        """
        if self.batch != 1 or self._together == 1:
            return
        try:
            two = self.scores(np.repeat(self.value[None], 2, axis=0))
        except (CancelledError, LimitError):
            raise
        except (EngineError, ValueError):
            self._together = 1
            return
        if not np.allclose(two, self.score, rtol=1e-3, atol=1e-5 + 1e-3 * float(np.abs(self.answer).max())):
            self._together = 1


def _even(count: int) -> int:
    """At most an eighth more than ``count``, so that plans are made for few sizes of batches."""
    unit = 1 << max(0, count.bit_length() - 4)
    return -(-count // unit) * unit


def _batch(model: Model, arrays: Sequence[Array], answered: Array) -> int:
    """The size of the batch axis that all inputs and the output have; 0 where there is none."""
    sizes = {array.shape[0] if array.ndim else 0 for array in arrays}
    declared = {value.shape[0] if value.shape else 0 for value in model.inputs}
    vectors = any(len(value.shape) == 1 and value.shape[0] > 0 for value in model.inputs)
    if len(sizes) != 1 or len(declared) != 1 or vectors or not answered.ndim:
        return 0
    size = sizes.pop()
    return size if size == answered.shape[0] else 0


def chosen(values: Sequence[Value], place: int, what: str) -> Value:
    """The input or output at a place. Raises ArgumentError where there is none."""
    if not 0 <= place < len(values):
        names = ", ".join(f"{n} ({each.name})" for n, each in enumerate(values))
        wrong = f"no input {place}" if what == "input" else f"no output {place}"
        raise ArgumentError(f"explain: {wrong}: the model has {names}; choose one of them")
    return values[place]


def require_finite(values: Array, what: str) -> None:
    """Raises NotFiniteError where there is NaN or infinity in ``values``."""
    if values.dtype.kind != "f":
        return
    finite = np.isfinite(values)
    if not finite.all():
        nan, count = int(np.isnan(values).sum()), int(math.prod(values.shape))
        wrong = int(count - np.count_nonzero(finite))
        raise NotFiniteError(
            f"explain: {what} holds {nan} NaN and {wrong - nan} infinite of {count} values: no map "
            "of it; use a sample and a model whose numbers are finite"
        )
