"""Calls of fluid's functions whose kernels live on in Paddle 2.6.2: what is called there, and what here."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

RNG = np.random.default_rng(15)


def f(*shape: int) -> Any:
    """Numbers away from one another and from where functions have a kink."""
    count = int(np.prod(shape))
    return RNG.permutation(np.linspace(-2.03, 2.11, count)).round(3).reshape(shape).astype(np.float32)


def chances(*shape: int) -> Any:
    """Rows whose sum is 1 also after rounding."""
    e = np.exp(f(*shape).astype(np.float64))
    e = (e / e.sum(-1, keepdims=True)).round(3)
    e[..., 0] += 1 - e.sum(-1)
    return e.astype(np.float32)


def whole(*shape: int, below: int) -> Any:
    return RNG.integers(0, below, shape)


class Case(NamedTuple):
    """``inputs``; ``there(kernels, *tensors)`` of Paddle and ``here(layers, *variables)`` on them.

    Both give a value or several; the gradients are those of the sum of all squares.
    """

    inputs: tuple[Any, ...]
    there: Callable[..., Any]
    here: Callable[..., Any]


def simple(name: str, *inputs: Any, at: Any = None, ours: str | None = None, **options: Any) -> Case:
    """A kernel and a function that have the same name and options; ``at`` picks the kernel's output."""
    attrs = [each for pair in options.items() for each in pair]

    def there(kernels: Any, *tensors: Any) -> Any:
        made = getattr(kernels, name)(*tensors, *attrs)
        return made if at is None else made[at]

    return Case(inputs, there, lambda layers, *v: getattr(layers, ours or name)(*v, **options))


def paddles(name: str) -> Any:
    """A module of Paddle."""
    return importlib.import_module(f"paddle.{name}")


def public(name: str, *inputs: Any, **options: Any) -> Case:
    """A function that Paddle 2 has kept under its name, in paddle.nn.functional."""
    return Case(
        inputs,
        lambda k, *v: getattr(paddles("nn.functional"), name)(*v, **options),
        lambda layers, *v: getattr(layers, name)(*v, **options),
    )


def running(like: Any) -> tuple[Any, Any]:
    """Statistics of a batch norm before its first batch."""
    return like.detach() * 0, like.detach() * 0 + 1


LABEL = np.array([[1], [4], [0], [2]])
CLICKS = (np.arange(8).reshape(2, 4) % 2).astype(np.float32)
IMAGE = f(2, 4, 3, 3)
TEACHER = np.array([[-2.0], [-1.0], [0.3], [1.6]], np.float32)


def interpolated(method: str, shape: tuple[int, ...], size: tuple[int, ...], **options: Any) -> Case:
    names = ("out_d", "out_h", "out_w")[-len(size) :]
    attrs = [each for pair in zip(names, size, strict=True) for each in pair]
    attrs += [each for pair in options.items() for each in pair]
    given = {k: v for k, v in options.items() if k != "align_mode" or method != "nearest"}
    return Case(
        (f(*shape),),
        lambda k, x: getattr(k, f"{method}_interp")(x, None, "interp_method", method, *attrs),
        lambda layers, x: getattr(layers, f"resize_{method}")(x, out_shape=list(size), **given),
    )


def cross_entropy(*inputs: Any, soft: bool = False, ignored: int = -100, axis: int = -1) -> Case:
    """Both outputs of softmax_with_cross_entropy; Paddle's kernel takes no gradient of the second."""

    def there(k: Any, x: Any, y: Any) -> Any:
        softmax, loss = k.softmax_with_cross_entropy(
            x, y, "soft_label", soft, "ignore_index", ignored, "numeric_stable_mode", True, "axis", axis
        )
        return loss, softmax.detach()

    def here(layers: Any, x: Any, y: Any) -> Any:
        loss, softmax = layers.softmax_with_cross_entropy(x, y, soft, ignored, True, True, axis)
        softmax.stop_gradient = True
        return loss, softmax

    return Case(inputs, there, here)


