"""OpDescs of linear algebra and losses that are written with other operators here."""

from __future__ import annotations

from typing import Any

from engine.core.errors import FormatError
from engine.core.operators.opdef import OPS
from engine.program.saved.paddle.generic import give_results, read_generic
from engine.program.saved.paddle.reading import Step
from engine.program.saved.paddle.rows import reads
from engine.program.text.form import Form

_HIGHEST_POWER = 1 << 16


@reads("bilinear_tensor_product")
def _(step: Step) -> None:
    """x [N, I], weight [K, I, J] and y [N, J] give [N, K]."""
    x, y, weight, bias = step.need("X"), step.need("Y"), step.need("Weight"), step.one("Bias")
    products = step.run("matmul_v2", step.run("unsqueeze2", x, axes=[1, 2]), weight)  # [N, K, 1, J]
    found = step.run("matmul_v2", products, step.run("unsqueeze2", y, axes=[1, 3]))  # [N, K, 1, 1]
    found = step.run("squeeze2", found, axes=[2, 3])
    step.give("Out", found if bias is None else step.run("elementwise_add", found, bias))


@reads("eigvalsh")
def _(step: Step) -> None:
    values, _ = step.run("eigh", step.need("X"), UPLO=step.attr("UPLO", "L"))
    step.give("Eigenvalues", values)


@reads("matrix_power")
def _(step: Step) -> None:
    x, power = step.need("X"), step.attr("n", 1)
    if power == 0 or abs(power) > _HIGHEST_POWER:
        raise FormatError(f"the power {power} is not supported")
    square: Any = step.run("inverse", x) if power < 0 else x
    found: Any = None
    rest = abs(power)
    while rest:
        if rest & 1:
            found = square if found is None else step.run("matmul_v2", found, square)
        rest >>= 1
        square = step.run("matmul_v2", square, square) if rest else square
    step.give("Out", step.run("assign", found) if found is x else found)


@reads("matrix_rank")
def _(step: Step) -> None:
    tolerance = None if step.attr("use_default_tol", True) else step.attr("tol", 0.0)
    attrs = {"tolerance": tolerance, "hermitian": step.attr("hermitian", False)}
    step.give("Out", step.run("matrix_rank", step.need("X"), step.one("TolTensor"), **attrs))


@reads("unique")
def _(step: Step) -> None:
    if not step.attr("is_sorted", False):
        raise FormatError("values in the order of their first occurrence are not supported")
    names = ("axis", "return_index", "return_inverse", "return_counts")
    attrs = {name: step.attr(name) for name in names if name in step.desc.attrs}
    give_results(step, OPS["unique"], Form(), step.run("unique", step.need("X"), **attrs))


@reads("huber_loss")
def _(step: Step) -> None:
    difference = step.run("elementwise_sub", step.need("Y"), step.need("X"))
    step.give("Out", step.run("huber", difference, delta=step.attr("delta", 1.0)))
    step.give("Residual", difference)


@reads("rms_norm")
def _(step: Step) -> None:
    x, bias, residual = step.need("x"), step.one("bias"), step.one("residual")
    for term in (bias, residual):
        x = x if term is None else step.run("elementwise_add", x, term)
    axis = step.attr("begin_norm_axis", x.ndim - 1)
    mean = step.run("reduce_mean", step.run("square", x), axis=list(range(axis, x.ndim)), keepdim=True)
    found = step.run(
        "elementwise_mul", x, step.run("rsqrt", step.run("scale", mean, bias=step.attr("epsilon", 1e-6)))
    )
    found = step.run("elementwise_mul", found, step.need("norm_weight"))
    shift = step.one("norm_bias")
    step.give("out", found if shift is None else step.run("elementwise_add", found, shift))
    step.give("residual_out", x)


@reads("logsumexp")
def _(step: Step) -> None:
    if step.attr("reduce_all", False):
        found = step.run("logsumexp", step.need("X"), axis=[], keepdim=step.attr("keepdim", False))
        step.give("Out", found)
    else:
        read_generic(step)
