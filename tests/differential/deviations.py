"""Differences that are meant, each with its reason: by the function, the mode and what differs.

``python -m docs.paddle_scripts`` writes them into the guide.
"""

from __future__ import annotations

from typing import Any

from tests.differential.comparing import HERE, NO_KERNEL, THERE, Outcome
from tests.differential.deviation import EMPTY, Deviation
from tests.differential.deviations_refused import REFUSED
from tests.differential.deviations_static import STATIC

_ODD = '"v": "special"'
_GRADIENT = "^gradient|stop_gradient|structure"

DEVIATIONS = (
    Deviation(
        "Paddle's kernel refuses an empty tensor",
        category=THERE,
        detail="holds no memory|meta data must be valid|holder_ should not be null|PreconditionNotMet.*numel",
    ),
    Deviation(
        "a number or an array stands for a Tensor",
        category=THERE,
        detail=r"must be Tensor, but got|must be <class '[a-z.]*Variable'>|must be \[?Variable",
    ),
    Deviation("Paddle gives empty tensors no gradient", category="^gradient|stop_gradient", arguments=EMPTY),
    Deviation(
        "Paddle reads other memory where a tensor is empty", category="value|not finite", arguments=EMPTY
    ),
    Deviation(
        "Paddle loses the shape of an empty tensor",
        name="cdist|segment_|reshape|diff|strided_slice",
        category="shape",
        arguments=EMPTY,
    ),
    Deviation(
        "NaN and infinity go through as in NumPy; in Paddle that depends on the kernel",
        category="not finite|value",
        arguments=_ODD,
    ),
    Deviation("beyond -1 and 1 erfinv is NaN; Paddle gives infinity", name="erfinv", category="not finite"),
    Deviation(
        "digamma is infinite at 0 and NaN below; Paddle gives NaN",
        name="digamma|lgamma",
        category="not finite",
    ),
    Deviation(
        "a window of padding alone has the lowest value; Paddle gives that of float32",
        name="max_pool",
        category="not finite",
    ),
    Deviation(
        "Paddle casts a number to bool next to a tensor of bool", name=r"operator\.", arguments='"d": "bool"'
    ),
    Deviation(
        "Paddle's divide and pow cut integers off",
        name=r"\.(divide|pow|cov)_?$",
        category="^dtype|refused only here",
    ),
    Deviation(
        "an in-place change keeps the dtype; Paddle reads other memory",
        name="_$",
        category=f"{HERE}|dtype",
        detail="keeps the dtype|!=",
    ),
    Deviation("Paddle's nanmedian of integers is cut off", name="nanmedian", category="dtype"),
    Deviation("Paddle's ldexp loses the imaginary part", name="ldexp", category="dtype"),
    Deviation("Paddle has no gradient of the remainder", name="mod_?$|remainder", category=_GRADIENT),
    Deviation(
        "Paddle gives indices and truth values a gradient",
        name="argsort|(equal|than|and|or|not)_$",
        category=_GRADIENT,
    ),
    Deviation(
        "Paddle gives indices and truth values a gradient",
        name="topk|kthvalue|cummax|cummin|mode$|frexp|lu$|max_pool",
        category="stop_gradient",
        detail=r"False\] != \[False, True",
    ),
    Deviation("Paddle has no gradient of least squares", name="lstsq", category=_GRADIENT),
    Deviation(
        "Paddle refuses the gradient",
        category="gradient refused",
        detail=r"^\{'raises': \['(NotImplementedError|RuntimeError|SystemError|ValueError)'",
    ),
    Deviation(
        "of two columns the gradient is rounding",
        name="corrcoef",
        category="^gradient: value",
        arguments=r'"t": \[\d+, 2\]',
    ),
    Deviation("a rounded result has no gradient; Paddle's is zero", name="floor_divide", category=_GRADIENT),
    Deviation(
        "Paddle has no gradient of labels and statistics",
        name="kl_div|log_loss|label_smooth|gaussian_nll|_norm|smooth_l1|diagonal_scatter|bincount|nll_loss",
        category="gradient missing",
    ),
    Deviation(
        "Paddle cuts results of several tensors off the graph",
        name="atleast_.d|vander|diag_embed",
        category=_GRADIENT,
    ),
    Deviation(
        "Paddle has no gradient of the diagonal's values", name="fill_diagonal_tensor", category=_GRADIENT
    ),
    Deviation("Paddle has no gradient of the mask", name="softmax_mask_fuse", category=_GRADIENT),
    Deviation("boxes are chosen, their scores have no gradient", name="vision.ops.nms", category=_GRADIENT),
    Deviation(
        "at kinks and between equal elements another gradient is taken",
        name="quantile|median|i0e|logaddexp|renorm|deform_conv2d|maxout|frexp|cond$",
        category="^gradient: value",
    ),
    Deviation(
        "Paddle's gradient reads other memory",
        name=r"\.(amin|amax|mode|cummax|cummin)$",
        category="^gradient: ",
    ),
    Deviation(
        "Paddle's gradient of overlapping slices is wrong",
        name="trapezoid|diff$|unfold|as_strided",
        category="^gradient: value",
    ),
    Deviation(
        "Paddle's gradient of eigenvalues follows the triangle that LAPACK overwrote",
        name="eigvalsh",
        category="^gradient: value",
    ),
    Deviation(
        "the returned softmax has no gradient in Paddle",
        name="softmax_with_cross_entropy",
        category="^gradient: value",
    ),
    Deviation(
        "Paddle's strided views read freed memory", name="as_strided", category="value|refused only here"
    ),
    Deviation(
        "clip without bounds changes nothing; Paddle's bounds are cast to the dtype",
        name="clip",
        category="value|not finite",
    ),
    Deviation(
        "Paddle does not write the result with a dtype into its argument",
        name="softmax_$",
        category="value|stop_gradient|dtype",
    ),
    Deviation(
        "Paddle repeats prepend and append in each difference",
        name="diff$",
        category="shape",
        arguments=r'\["t"|"t"',
    ),
    Deviation(
        "Paddle swaps the sides where y has more dimensions", name="heaviside|nextafter", category="value"
    ),
    Deviation("Paddle fills along the first axis in place", name="index_fill_", category="value"),
    Deviation("sorted=False leaves the order open", name="topk", category="value", arguments="false"),
    Deviation(
        "use_input_stats=False takes the running statistics; Paddle's kernel ignores it",
        name="instance_norm",
        category="value|refused only here",
        arguments="false",
    ),
    Deviation("a matrix that is not symmetric, or singular", name="pinv", category="value|not finite"),
    Deviation(
        "the inverse of a singular matrix is rounding",
        name="inv(erse)?_?$",
        category="value",
        detail=r"\d{7}\.0",
    ),
    Deviation(
        "Paddle's operators of integers and floats take the dtype of the left",
        name=r"operator\.(matmul|add|sub|mul)$",
        category="^dtype",
        detail="^u?int",
    ),
    Deviation(
        "Paddle takes the own class off without its weight squared",
        name="multi_margin_loss",
        category="value|shape",
    ),
    Deviation(
        "0 next to 3 is not a dimension of 3; Paddle gives -1", name="broadcast_shape", category="value"
    ),
    Deviation("the condition is bool", name="where", category=HERE, detail="condition must be bool"),
    Deviation("Paddle's Program loses keepdim", name="kthvalue", mode="static", category="shape"),
    Deviation("Paddle's Program gives no residuals", name="lstsq", mode="static", category="shape"),
    Deviation("Paddle pads unknown sizes by the wrong number", name="fft", mode="static", category="shape"),
    Deviation(
        "a matrix of one number is a matrix; Paddle takes it for a number", name="inner", category="shape"
    ),
    Deviation(
        "Paddle keeps a dimension of a tensor that has none",
        name=r"nanmean|argm|lerp_|pow|operator\.(eq|ne|lt|le|gt|ge)",
        category="shape",
    ),
    Deviation("an end before the start selects nothing", name="getitem", category="shape"),
    Deviation("Paddle declares another dtype than its kernel gives", category="declared dtype"),
    Deviation(
        "indices and labels are integers; Paddle reads the bytes of others",
        category=HERE,
        detail="must be int32 or int64|class numbers|labels? (is|are|must)",
    ),
    Deviation(
        "an index out of range is refused; Paddle reads other memory",
        category=HERE,
        detail="out of range|is not (a class|one) of|out of bounds for axis [0-9] with",
    ),
    Deviation(
        "a reduction that is not known is refused; Paddle gives None", category=HERE, detail="reduction"
    ),
    Deviation(
        "Paddle weighs half of the loss of label 1",
        name="binary_cross_entropy_with_logits",
        category="value",
        arguments=r'"pos_weight"|"(none|mean|sum)"}, {"t"',
    ),
    Deviation(
        "indices and labels are integers; Paddle reads the bytes of others",
        name="take_along_axis|put_along_axis|gather$",
        category="value|not finite",
        arguments=r'^\[\[{[^}]*}, {[^}]*"u?int(8|16)"|"indices": {[^}]*"u?int(8|16)"',
    ),
    Deviation("Paddle's flatten in place frees the memory that it reads", name="flatten_", category="value"),
    Deviation("weights of float64 are not rounded", name="interpolate", category="value", detail="^float64"),
    Deviation(
        "attributes are not rounded to float32", name="hardsigmoid", category="value", detail="^float64"
    ),
    Deviation(
        "Paddle reads values of another dtype by their bytes", name="diagonal_scatter", category="value"
    ),
    Deviation("Paddle takes the diagonal of the other side", name=r"\.trace", category="value"),
    Deviation("Paddle fills the diagonal of the wrong axes", name="fill_diagonal_tensor", category="value"),
    Deviation(
        "Paddle ignores d where n is a tensor", name="fftfreq", category="value", arguments='"n": .*"d":'
    ),
    Deviation("no counts are integers of 64 bits, as all counts", name="bincount", category="dtype"),
    Deviation(
        "Paddle keeps the shape of labels next to broadcast priors", name="label_smooth", category="shape"
    ),
    Deviation("the gradient of a sparse embedding is dense", name="embedding", category="^gradient: shape"),
    Deviation(
        "Paddle ignores the activation of scale in place; that of complex values has no meaning",
        name="scale",
        category="value",
        arguments='"(relu|leaky_relu|tanh|sigmoid|softmax)"',
    ),
    Deviation(
        "a zero leaves the other factors their gradient; Paddle divides by it",
        name="prod",
        category="^gradient: not finite",
    ),
    Deviation(
        "the gradient has the precision of the dtype",
        name="logcumsumexp",
        category="^gradient: value",
        arguments='"float32"',
    ),
    Deviation("labels take the dtype of the input", name="margin_ranking_loss", category="^dtype"),
    Deviation(
        "the reciprocal of -0 is minus infinity",
        name="pow|sqrt",
        category="not finite",
        detail=r"\[-?inf.*\] != \[-?inf",
    ),
    Deviation(
        "complex values divided by zero are infinite in some part",
        name="divide",
        category="not finite",
        detail="^complex",
    ),
    Deviation(
        "Paddle's gradient of products of complex values lacks the conjugate",
        name="cumprod",
        category="^gradient: value",
        arguments="complex",
    ),
    Deviation(
        "the gradient of batch_norm is that of the statistics it used; Paddle's takes the batch's",
        name="batch_norm",
        category="^gradient: value",
        arguments='"use_global_stats": {"v": false}|false}\\]',
    ),
    Deviation(
        "the gradient goes through the limit of the norm too",
        name="normalize",
        category="^gradient: value",
        arguments="epsilon",
    ),
    Deviation(
        "numbers that the dtype does not hold are refused; Paddle cuts them",
        category=HERE,
        detail="does not fit the other operand|uint8 holds integers|int8 holds",
    ),
    Deviation(
        "tensors of several dtypes are refused; Paddle casts or reads other memory",
        category=HERE,
        detail="inputs have different dtypes",
    ),
    Deviation(
        "arguments that no parameter takes are refused; Paddle ignores them",
        category=HERE,
        detail="unexpected keyword|'out' must be a Tensor|the other operand is str",
    ),
    Deviation("gcd of fractions is not defined", category=HERE, detail="must hold integers"),
    Deviation("perm names all dimensions", category=HERE, detail="is not a permutation of the"),
    Deviation(
        "a window larger than the padded image is refused",
        name="pool",
        category=HERE,
        detail="smaller than the window|padding must not be negative",
    ),
    Deviation("a probability is at most 1", category=HERE, detail="probs must be between 0 and 1"),
    Deviation("a rate of 0 has no distribution", category=HERE, detail="lam is the rate, above 0"),
    Deviation(
        "Paddle does not know its own dtypes as NumPy's",
        category="class",
        detail="Cannot interpret '<VarType",
    ),
    Deviation("NaN has no singular values", category=HERE, detail="contains NaN or infinity"),
    Deviation("a leaf whose value backward needs is not changed", name="increment", category=HERE),
    Deviation("fill_diagonal_ wants equal dimensions, as documented", name="fill_diagonal_", category=HERE),
)


def reason_of(call: dict[str, Any], mode: str, outcome: Outcome) -> str:
    """Why a call differs on purpose; empty where it should not."""
    for each in (*DEVIATIONS, *REFUSED, *STATIC):
        if each.holds(call, mode, outcome):
            return each.reason
    if outcome.category == THERE and NO_KERNEL.search(outcome.detail.partition("  HERE:")[0]):
        return "Paddle's CPU has no kernel for it"
    return ""