def layer(
    name: str, slots: tuple[str, ...], there: Callable[..., Any], shape: Any = None, **options: Any
) -> Case:
    """A layer of fluid.dygraph in the form of 1.5, whose parameters in ``slots`` are inputs of the case."""
    sizes = shape or (2, 4, 3, 3)

    def here(layers: Any, x: Any, *values: Any) -> Any:
        from engine.fluid.dygraph import nn

        made = getattr(nn, name)("scope", **options)
        made(x)  # makes the parameters
        made._parameters.update(zip(slots, values, strict=True))
        return made(x)

    count = int(np.prod(sizes[1:])) if name == "LayerNorm" else sizes[1]
    return Case((f(*sizes), *(f(count) for _ in slots)), there, here)


def gru_unit(activation: str, gate: str) -> Case:
    """The new state of a GRUUnit; the kernel takes no gradients of its other outputs."""
    numbers = {"identity": 0, "sigmoid": 1, "tanh": 2, "relu": 3}

    def there(k: Any, *given: Any) -> Any:
        return k.gru_unit(*given, "activation", numbers[activation], "gate_activation", numbers[gate])[2]

    def here(layers: Any, x: Any, hidden: Any, weight: Any, bias: Any) -> Any:
        from engine.fluid.dygraph import nn

        made = nn.GRUUnit("scope", 9, activation=activation, gate_activation=gate)
        made._parameters.update(weight=weight, bias=bias)
        return made(x, hidden)[0]

    return Case((f(2, 9), f(2, 3), f(3, 9), f(1, 9)), there, here)


