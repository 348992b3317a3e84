"""Subject: a model whose answers are explained."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

from engine.core.errors import ArgumentError
from engine.explain.answers import METHODS, Activation, Array, Attribution, Progress, never, no_progress
from engine.explain.integrated import integrate
from engine.explain.model import Model
from engine.explain.occlusion import occlude
from engine.explain.sample import Sample, chosen, require_finite

SIDE = 64  # of a channel's image
STEPS = 32


class Subject:
    """A model whose answers are explained; ``of_saved``, ``of_run`` and ``of_layer`` make it.

    ``arrays`` are one sample as the model is fed it, an array for each input, with the batch axis that the
    model has; of several samples the first counts. ``target`` is a number of ``output``: its place in the
    flat output of the sample; that of the largest number unless given. ``input`` is the one that values are
    attributed to; the others stay as they are. Use it as a context manager, or call ``close()``.

    All methods raise ArgumentError for an input, output or number that the model does not have, and for a
    method that it does not allow (``methods`` has the reason); NotFiniteError where the sample or the answer
    has NaN or infinity; what the model raises for arrays that do not fit.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self.inputs, self.outputs = list(model.inputs), list(model.outputs)

    def methods(self, output: int = 0, input: int = 0) -> dict[str, str]:
        """Each method by name, with the reason why the model does not allow it; empty where it does."""
        chosen(self.inputs, input, "input")
        wanted = chosen(self.outputs, output, "output")
        gradient = self._model.why_no_gradient(input, output)
        reasons = {
            "activations": self._model.why_no_activations(),
            "saliency": gradient,
            "integrated": gradient,
            "occlusion": "" if _is_number(wanted.dtype) else f"the output has {wanted.dtype}: not a number",
        }
        return {name: reasons[name] for name in METHODS}

    def activations(
        self, arrays: Sequence[Array], wanted: Sequence[str] = (), side: int = SIDE
    ) -> list[Activation]:
        """What each operator computes for a sample, in the order in which they ran.

        Args:
            wanted: variables whose activation gets ``channels`` or ``counts``.
            side: the most rows and columns of a channel; of larger ones each n-th is there.
        """
        self._require("activations", 0, 0)
        return self._model.activations([np.asarray(each) for each in arrays], wanted, side)

    def view(self, variable: str, kind: str = "statistics", **options: Any) -> dict[str, Any]:
        """Statistics, histogram, image or rows of a variable of the last activations, as plain values."""
        return self._model.view(variable, kind, options)

    def channels(self, variable: str, rows: int = SIDE) -> dict[str, Any]:
        """The channels of a variable as images of at most ``rows`` rows, see ``engine.debugger.views``."""
        return self.view(variable, "image", side=rows)

    def values(self, variable: str) -> Array:
        """A variable of the last activations."""
        return self._model.values(variable)

    def saliency(
        self, arrays: Sequence[Array], target: int | None = None, output: int = 0, input: int = 0
    ) -> Attribution:
        """The gradient of the number with respect to each value of the input."""
        self._require("saliency", output, input)
        begin = time.perf_counter()
        sample = Sample(self._model, arrays, target, output, input)
        scores, gradients = sample.gradients(sample.value[None])
        require_finite(gradients, "the gradient")
        return self._attribution("saliency", sample, gradients[0], begin, score=float(scores[0]))

    def integrated_gradients(
        self,
        arrays: Sequence[Array],
        target: int | None = None,
        steps: int = STEPS,
        baseline: float | Array = 0.0,
        output: int = 0,
        input: int = 0,
        progress: Progress = no_progress,
        cancelled: Callable[[], bool] = never,
    ) -> Attribution:
        """The share of each value of the input in the difference of the number to that of a baseline.

        Args:
            steps: the places between baseline and sample where gradients are computed.
            baseline: a number, or an array of the input's shape, as the model is fed it.

        Raises also CancelledError.
        """
        self._require("integrated", output, input)
        begin = time.perf_counter()
        sample = Sample(self._model, arrays, target, output, input)
        sample.alone_unless_alike()
        values, difference = integrate(sample, baseline, steps, progress, cancelled)
        gap = float(values.sum() - difference)
        return self._attribution(
            "integrated", sample, values, begin, difference=difference, gap=gap, settings={"steps": steps}
        )

    def occlusion(
        self,
        arrays: Sequence[Array],
        target: int | None = None,
        size: int | Sequence[int] | None = None,
        step: int | Sequence[int] | None = None,
        color: float | Array = 0.0,
        axes: Sequence[int] | None = None,
        form: Sequence[int] | None = None,
        output: int = 0,
        input: int = 0,
        progress: Progress = no_progress,
        cancelled: Callable[[], bool] = never,
    ) -> Attribution:
        """How far the number drops where a window covers the values of the input, on average over windows.

        What was computed before ``cancelled()`` is returned, with ``share`` below 1 and NaN elsewhere.

        Args:
            size: the window's side, or one for each axis; a fifth of the axis unless given.
            step: the distance between windows; a third of their side unless given.
            color: the values that cover, as the model is fed them: a number, or an array of the input's
                shape.
            form: the shape in which the sample is covered, such as rows and columns of a flat image; that of
                the input without its batch axis unless given.
            axes: of that form; those of an image, of a sequence's steps or of a row's
                values unless given.
        """
        self._require("occlusion", output, input)
        begin = time.perf_counter()
        sample = Sample(self._model, arrays, target, output, input)
        sample.alone_unless_alike()
        values, share, sizes, steps = occlude(sample, size, step, color, axes, form, progress, cancelled)
        return self._attribution(
            "occlusion", sample, values, begin, share=share, settings={"size": sizes, "step": steps}
        )

    def close(self) -> None:
        """Let go of the model; nothing can be asked any more."""
        self._model.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _require(self, method: str, output: int, input: int) -> None:
        methods = self.methods(output, input)
        if why := methods[method]:
            possible = " or ".join(name for name, reason in methods.items() if not reason) or "another model"
            raise ArgumentError(f"explain: no {method}: {why}; choose {possible}, or another input or output")

    def _attribution(
        self,
        method: str,
        sample: Sample,
        values: Array,
        begin: float,
        score: float | None = None,
        **more: Any,
    ) -> Attribution:
        return Attribution(
            method,
            sample.placed(values.astype(np.float32)),
            sample.target,
            sample.score if score is None else score,
            time.perf_counter() - begin,
            sample.input,
            sample.output,
            **more,
        )


def _is_number(dtype: str) -> bool:
    return dtype.startswith(("float", "int", "uint", "bool", "bfloat"))
