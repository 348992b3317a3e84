"""Accuracy and AUC as part of a Program, and printing of its values."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError, DTypeError, ShapeError, UnreadyError
from engine.core.values.dtype import float32, int32, int64
from engine.core.values.spec import Spec
from engine.nn import functional
from engine.nn.initializer import Constant
from engine.nn.initializer.startup import initialize
from engine.ops.arrays import sort
from engine.ops.control import print_tensor as print_ops
from engine.ops.elementwise import arithmetic
from engine.ops.training import metrics
from engine.program.build.builder import current_builder
from engine.program.build.by_slot import append_into
from engine.program.graph.variable import Variable
from engine.static.nn.helper import Helper
from engine.tensor import creation
from engine.tensor.tensor_like import AnyTensor


def accuracy(
    input: AnyTensor,
    label: AnyTensor,
    k: int = 1,
    correct: AnyTensor | None = None,
    total: AnyTensor | None = None,
) -> Any:
    """The share of samples whose class is among the ``k`` largest of ``input`` [N, classes].

    ``label`` is [N, 1]. The counts are written into ``correct`` and ``total``, Variables of int32, where
    given. Raises ShapeError for other shapes.
    """
    builder = current_builder()
    if not isinstance(input, Variable) or builder is None or builder.startup is None:
        from engine.metric.metrics import accuracy as at_once

        return at_once(input, label, k, correct, total)
    helper = Helper("accuracy", where="static.accuracy")
    if label.dtype is int32:
        label = arithmetic.cast(label, out_dtype=int64)
    with helper.named():
        values, indices = sort.topk(input, k=int(k), axis=-1, largest=True, sorted=False)
        indices.shown_stop_gradient = False
        if correct is None and total is None:
            return metrics.accuracy(values, indices, label)[0]
        block = helper.builder.block
        outputs: list[Any] = [None, correct, total]
        for n, dtype in enumerate(("float32", "int32", "int32")):
            if outputs[n] is None:
                name = helper.builder.program.unique_name(f"{helper.name}.tmp")
                outputs[n] = block.create_var(name, Spec((), dtype))
        append_into(block, metrics.accuracy.opdef, (values, indices, label), {}, tuple(outputs))
    return outputs[0]


def auc(
    input: AnyTensor,
    label: AnyTensor,
    curve: str = "ROC",
    num_thresholds: int = 4095,
    topk: int = 1,
    slide_steps: int = 1,
    ins_tag_weight: AnyTensor | None = None,
) -> tuple[Any, Any, list[Any]]:
    """The area under the curve of a binary classification, over all runs and over the last ones.

    ``input`` [N, 2] holds the probabilities of both classes, ``label`` [N, 1] the class. Returns the area
    over all runs, that over the last ``slide_steps`` runs, and the four Variables that keep the counts.
    Raises ArgumentError for another curve, or for ``ins_tag_weight``, which belongs to a distributed trainer.
    """
    if ins_tag_weight is not None:
        raise ArgumentError(
            "auc: ins_tag_weight belongs to Paddle's distributed trainer, which does not exist here; omit it"
        )
    helper = Helper("auc", where="static.auc")
    builder = helper.builder
    creation.ones([1, 1], "float32")  # Paddle's ins_tag_weight, which nothing reads here
    bins = num_thresholds + 1
    names = [builder.program.unique_name(f"{helper.name}.tmp") for _ in range(2)]
    recent = ((1 + slide_steps) * bins + 1,) if slide_steps else (1, bins)
    shapes = [recent, recent, (1, bins), (1, bins)]
    stats = []
    for dims in shapes:
        made = builder.program.global_block().create_var(
            None, Spec(dims, "int64"), persistable=True, stop_gradient=True
        )
        assert builder.startup is not None, "static mode has a startup Program"
        initialize(made, Constant(0.0), builder.startup)
        stats.append(made)
    if curve not in ("ROC", "PR"):
        raise ArgumentError(f"auc: curve {curve!r} is not one of 'ROC', 'PR'")
    results = []
    areas = [builder.block.create_var(name, Spec((), "float64")) for name in names]
    for area in areas:
        area.shown_spec, area.shown_stop_gradient = Spec((), "int64"), False
    for area, steps, (pos, neg) in ((areas[1], slide_steps, stats[:2]), (areas[0], 0, stats[2:])):
        attrs = {"curve": curve, "num_thresholds": num_thresholds, "slide_steps": steps}
        append_into(builder.block, metrics.auc.opdef, (input, label, pos, neg), attrs, (area, pos, neg))
        results.append(area)
    return results[1], results[0], stats


def ctr_metric_bundle(
    input: AnyTensor, label: AnyTensor, ins_tag_weight: AnyTensor | None = None
) -> tuple[Any, ...]:
    """Sums over all runs for a model that predicts clicks: of squared errors, absolute errors, predictions,
    their sigmoid, labels, and the number of samples.

    Each is a Variable [1] that the startup Program sets to 0.

    ``input`` and ``label`` are [N, 1]. ``ins_tag_weight`` [1, 1] of 0 leaves the batch out of the number and
    of the sum of sigmoids. Raises ShapeError where input and label have not one shape.
    """
    if tuple(input.spec.shape) != tuple(label.spec.shape):
        raise ShapeError(f"ctr_metric_bundle: input is {input.spec}, label {label.spec}; make them one shape")
    helper = Helper("ctr_metric_bundle", where="static.ctr_metric_bundle")
    builder = helper.builder
    assert builder.startup is not None, "static mode has a startup Program"
    wanted = arithmetic.cast(label, out_dtype=float32)
    error = input - wanted
    counted, chances = creation.ones_like(wanted).sum(), functional.sigmoid(input).sum()
    if ins_tag_weight is not None:
        weight = ins_tag_weight.reshape([-1])[0].astype("float32")
        counted, chances = counted * weight, chances * weight
    sums = []
    for batch in (error.square().sum(), error.abs().sum(), input.sum(), chances, wanted.sum(), counted):
        running_total = builder.program.global_block().create_var(
            builder.program.unique_name(f"{helper.name}.tmp"), Spec((1,), "float32"), persistable=True
        )
        initialize(running_total, Constant(0.0), builder.startup)
        append_into(
            builder.block, arithmetic.add.opdef, (running_total, batch.reshape([1])), {}, (running_total,)
        )
        sums.append(running_total)
    return tuple(sums)


_PHASES = {"forward": "FORWARD", "backward": "BACKWARD", "both": "BOTH"}


def print_options(
    first_n: int, message: str | None, summarize: int, name: bool, kind: bool, shape: bool, layout: bool,
    lod: bool, phase: str,
) -> dict[str, Any]:  # fmt: skip
    """The attributes of the operator that prints. Raises UnreadyError for an unknown phase."""
    if phase not in _PHASES:
        raise UnreadyError(f"Print: print_phase {phase!r} is not one of 'forward', 'backward', 'both'")
    return {
        "first_n": int(first_n),
        "message": message or "",
        "summarize": int(summarize),
        "print_tensor_name": name,
        "print_tensor_type": kind,
        "print_tensor_shape": shape,
        "print_tensor_layout": layout,
        "print_tensor_lod": lod,
        "print_phase": _PHASES[phase],
        "seen": [0] if first_n >= 0 else None,
    }


def Print(
    input: AnyTensor,
    first_n: int = -1,
    message: str | None = None,
    summarize: int = 20,
    print_tensor_name: bool = True,
    print_tensor_type: bool = True,
    print_tensor_shape: bool = True,
    print_tensor_layout: bool = True,
    print_tensor_lod: bool = True,
    print_phase: str = "both",
) -> Any:
    """Print ``input`` when the Program runs, the first ``first_n`` times (-1: always); returns it.

    At most ``summarize`` elements are shown (-1: all). ``print_phase`` is 'forward' (the value), 'backward'
    (its gradient) or 'both'. Raises UnreadyError, a RuntimeError, for another phase, DTypeError for a value
    that is not a Variable.
    """
    options = print_options(
        first_n, message, summarize, print_tensor_name, print_tensor_type, print_tensor_shape,
        print_tensor_layout, print_tensor_lod, print_phase,
    )  # fmt: skip
    builder = current_builder()
    if builder is None or not isinstance(input, Variable):
        raise DTypeError(
            f"Print: takes a Variable of a Program: got {type(input).__name__}; in eager mode print() it"
        )
    out = print_ops.print_tensor(input, **options)
    builder.block.ops[-1].attrs["names"] = [input.name, f"{out.name}@GRAD"]
    return out
