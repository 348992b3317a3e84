"""OpDescs of products that are written with several operators here: einsum, kron, fused attention."""

from __future__ import annotations

from typing import Any

from engine.core.errors import FormatError
from engine.program.graph.program import Variable
from engine.program.saved.paddle.array_rows import reshaped, sizes_of
from engine.program.saved.paddle.reading import Step
from engine.program.saved.paddle.rows import reads

_SPARE = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LOW = -1e9


@reads("einsum")
def _(step: Step) -> None:
    xs = step.many("Operands")
    terms, out = _terms(step.attr("equation", ""), xs)
    x, labels = xs[0], terms[0]
    for n, (other, more) in enumerate(zip(xs[1:], terms[1:], strict=True), 1):
        needed = set(out).union(*terms[n + 1 :])
        x, labels = _product(step, x, labels, other, more, needed)
    x, labels = _summed(step, x, labels, set(out))
    step.give("Out", step.run("transpose2", x, axis=[labels.index(label) for label in out]))


def _terms(equation: str, xs: list[Variable]) -> tuple[list[str], str]:
    """The labels of each operand and of the result, with letters for an ellipsis."""
    left, arrow, out = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(xs) or not xs:
        raise FormatError(f"equation {equation!r:.80} for {len(xs)} operands")
    spare = "".join(c for c in _SPARE if c not in equation)
    hidden = (
        max(x.ndim - len(t.replace("...", "")) for t, x in zip(terms, xs, strict=True))
        if "..." in left
        else 0
    )
    full = []
    for term, x in zip(terms, xs, strict=True):
        own = x.ndim - len(term.replace("...", ""))
        if own < 0 or (own and "..." not in term) or own > len(spare):
            raise FormatError(f"equation {equation!r:.80} does not fit {x.spec}")
        full.append(term.replace("...", spare[hidden - own : hidden]))
    if not arrow:
        once = sorted(c for c in set("".join(terms)) - {"."} if left.count(c) == 1)
        out = ("..." if "..." in left else "") + "".join(once)
    out = out.replace("...", spare[:hidden])
    if any(len(set(term)) != len(term) for term in (*full, out)) or set(out) - set("".join(full)):
        raise FormatError(f"equation {equation!r:.80} is not supported")
    return full, out


def _summed(step: Step, x: Variable, labels: str, needed: set[str]) -> tuple[Any, str]:
    """x without the dimensions that nothing needs any more."""
    axes = [n for n, label in enumerate(labels) if label not in needed]
    if not axes:
        return x, labels
    return step.run("reduce_sum", x, axis=axes), "".join(label for label in labels if label in needed)


def _product(step: Step, x: Variable, of_x: str, y: Variable, of_y: str, needed: set[str]) -> tuple[Any, str]:
    """The product of two operands, as one of matrices with the shared dimensions in front."""
    x, of_x = _summed(step, x, of_x, needed | set(of_y))
    y, of_y = _summed(step, y, of_y, needed | set(of_x))
    batch = "".join(label for label in of_x if label in of_y and label in needed)
    inner = "".join(label for label in of_x if label in of_y and label not in needed)
    rows = "".join(label for label in of_x if label not in of_y)
    columns = "".join(label for label in of_y if label not in of_x)
    sizes = dict(zip(of_x, sizes_of(step, x), strict=True)) | dict(zip(of_y, sizes_of(step, y), strict=True))
    left = _matrices(step, x, of_x, batch, rows, inner)
    right = _matrices(step, y, of_y, batch, inner, columns)
    found = step.run("matmul_v2", left, right)
    if len(rows) != 1 or len(columns) != 1:
        found = reshaped(step, found, [sizes[label] for label in batch + rows + columns])
    return found, batch + rows + columns


def _matrices(step: Step, x: Variable, labels: str, batch: str, rows: str, columns: str) -> Any:
    """x as matrices: its dimensions in this order, those of rows and of columns joined."""
    order = batch + rows + columns
    found = step.run("transpose2", x, axis=[labels.index(label) for label in order]) if order != labels else x
    for place, group in ((len(batch) + len(rows), columns), (len(batch), rows)):  # from behind
        if not group:
            found = step.run("unsqueeze2", found, axes=[place])
        elif len(group) > 1:
            found = step.run(
                "flatten_contiguous_range", found, start_axis=place, stop_axis=place + len(group) - 1
            )
    return found


