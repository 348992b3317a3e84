"""Which functions are called, and what each of their parameters is: see kinds.py for the words.

A parameter that a row does not name is drawn by its name (``BY_NAME``) or its default. The signatures are
those of Paddle 2.6.2 (tests/oracle/recorded/public_signatures.json).
"""

from __future__ import annotations

from functools import cache
from pathlib import Path


def _words(text: str) -> list[str]:
    return text.split()


# Parameters by their names, where a row says nothing else.
BY_NAME = {
    "x": "any",
    "input": "any",
    "arr": "any",
    "inputs": "several:same",
    "y": "like",
    "other": "like",
    "axis": "axis",
    "dim": "axis",
    "dtype": "dtype",
    "shape": "shape",
    "repeat_times": "ints:r:1:3",
    "data_format": "one:NCHW|NHWC",
    "reduction": "one:mean|sum|none|mean|sum|none|avg",
    "norm": "one:backward|ortho|forward",
    "n": "int:1:6",
    "axes": "axes",
    "s": "ints:2:1:5",
    "epsilon": "real:0:0.1",
    "training": "flag",
    "label": "same",
    "weight": "same",
    "mode": "one:upscale_in_train|downscale_in_infer",
}

_UNARY = (
    "abs acos asin asinh acosh atan atanh ceil cos cosh deg2rad digamma erf erfinv exp expm1 floor "
    "frac i0 i0e i1 i1e isfinite isinf isnan lgamma log log10 log1p log2 rad2deg reciprocal round "
    "rsqrt sgn sign sin sinh sqrt square tan tanh neg angle conj numel is_complex is_empty "
    "is_floating_point is_integer is_tensor rank shape assign clone tolist sigmoid dim ndimension "
    "element_size detach cpu is_contiguous contiguous zero inverse trunc "
)
_BITS = "bitwise_and bitwise_or bitwise_xor bitwise_not gcd lcm"
_ACTIVATIONS = (
    "celu elu gelu hardshrink hardsigmoid hardswish hardtanh leaky_relu log_sigmoid mish relu relu6 "
    "selu sigmoid silu softplus softshrink softsign swish tanh tanhshrink thresholded_relu "
)

_ROWS = Path(__file__).with_suffix(".txt")
_OPERATORS = "add sub mul truediv floordiv mod pow lt le eq ne gt ge and_ or_ xor"
_OPERATORS_OF_ONE = "neg invert abs pos"
OPERATORS = [
    f"operator.{name}" for name in _words(f"{_OPERATORS} {_OPERATORS_OF_ONE} matmul getitem setitem")
]


@cache
def rows() -> dict[str, dict[str, str]]:
    """The rows by function: what its parameters are."""
    found: dict[str, dict[str, str]] = {}
    for name in _words(_UNARY):
        found[name] = {"x": "float"}
    for name in _words(_BITS):
        found[name] = {"x": "whole", **({} if name == "bitwise_not" else {"y": "like:int"})}
    for name in _words(_ACTIVATIONS):
        found[f"F.{name}"] = {"x": "float"}
    for name in _words(_OPERATORS):
        whole = name in ("and_", "or_", "xor")
        found[f"operator.{name}"] = {
            "x": "whole" if whole else "any",
            "y": "like:int" if whole else "operand",
        }
    for name in _words(_OPERATORS_OF_ONE):
        found[f"operator.{name}"] = {"x": "any"}
    lines = _ROWS.read_text(encoding="utf-8").splitlines()
    for line in lines:
        if not line or line.startswith("#"):
            continue
        name, _, parameters = line.partition(": ")
        found[name] = dict(part.split("=", 1) for part in parameters.split(" "))
    found["operator.matmul"] = {"x": found["matmul"]["x"], "y": found["matmul"]["y"]}
    for name in ("segment_sum", "segment_mean", "segment_min", "segment_max"):
        found[f"geometric.{name}"] = found[f"incubate.{name}"] = found["segments"]
    return found