CASES: dict[str, Case] = {
    # -- losses
    "cross_entropy": simple("cross_entropy", chances(4, 5), LABEL, soft_label=False, ignore_index=-100),
    "cross_entropy soft": simple(
        "cross_entropy", chances(4, 5), chances(4, 5), soft_label=True, ignore_index=-100
    ),
    "cross_entropy ignored": simple("cross_entropy", chances(4, 5), LABEL, soft_label=False, ignore_index=4),
    "cross_entropy rank 3": simple(
        "cross_entropy", chances(2, 3, 5), whole(2, 3, 1, below=5), soft_label=False, ignore_index=-100
    ),
    "cross_entropy2": simple("cross_entropy2", chances(4, 5), LABEL, at=0, ignore_index=-100),
    "softmax_with_cross_entropy": cross_entropy(f(4, 5), LABEL),
    "softmax_with_cross_entropy soft": cross_entropy(f(4, 5), chances(4, 5), soft=True),
    "softmax_with_cross_entropy ignored": cross_entropy(f(4, 5), LABEL, ignored=2),
    "softmax_with_cross_entropy axis 1": cross_entropy(f(2, 5, 3), whole(2, 1, 3, below=5), axis=1),
    "sigmoid_cross_entropy_with_logits": simple(
        "sigmoid_cross_entropy_with_logits", f(2, 4), CLICKS, ignore_index=-100, normalize=False
    ),
    "sigmoid_cross_entropy_with_logits ignored": simple(
        "sigmoid_cross_entropy_with_logits",
        f(2, 4),
        np.where(CLICKS > 0, -1, 0.5).astype(np.float32),
        ignore_index=-1,
        normalize=True,
    ),
    "huber_loss": Case(
        (f(4, 1), f(4, 1)),
        lambda k, x, y: k.huber_loss(x, y, "delta", 0.7)[0],
        lambda layers, x, y: layers.huber_loss(x, y, 0.7),
    ),
    "rank_loss": simple("rank_loss", CLICKS[:, :1], f(2, 1), f(2, 1)),
    "bpr_loss": simple("bpr_loss", f(4, 5), LABEL),
    "log_loss": simple("log_loss", chances(2, 4).reshape(8, 1), CLICKS.reshape(8, 1), epsilon=0.01),
    **{
        f"kldiv_loss {how}": simple("kldiv_loss", f(3, 4), chances(3, 4), reduction=how)
        for how in ("none", "mean", "sum", "batchmean")
    },
    "kldiv_loss of zeros": simple(
        "kldiv_loss", f(1, 4), np.array([[0.0, 0.5, -0.1, 0.5]], np.float32), reduction="none"
    ),
    "teacher_student_sigmoid_loss": simple(
        "teacher_student_sigmoid_loss", f(4, 1), TEACHER, soft_max_up_bound=15.0, soft_max_lower_bound=-15.0
    ),
    "square_error_cost": public("square_error_cost", f(3, 4), f(3, 4)),
    "dice_loss": public("dice_loss", chances(3, 4), whole(3, 1, below=4), epsilon=1e-3),
    "npair_loss": public("npair_loss", f(4, 3), f(4, 3), np.array([0.0, 1, 0, 2], np.float32), l2_reg=0.01),
    "cos_sim": Case(
        (f(3, 4), f(3, 4)),
        lambda k, x, y: paddles("nn.functional").cosine_similarity(x, y).reshape([3, 1]),
        lambda layers, x, y: layers.cos_sim(x, y),
    ),
    "margin_rank_loss": Case(
        (CLICKS[:, :1] * 2 - 1, f(2, 1), f(2, 1)),
        lambda k, y, a, b: paddles("nn.functional").margin_ranking_loss(a, b, y, 0.3, "none"),
        lambda layers, y, a, b: layers.margin_rank_loss(y, a, b, 0.3),
    ),
    "fsp": simple("fsp", IMAGE, f(2, 2, 3, 3), ours="fsp_matrix"),
    "label_smooth": Case(
        (chances(3, 4), chances(1, 4)),
        lambda k, x, prior: k.label_smooth(x, prior, "epsilon", 0.2),
        lambda layers, x, prior: layers.label_smooth(x, prior_dist=prior, epsilon=0.2),
    ),
    # -- images
    "bilinear_interp": interpolated("bilinear", (1, 2, 3, 4), (5, 3), align_corners=True, align_mode=1),
    "bilinear_interp mode 0": interpolated(
        "bilinear", (1, 2, 3, 4), (5, 3), align_corners=False, align_mode=0
    ),
    "bilinear_interp mode 1": interpolated(
        "bilinear", (1, 2, 3, 4), (5, 3), align_corners=False, align_mode=1
    ),
    "nearest_interp": interpolated("nearest", (1, 2, 3, 4), (5, 3), align_corners=True, align_mode=1),
    "nearest_interp plain": interpolated("nearest", (1, 2, 3, 4), (5, 3), align_corners=False, align_mode=1),
    "trilinear_interp": interpolated(
        "trilinear", (1, 1, 2, 3, 2), (3, 2, 4), align_corners=True, align_mode=1
    ),
    "trilinear_interp mode 0": interpolated(
        "trilinear", (1, 1, 2, 3, 2), (3, 2, 4), align_corners=False, align_mode=0
    ),
    "lrn": simple("lrn", f(1, 6, 2, 2), at=0, n=5, k=1.5, alpha=0.05, beta=0.75),
    "affine_channel": simple("affine_channel", IMAGE, f(4), f(4), data_layout="NCHW"),
    "add_position_encoding": simple("add_position_encoding", f(2, 3, 6), alpha=0.7, beta=1.3),
    "shuffle_channel": simple("shuffle_channel", IMAGE, group=2),
    "temporal_shift": simple("temporal_shift", f(4, 4, 2, 2), seg_num=2, shift_ratio=0.25),
    "pixel_shuffle": simple("pixel_shuffle", IMAGE, upscale_factor=2),
    "affine_grid": Case(
        (f(1, 2, 3),),
        lambda k, theta: k.affine_grid(theta, "output_shape", [1, 2, 2, 3], "align_corners", True),
        lambda layers, theta: layers.affine_grid(theta, [1, 2, 2, 3]),
    ),
    "grid_sampler": simple("grid_sampler", f(1, 2, 3, 3), (f(1, 2, 2, 2) * 0.45).round(3)),
    "pool2d": Case(
        (IMAGE,),
        lambda k, x: k.pool2d(
            x,
            "pooling_type",
            "avg",
            "ksize",
            [2, 2],
            "strides",
            [2, 2],
            "paddings",
            [1, 1],
            "global_pooling",
            False,
            "ceil_mode",
            True,
            "exclusive",
            False,
        ),
        lambda layers, x: layers.pool2d(x, 2, "avg", 2, 1, ceil_mode=True, exclusive=False),
    ),
    "pool2d exclusive": Case(
        (IMAGE,),
        lambda k, x: k.pool2d(
            x,
            "pooling_type",
            "avg",
            "ksize",
            [2, 2],
            "strides",
            [2, 2],
            "paddings",
            [1, 1],
            "global_pooling",
            False,
            "ceil_mode",
            True,
            "exclusive",
            True,
        ),
        lambda layers, x: layers.pool2d(x, 2, "avg", 2, 1, ceil_mode=True),
    ),
    "crop": Case(
        (f(3, 4),),
        lambda k, x: k.crop(x, None, None, "shape", [2, 2], "offsets", [1, 2]),
        lambda layers, x: layers.crop(x, shape=[2, 2], offsets=[1, 2]),
    ),
    "pad": simple("pad", f(2, 3), paddings=[0, 1, 2, 0], pad_value=0.5),
    # -- activations
    **{
        name: simple(name, f(3, 4), **options)
        for name, options in {
            "brelu": {"t_min": -1.1, "t_max": 1.3},
            "soft_relu": {"threshold": 40.0},
            "stanh": {"scale_a": 0.7, "scale_b": 1.2},
            "hard_swish": {"threshold": 6.0, "scale": 6.0, "offset": 3.0},
            "hard_sigmoid": {"slope": 0.3, "offset": 0.4},
            "thresholded_relu": {"threshold": 0.6},
            "tanh_shrink": {},
            "logsigmoid": {},
            "softplus": {},
            "softsign": {},
            "selu": {"scale": 1.3, "alpha": 1.1},
            "elu": {"alpha": 0.8},
            "leaky_relu": {"alpha": 0.1},
            "swish": {"beta": 1.0},
            "gelu": {"approximate": True},
            "pow": {"factor": 3.0},
            "clip_by_norm": {"max_norm": 1.5},
            "cumsum": {"axis": 0, "exclusive": True, "reverse": True},
        }.items()
    },
    "hard_shrink": simple("hard_shrink", f(3, 4), threshold=0.5),
    "softshrink": Case(
        (f(3, 4),),
        lambda k, x: k.softshrink(x, "lambda", 0.4),
        lambda layers, x: layers.softshrink(x, alpha=0.4),
    ),
    "maxout": simple("maxout", IMAGE, groups=2, axis=1),
    # -- norms
    "batch_norm": layer(
        "BatchNorm",
        ("weight", "bias"),
        lambda k, x, a, b: k.batch_norm(
            x,
            a,
            b,
            *running(a),
            None,
            *running(a),
            "momentum",
            0.9,
            "epsilon",
            1e-3,
            "is_test",
            False,
            "data_layout",
            "NCHW",
            "use_global_stats",
            False,
            "trainable_statistics",
            False,
        )[0],
        num_channels=4,
        epsilon=1e-3,
    ),
    "layer_norm": layer(
        "LayerNorm",
        ("weight", "bias"),
        lambda k, x, a, b: k.layer_norm(x, a, b, "begin_norm_axis", 1, "epsilon", 1e-3)[0],
        (2, 3, 4),
        begin_norm_axis=1,
        epsilon=1e-3,
    ),
    "group_norm": layer(
        "GroupNorm",
        ("weight", "bias"),
        lambda k, x, a, b: paddles("_C_ops").group_norm(x, a, b, 1e-3, 2, "NCHW"),
        groups=2,
        epsilon=1e-3,
        param_attr="a",
        bias_attr="b",
    ),
    "instance_norm": layer(
        "InstanceNorm",
        ("scale", "bias"),
        lambda k, x, a, b: k.instance_norm(x, a, b, "epsilon", 1e-3)[0],
        epsilon=1e-3,
    ),
    # Without gradients: those of Paddle's kernel are not the paper's, which the engine takes.
    "spectral_norm": layer(
        "SpectralNorm",
        ("weight_u", "weight_v"),
        lambda k, *given: k.spectral_norm(
            *(each.detach() for each in given), "dim", 0, "power_iters", 2, "eps", 1e-12
        ),
        (3, 3),
        power_iters=2,
    ),
    "norm": Case(
        (f(3, 4),),
        lambda k, x: k.norm(x, "axis", 1, "epsilon", 1e-2)[0],
        lambda layers, x: layers.l2_normalize(x, 1, 1e-2),
    ),
    # -- recurrent
    **{
        f"gru_unit {activation} {gate}": gru_unit(activation, gate)
        for activation, gate in (("relu", "sigmoid"), ("identity", "tanh"), ("sigmoid", "relu"))
    },
    # -- of two tensors
    "elementwise_add axis": simple("elementwise_add", f(2, 3, 4), f(3), axis=1),
    "elementwise_mul axis": simple("elementwise_mul", f(2, 3, 4), f(2), axis=0),
    "elementwise_max": simple("elementwise_max", f(3, 4), f(3, 4), axis=-1),
    "elementwise_pow": simple("elementwise_pow", np.abs(f(3, 4)), f(3, 4), axis=-1),
    "mul": simple("mul", f(2, 3, 4), f(4, 5), x_num_col_dims=2, y_num_col_dims=1),
}