@reads("kron")
def _(step: Step) -> None:
    x, y = step.need("X"), step.need("Y")
    rank = max(x.ndim, y.ndim)
    for _ in range(rank - x.ndim):
        x = step.run("unsqueeze2", x, axes=[0])
    for _ in range(rank - y.ndim):
        y = step.run("unsqueeze2", y, axes=[0])
    x = step.run("unsqueeze2", x, axes=list(range(1, 2 * rank, 2)))
    y = step.run("unsqueeze2", y, axes=list(range(0, 2 * rank, 2)))
    found = step.run("elementwise_mul", x, y)
    for axis in range(rank):
        found = step.run("flatten_contiguous_range", found, start_axis=axis, stop_axis=axis + 1)
    step.give("Out", found)


@reads("flash_attn", "memory_efficient_attention")
def _(step: Step) -> None:
    """Attention over queries [batch, length, heads, size], as one product after another."""
    if not step.attr("is_test", True) and step.attr("dropout", step.attr("dropout_p", 0.0)):
        raise FormatError("attention with dropout is not supported; save the model for prediction")
    step.accept("fixed_seed_offset")
    names = ("q", "k", "v") if step.desc.type == "flash_attn" else ("query", "key", "value")
    q, k, v = (step.run("transpose2", step.need(name), axis=[0, 2, 1, 3]) for name in names)
    scale = step.attr("scale", -1.0)
    scale = scale if isinstance(scale, float) and scale > 0 else float(q.shape[-1]) ** -0.5
    scores = step.run("scale", step.run("matmul_v2", q, k, trans_y=True), scale=scale)
    mask = step.one("attn_mask" if step.desc.type == "flash_attn" else "bias")
    if mask is not None:
        scores = step.run("elementwise_add", scores, mask)
    if step.attr("causal", False):
        scores = causal(step, scores)
    found = step.run("matmul_v2", step.run("softmax", scores), v)
    for name in step.unread():
        raise FormatError(f"its input {name} is not supported")
    out = "out" if step.desc.type == "flash_attn" else "output"
    step.give(out, step.run("transpose2", found, axis=[0, 2, 1, 3]))


def causal(step: Step, scores: Variable) -> Any:
    """Scores of queries for keys that come after them become very low."""
    after = step.run("tril_triu", step.run("fill_any_like", scores, value=1.0), diagonal=1, lower=False)
    return step.run("elementwise_add", scores, step.run("scale", after, scale=_LOW))


@reads("fused_softmax_mask")
def _(step: Step) -> None:
    scores = step.run("elementwise_add", step.need("X"), step.need("Mask"))
    step.give("Out", step.run("softmax", scores))


@reads("fused_softmax_mask_upper_triangle")
def _(step: Step) -> None:
    step.give("Out", step.run("softmax", causal(step, step.need("X"))))


@reads("fused_gemm_epilogue")
def _(step: Step) -> None:
    activation = step.attr("activation", "none")
    if activation not in ("none", "relu", "gelu"):
        raise FormatError(f"the activation {activation!r:.40} is not supported")
    trans = {"trans_x": step.attr("trans_x", False), "trans_y": step.attr("trans_y", False)}
    found = step.run("matmul_v2", step.need("X"), step.need("Y"), **trans)
    found = step.run("elementwise_add", found, step.need("Bias"))
    step.give("Out", found if activation == "none" else step.run(activation, found))


@reads("fused_dropout_add")
def _(step: Step) -> None:
    if not step.attr("is_test", False):
        raise FormatError("dropout that is active is not supported; save the model for prediction")
    for slot in ("seed_tensor", "PTensor"):
        step.accept(slot)
    x = step.need("x")
    if step.attr("mode", "upscale_in_train") == "downscale_in_infer":
        x = step.run("scale", x, scale=1 - step.attr("p", 0.5))
    step.give("out", step.run("elementwise_add", x, step.need("y")))


@reads("fused_bias_dropout_residual_layer_norm")
def _(step: Step) -> None:
    if not step.attr("is_test", False) and step.attr("dropout_rate", 0.5):
        raise FormatError("dropout that is active is not supported; save the model for prediction")
    x, bias = step.need("X"), step.one("Bias")
    if bias is not None:
        x = step.run("elementwise_add", x, bias)
    if step.attr("dropout_implementation", "") == "downscale_in_infer":
        x = step.run("scale", x, scale=1 - step.attr("dropout_rate", 0.5))
    x = step.run("elementwise_add", x, step.need("Residual"))
    y, mean, variance = step.run(
        "layer_norm",
        x,
        step.one("LnScale"),
        step.one("LnBias"),
        epsilon=step.attr("ln_epsilon", 1e-5),
        begin_norm_axis=x.ndim - 1,
    )
    step.give("Y", y)
    step.give("BiasDropoutResidualOut", x)
    step.give("LnMean", mean)
    step.give("LnVariance", variance)