# Modules whose functions are called, and the prefix of their rows.
MODULES = {
    "paddle": "",
    "paddle.linalg": "linalg.",
    "paddle.nn.functional": "F.",
    "paddle.fft": "fft.",
    "paddle.signal": "signal.",
    "paddle.geometric": "geometric.",
    "paddle.incubate": "incubate.",
    "paddle.incubate.nn.functional": "incubate.nn.functional.",
    "paddle.vision.ops": "vision.ops.",
    "paddle.audio.functional": "audio.functional.",
    "paddle.text": "text.",
    "paddle.metric": "metric.",
    "paddle.Tensor": "",
}

_STATE = "changes or reads the state of the process"
_FILE = "reads or writes files"
_OBJECT = "takes a layer, a function or another object"
_HARDWARE = "needs a GPU"
_HANDLE = "of a Tensor's own storage or graph, no values"
_BUILT = "needs arguments that fit together in ways no row describes"
SKIPPED = {
    **dict.fromkeys(
        _words(
            "disable_signal_handler disable_static enable_static enable_grad no_grad get_default_dtype "
            "get_flags set_flags set_default_dtype set_grad_enabled set_printoptions seed in_dynamic_mode "
            "is_grad_enabled get_rng_state set_rng_state "
        ),
        _STATE,
    ),
    **dict.fromkeys(_words("load save vision.ops.read_file vision.ops.decode_jpeg"), _FILE),
    **dict.fromkeys(
        _words(
            "batch flops summary grad check_shape create_parameter register_hook create_tensor "
            "reconstruct_from_ set_value coalesce is_same_shape crows cols indices values nnz value "
            "get_tensor top_p_sampling "
        ),
        _OBJECT,
    ),
    **dict.fromkeys(
        _words(
            "get_cuda_rng_state set_cuda_rng_state cuda pin_memory F.sparse_attention "
            "incubate.nn.functional.masked_multihead_attention "
            "incubate.nn.functional.block_multihead_attention "
            "incubate.nn.functional.variable_length_memory_efficient_attention "
            "incubate.nn.functional.fused_multi_transformer incubate.nn.functional.fused_feedforward "
            "incubate.nn.functional.fused_multi_head_attention incubate.nn.functional.fused_ec_moe "
            "incubate.nn.functional.fused_layer_norm incubate.nn.functional.fused_rms_norm "
            "incubate.nn.functional.fused_rotary_position_embedding "
            "incubate.nn.functional.fused_bias_dropout_residual_layer_norm "
        ),
        _HARDWARE,
    ),
    **dict.fromkeys(
        _words(
            "backward clear_grad clear_gradient data_ptr gradient retain_grads detach_ get_strides is_dense "
            "is_dist is_sparse is_sparse_coo is_sparse_csr to_dense numpy to "
        ),
        _HANDLE,
    ),
    **dict.fromkeys(
        _words(
            "geometric.reindex_graph geometric.reindex_heter_graph geometric.sample_neighbors "
            "geometric.weighted_sample_neighbors incubate.graph_khop_sampler incubate.graph_reindex "
            "incubate.graph_sample_neighbors linalg.lu_unpack vision.ops.distribute_fpn_proposals "
            "vision.ops.generate_proposals vision.ops.matrix_nms vision.ops.yolo_loss "
        ),
        _BUILT,
    ),
}

# Of these only shape and dtype are compared: they draw, or Paddle's answer is one of several.
WITHOUT_VALUES = {
    **dict.fromkeys(
        _words(
            "rand randn randint randint_like randperm normal standard_normal uniform bernoulli poisson "
            "multinomial normal_ uniform_ cauchy_ exponential_ geometric_ F.gumbel_softmax "
            "F.class_center_sample F.dropout F.dropout2d F.dropout3d F.alpha_dropout F.rrelu "
            "linalg.pca_lowrank pca_lowrank "
        ),
        "draws random numbers",
    ),
    **dict.fromkeys(_words("empty empty_like"), "what was in memory"),
    **dict.fromkeys(
        _words(
            "linalg.eig eig linalg.eigh linalg.svd linalg.qr qr linalg.lstsq lstsq linalg.eigvals eigvals "
            "lu linalg.lu"
        ),
        "the order and the signs of vectors are not unique",
    ),
}