# Functions of paddle.optimizer.lr under fluid's names, which append operators to a Program.
DECAYS: dict[str, tuple[str, tuple[Any, ...]]] = {
    "piecewise": ("piecewise_decay", ([3, 8, 15], [0.5, 0.25, 0.1, 0.05])),
    "exponential": ("exponential_decay", (0.5, 6, 0.5)),
    "exponential stairs": ("exponential_decay", (0.5, 6, 0.5, True)),
    "natural_exp": ("natural_exp_decay", (0.5, 6, 0.5)),
    "natural_exp stairs": ("natural_exp_decay", (0.5, 6, 0.5, True)),
    "inverse_time": ("inverse_time_decay", (0.5, 6, 0.5)),
    "inverse_time stairs": ("inverse_time_decay", (0.5, 6, 0.5, True)),
    "polynomial": ("polynomial_decay", (0.5, 7, 0.01, 2.0)),
    "polynomial cycle": ("polynomial_decay", (0.5, 7, 0.01, 2.0, True)),
    "cosine": ("cosine_decay", (0.5, 4, 6)),
    "noam": ("noam_decay", (64, 5, 2.0)),
    "warmup": ("linear_lr_warmup", (0.5, 8, 0.1, 0.4)),
}
RUNS = 20

# Rates that go from epoch to epoch: classes of paddle.optimizer.lr with fluid's names and arguments.
BY_EPOCH: dict[str, tuple[str, tuple[Any, ...]]] = {
    "step": ("StepDecay", (0.5, 3, 0.7)),
    "multi step": ("MultiStepDecay", (0.5, [2, 5, 11], 0.7)),
    "lambda": ("LambdaDecay", (0.5, lambda epoch: 0.9**epoch)),
}

