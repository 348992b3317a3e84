"""Functions that make their parameters in the Program that is being built."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError, ShapeError
from engine.fluid.layers.adapting import activated, adapter, layer_function, ones_at
from engine.fluid.layers.nn.at_once import LAYERS, also_at_once, also_in_a_guard
from engine.fluid.renamed.functions import functions, row
from engine.nn import functional
from engine.static import nn as modern
from engine.static.nn.helper import Helper
from engine.tensor import creation, manipulation
from engine.tensor.reductions import reduction

# fmt: off
ROWS = (
    row("fc", modern.fc,
        "input, size: int, num_flatten_dims: int = 1, param_attr=None, bias_attr=None, act=None, "
        "is_test: bool = False, name: str | None = None",
        "``act(sum of input @ weight + bias)``, the input flattened from dimension ``num_flatten_dims`` on.",
        {"x": "input", "weight_attr": "param_attr"}, unused="is_test"),
    row("conv2d", modern.conv2d,
        "input, num_filters: int, filter_size, stride=1, padding=0, dilation=1, groups: int | None = None, "
        "param_attr=None, bias_attr=None, use_cudnn: bool = True, act=None, name: str | None = None, "
        "data_format: str = 'NCHW'",
        "``act(conv2d(input, filter) + bias)``."),
    row("conv3d", modern.conv3d,
        "input, num_filters: int, filter_size, stride=1, padding=0, dilation=1, groups: int | None = None, "
        "param_attr=None, bias_attr=None, use_cudnn: bool = True, act=None, name: str | None = None, "
        "data_format: str = 'NCDHW'",
        "``act(conv3d(input, filter) + bias)``."),
    row("conv2d_transpose", modern.conv2d_transpose,
        "input, num_filters: int, output_size=None, filter_size=None, padding=0, stride=1, dilation=1, "
        "groups: int | None = None, param_attr=None, bias_attr=None, use_cudnn: bool = True, act=None, "
        "name: str | None = None, data_format: str = 'NCHW'",
        "``act(conv2d_transpose(input, filter) + bias)``."),
    row("conv3d_transpose", modern.conv3d_transpose,
        "input, num_filters: int, output_size=None, filter_size=None, padding=0, stride=1, dilation=1, "
        "groups: int | None = None, param_attr=None, bias_attr=None, use_cudnn: bool = True, act=None, "
        "name: str | None = None, data_format: str = 'NCDHW'",
        "``act(conv3d_transpose(input, filter) + bias)``."),
    row("instance_norm", modern.instance_norm,
        "input, epsilon: float = 1e-05, param_attr=None, bias_attr=None, name: str | None = None",
        "Channels of each sample normalized over their elements, then ``* scale + bias``."),
    row("layer_norm", modern.layer_norm,
        "input, scale: bool = True, shift: bool = True, begin_norm_axis: int = 1, epsilon: float = 1e-05, "
        "param_attr=None, bias_attr=None, act=None, name: str | None = None",
        "Samples normalized over the dimensions from ``begin_norm_axis`` on, then ``* scale + bias``."),
    row("group_norm", modern.group_norm,
        "input, groups: int, epsilon: float = 1e-05, param_attr=None, bias_attr=None, act=None, "
        "data_layout: str = 'NCHW', name: str | None = None",
        "Groups of channels of each sample normalized, then ``* scale + bias``."),
    row("data_norm", modern.data_norm,
        "input, act=None, epsilon: float = 1e-05, param_attr=None, data_layout: str = 'NCHW', "
        "in_place: bool = False, name: str | None = None, moving_mean_name: str | None = None, "
        "moving_variance_name: str | None = None, do_model_average_for_mean_and_var: bool = False",
        "Columns normalized by running sums over all batches."),
    row("spectral_norm", modern.spectral_norm,
        "weight, dim: int = 0, power_iters: int = 1, eps: float = 1e-12, name: str | None = None",
        "``weight`` divided by its largest singular value, estimated by power iteration."),
    row("prelu", modern.prelu, "x, mode: str, param_attr=None, name: str | None = None",
        "x where positive, else x times a learned slope: one ('all'), by 'channel' or by 'element'."),
    row("row_conv", modern.row_conv, "input, future_context_size: int, param_attr=None, act=None",
        "The weighted sum of each row of ``input`` [N, length, size] and the rows after it."),
    row("bilinear_tensor_product", modern.bilinear_tensor_product,
        "x, y, size: int, act=None, name: str | None = None, param_attr=None, bias_attr=None",
        "``act(x[n] @ weight[k] @ y[n] + bias[k])``: [N, size]."),
    row("nce", modern.nce,
        "input, label, num_total_classes: int, sample_weight=None, param_attr=None, bias_attr=None, "
        "num_neg_samples: int | None = None, name: str | None = None, sampler: str = 'uniform', "
        "custom_dist=None, seed: int = 0, is_sparse: bool = False",
        "The loss of telling each sample's classes from drawn ones, divided by one more than these: [N, 1]."),
)
# fmt: on
globals().update(
    {
        name: also_at_once(function) if name in LAYERS else also_in_a_guard(function)
        for name, function in functions(ROWS, __name__).items()
    }
)


@also_at_once
@adapter
def embedding(
    input: Any, size: Any, is_sparse: bool = False, is_distributed: bool = False,
    padding_idx: int | None = None, param_attr: Any = None, dtype: Any = "float32",
) -> Any:  # fmt: skip
    """Rows of a table [rows, size]: ids [N, 1] give [N, size]. Raises ShapeError for other ids."""
    if len(input.shape) < 2 or input.shape[-1] != 1:
        raise ShapeError(
            f"layers.embedding: the ids must end in a dimension of 1: got shape {list(input.shape)}; "
            "use fluid.embedding, or unsqueeze them"
        )
    ids = manipulation.squeeze(input, -1)
    return modern.embedding(ids, size, is_sparse, is_distributed, padding_idx, param_attr, dtype)


@also_at_once
@adapter
def batch_norm(
    input: Any, act: Any = None, is_test: bool = False, momentum: float = 0.9, epsilon: float = 1e-05,
    param_attr: Any = None, bias_attr: Any = None, data_layout: str = "NCHW", in_place: bool = False,
    name: str | None = None, moving_mean_name: str | None = None, moving_variance_name: str | None = None,
    do_model_average_for_mean_and_var: bool = False, fuse_with_relu: bool = False,
    use_global_stats: bool = False,
) -> Any:  # fmt: skip
    """Channels normalized over the batch, then ``* scale + bias``."""
    out = modern.batch_norm(
        input, None, is_test, momentum, epsilon, param_attr, bias_attr, data_layout, in_place, name,
        moving_mean_name, moving_variance_name, do_model_average_for_mean_and_var, use_global_stats,
    )  # fmt: skip
    return activated(out, "relu" if fuse_with_relu and act is None else act)


@adapter
def lstm_unit(
    x_t: Any, hidden_t_prev: Any, cell_t_prev: Any, forget_bias: float = 0.0, param_attr: Any = None,
    bias_attr: Any = None, name: str | None = None,
) -> Any:  # fmt: skip
    """One step of an LSTM: the new hidden and cell states [N, size].

    One fc of input and hidden state gives the gates input, forget, output and the candidate, side by side.
    """
    size = int(cell_t_prev.shape[1])
    joined = manipulation.concat([x_t, hidden_t_prev], 1)
    parts = layer_function("fc")(joined, 4 * size, 1, param_attr, bias_attr, None, name=name)
    i, f, o, g = manipulation.split(parts, 4, 1)
    remembered = functional.sigmoid(f + forget_bias) * cell_t_prev
    cell = remembered + functional.sigmoid(i) * functional.tanh(g)
    return functional.sigmoid(o) * functional.tanh(cell), cell


@adapter
def inplace_abn(
    input: Any, act: Any = None, is_test: bool = False, momentum: float = 0.9, epsilon: float = 1e-05,
    param_attr: Any = None, bias_attr: Any = None, data_layout: str = "NCHW", name: str | None = None,
    moving_mean_name: str | None = None, moving_variance_name: str | None = None,
    do_model_average_for_mean_and_var: bool = True, use_global_stats: bool = False, act_alpha: float = 1.0,
) -> Any:  # fmt: skip
    """``batch_norm`` and an activation: None, 'identity', 'leaky_relu' or 'elu' with ``act_alpha``.

    Raises ArgumentError for another one.
    """
    if act not in (None, "identity", "leaky_relu", "elu"):
        raise ArgumentError(
            "inplace_abn only support act as None, 'identity', 'leaky_relu', 'elu' now: got "
            f"{act!r}; use batch_norm"
        )
    out = batch_norm(
        input, None, is_test, momentum, epsilon, param_attr, bias_attr, data_layout, False, name,
        moving_mean_name, moving_variance_name, do_model_average_for_mean_and_var, False, use_global_stats,
    )  # fmt: skip
    return out if act in (None, "identity") else activated(out, {"type": act, "alpha": act_alpha})


@also_in_a_guard
@adapter
def hsigmoid(
    input: Any, label: Any, num_classes: int, param_attr: Any = None, bias_attr: Any = None,
    name: str | None = None, path_table: Any = None, path_code: Any = None, is_custom: bool = False,
    is_sparse: bool = False,
) -> Any:  # fmt: skip
    """The loss of classes as leaves of a binary tree: [N, 1]; see ``nn.functional.hsigmoid_loss``.

    Raises ArgumentError for a tree of one's own (``is_custom``) without its ``path_table`` and ``path_code``.
    """
    if is_custom and (path_table is None or path_code is None):
        raise ArgumentError("hsigmoid: is_custom needs path_table and path_code: got none; give the tree")
    helper, nodes = Helper("hierarchical_sigmoid", name, "layers.hsigmoid"), num_classes - (not is_custom)
    weight = helper.parameter([nodes, int(input.shape[1])], param_attr, input.dtype)
    bias = helper.parameter([nodes, 1], bias_attr, input.dtype, is_bias=True)
    return functional.hsigmoid_loss(input, label, num_classes, weight, bias, path_table, path_code, is_sparse)


@also_in_a_guard
@adapter
def center_loss(
    input: Any, label: Any, num_classes: int, alpha: Any, param_attr: Any, update_center: bool = True
) -> Any:
    """Half the squared distance of each row of ``input`` [N, size] from the centre of its class: [N, 1].

    The centres [num_classes, size] are a parameter without a gradient; with ``update_center`` each run moves
    those of the classes seen by ``alpha`` times the mean difference, over one row more. Wen et al., A
    discriminative feature learning approach for deep face recognition (2016).
    """
    helper = Helper("center_loss", None, "layers.center_loss")
    centers = helper.parameter([num_classes, int(input.shape[1])], param_attr, input.dtype)
    centers.stop_gradient = True
    chosen = ones_at(manipulation.reshape(label, [-1]), num_classes, False)
    apart = input - chosen @ centers
    loss = reduction.sum(apart * apart, 1, keepdim=True) * 0.5
    if update_center:
        sums = manipulation.transpose(chosen, [1, 0]) @ apart.detach()
        counts = manipulation.unsqueeze(reduction.sum(chosen, 0), 1) + 1.0
        creation.assign(centers + sums / counts * alpha, centers)
    return loss
