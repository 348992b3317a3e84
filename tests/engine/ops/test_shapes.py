"""Which shapes the rows of each operator cover: no dimension at all, a dimension of size 0, broadcasting.

An operator for which one of them has no meaning is listed here with the reason; the lists only shrink.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from engine.core.errors import EngineError
from engine.core.operators import traits
from engine.core.operators.opdef import OPS
from engine.core.values.dtype import from_numpy
from engine.core.values.spec import Spec
from tests.engine.ops.table import CASES


def _named(reason: str, names: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), reason)


_ALONG = "works along a dimension: a tensor without any is refused"
_WINDOWS = "windows move over the dimensions of an image or sequence"
_MAKES = "makes a tensor of a given shape, from no tensor"
_DRAWS = "draws numbers, in a shape that it is given"
_UPDATES = "changes parameters elementwise, whose shapes its inputs share"
_POSITIONS = "reads lists of positions, nodes or steps, of which there is at least one"
_BATCH = "statistics of a batch: one without elements has none"

# Operators whose inference refuses tensors without dimensions need not be listed here.
WITHOUT_SCALAR = {
    **_named(
        _ALONG,
        """
        accuracy concat dynamic_gru dynamic_lstm gumbel_softmax kept_mean mode pick_class
        put_along_axis_zeros repeat_interleave
        repeat_interleave_with_tensor_index roll shard_index spectral_norm spectral_norm_vectors tensor_unfold
        tile_like unique unique_consecutive unstack
    """,
    ),
    **_named(
        _WINDOWS,
        """
        max_pool2d_pick max_pool3d_pick grid_positions grid_slopes roi_pool_pick yolov3_loss_weights
    """,
    ),
    **_named(_MAKES, "tril_indices triu_indices range assign_value"),
    **_named(
        _DRAWS,
        """
        uniform_random gaussian_random randint randperm uniform_random_inplace exponential bernoulli poisson
        rrelu truncated_gaussian_random
    """,
    ),
    **_named(_UPDATES, "momentum adam adamw average_accumulates lookahead update_loss_scaling"),
    **_named(
        _POSITIONS,
        """
        sparse_add_at sparse_conv3d_kernel sparse_csr_indices sparse_pairs sparse_slice_indices graph_reindex
        graph_sample_neighbors
    """,
    ),
}

WITHOUT_EMPTY = {
    **_named(_MAKES, "tril_indices triu_indices range assign_value fill_constant range_of"),
    **_named(
        _DRAWS,
        """
        uniform_random gaussian_random randint randperm gaussian_inplace exponential bernoulli poisson
        multinomial top_p_sampling truncated_gaussian_random
    """,
    ),
    **_named(
        _UPDATES,
        """
        sgd momentum adam adamw rmsprop adadelta adamax lamb average_accumulates lookahead
        check_finite_and_unscale update_loss_scaling sgd_flat momentum_flat adam_flat adamw_flat adagrad_flat
        rmsprop_flat adadelta_flat adamax_flat
    """,
    ),
    **_named(
        "sparse tensors without values: tests/engine/sparse/test_tensors.py",
        """
        sparse_add_at sparse_conv3d sparse_conv3d_kernel sparse_crows sparse_csr_indices sparse_dense_matmul
        sparse_groups sparse_mask sparse_max_rows sparse_order sparse_pairs sparse_reshape_indices
        sparse_rulebook sparse_sampled_matmul sparse_slice_indices sparse_union
    """,
    ),
    **_named(_POSITIONS, "graph_reindex graph_sample_neighbors viterbi_decode linspace_of"),
    **_named(
        "tests of the layer have these",
        """
        beam_search beam_search_decode dynamic_gru dynamic_lstm largest_steps pad_sequences sample_logits
        tolerable_log unpad_sequences
    """,
    ),
    **_named(
        _WINDOWS,
        """
        depthwise_conv2d conv2d_transpose depthwise_conv2d_transpose conv3d_transpose pool3d max_pool2d_pick
        depthwise_conv2d_integer conv2d_transpose_integer depthwise_conv2d_transpose_integer
        max_pool3d_pick max_pool3d_with_index unpool unpool3d tensor_unfold as_strided fold unfold affine_grid
        grid_sampler grid_positions grid_slopes sample_points linear_interp_v2 bilinear_interp_v2
        bicubic_interp_v2 trilinear_interp_v2 pixel_unshuffle channel_shuffle temporal_shift
    """,
    ),
    **_named(
        "a matrix without elements is solved by no one",
        """
        solve triangular_solve slogdeterminant pinv lu
    """,
    ),
    **_named(
        _BATCH,
        """
        batch_norm fused_batch_norm_relu sync_batch_norm instance_norm spectral_norm spectral_norm_vectors
        accuracy kept_mean mean_cross_entropy quantile reduce_count warprnnt
        fake_channel_wise_quantize_dequantize_abs_max
    """,
    ),
    **_named(
        "the same as the operator without tensors of sizes, which has such rows",
        """
        reshape2_dims expand_v2_dims tile_dims tile_like
    """,
    ),
    **_named(
        "part of the gradient of an operator that has such rows",
        """
        put_along_axis_zeros reduce_expand logcumsumexp_jvp
    """,
    ),
    **_named(
        "without images or boxes: tests/engine/vision/test_ops.py",
        """
        box_coder deform_points distribute_fpn_proposals generate_proposals_v2 matrix_nms multiclass_nms3
        prior_box psroi_pool roi_align roi_pool roi_pool_pick yolo_box yolov3_loss yolov3_loss_weights
    """,
    ),
    **_named(
        "its input can't be empty",
        """
        fill_diagonal_tensor view_dtype unique_consecutive write_to_array assign_into integer_factor
    """,
    ),
}


def _arrays(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        for v in value:
            yield from _arrays(v)
    elif value is not None:
        yield value


@cache
def _shapes() -> dict[str, set[tuple[tuple[int, ...], ...]]]:
    """For each operator that is not a gradient, the shapes of the inputs of its rows."""
    found: dict[str, set[tuple[tuple[int, ...], ...]]] = {}
    for case in CASES:
        if not case.op.endswith("_grad"):
            shapes = tuple(a.shape for value in case.sample.inputs for a in _arrays(value))
            found.setdefault(case.op, set()).add(shapes)
    return found


def _lacking(wanted: Any) -> set[str]:
    return {op for op, rows in _shapes().items() if not any(wanted(shape) for row in rows for shape in row)}


def _scalar(value: Any) -> Any:
    if isinstance(value, list):
        return [_scalar(v) for v in value]
    return None if value is None else Spec((), from_numpy(value.dtype))


def _refuses_scalars(op: str) -> bool:
    sample = next(case.sample for case in CASES if case.op == op)
    try:
        OPS[op].infer_specs([_scalar(v) for v in sample.inputs], OPS[op].with_defaults(sample.attrs))
    except EngineError:
        return True
    except Exception:  # the public function is in front of it
        return False
    return False


def test_rows_without_dimensions() -> None:
    lacking = {op for op in _lacking(lambda shape: shape == ()) if not _refuses_scalars(op)}
    assert lacking == set(WITHOUT_SCALAR)


def test_rows_without_elements() -> None:
    assert _lacking(lambda shape: 0 in shape) == set(WITHOUT_EMPTY)


def test_rows_that_broadcast() -> None:
    """An operator that broadcasts its inputs does so in a row."""
    several = {op for op, opdef in OPS.items() if opdef in traits.broadcasts and len(opdef.input_names) > 1}
    mixed = {op for op, rows in _shapes().items() if any(len(set(row)) > 1 for row in rows)}
    assert several & set(_shapes()) - mixed == set()