# Losses of the epochs, and how ReduceOnPlateau of Paddle 2, ReduceLROnPlateau in fluid, takes them.
LOSSES = [
    3.0,
    2.0,
    2.1,
    2.05,
    2.0,
    1.9,
    1.95,
    1.89,
    1.9,
    1.9,
    1.9,
    1.7,
    1.8,
    1.8,
    1.8,
    1.8,
    1.8,
    1.8,
    1.8,
    1.8,
]
PLATEAUS: dict[str, dict[str, Any]] = {
    "plain": {"patience": 1},
    "patient": {"patience": 3, "cooldown": 2},
    "by share": {"patience": 0, "threshold": 0.05, "min_lr": 0.2},
    "by number": {"patience": 1, "threshold": 0.12, "threshold_mode": "abs", "cooldown": 1},
    "rising": {"patience": 2, "mode": "max"},
}

# Optimizers by the names of their classes in paddle.optimizer, which call the kernels of before 2.0.
OPTIMIZERS: dict[str, tuple[str, dict[str, Any]]] = {
    "sgd": ("SGD", {}),
    "momentum": ("Momentum", {"momentum": 0.8}),
    "momentum nesterov": ("Momentum", {"momentum": 0.8, "use_nesterov": True}),
    "adam": ("Adam", {"beta1": 0.8, "beta2": 0.95, "epsilon": 1e-4}),
    "adamax": ("Adamax", {"beta1": 0.8, "beta2": 0.95, "epsilon": 1e-4}),
    "adagrad": ("Adagrad", {"epsilon": 1e-4, "initial_accumulator_value": 0.1}),
    "adadelta": ("Adadelta", {"epsilon": 1e-4, "rho": 0.9}),
    "rmsprop": ("RMSProp", {"rho": 0.9, "epsilon": 1e-4, "momentum": 0.5}),
    "rmsprop centered": ("RMSProp", {"rho": 0.9, "epsilon": 1e-4, "momentum": 0.5, "centered": True}),
    "lamb": ("Lamb", {"lamb_weight_decay": 0.05, "beta1": 0.8, "beta2": 0.95, "epsilon": 1e-4}),
}
UPDATED = (f(3, 2), f(3, 2), f(3, 2), f(3, 2))  # a parameter and the gradients of its steps
