"""The one table that attaches functions to Tensor and Variable as methods and operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.core.errors import EagerOnlyError
from engine.core.frames import located, user_frame
from engine.core.lazy import LazyMethod
from engine.eager import backward as grads
from engine.eager.tensor import Parameter, Tensor
from engine.ops.arrays import shape as shape_ops
from engine.program.build import hook
from engine.program.build.calls import called, starts
from engine.program.graph.program import Variable
from engine.program.text.naming import Naming
from engine.tensor import (
    contraction,
    creation,
    decompositions,
    linalg,
    logic,
    manipulation,
    math,
    random,
    search,
)
from engine.tensor.arguments.caught import explain_public
from engine.tensor.elements import arranging, diagonals, scattering
from engine.tensor.elementwise import bitwise, complex_parts, exponential, special, trigonometry
from engine.tensor.members import protocol, symbolic, variable_protocol
from engine.tensor.members.inplace import forms
from engine.tensor.members.operators import OPERATORS
from engine.tensor.members.printing import parameter_text, tensor_text
from engine.tensor.reductions import cumulative, reduction, statistics

_METHODS: dict[str, Callable[..., Any]] = {
    name: getattr(module, name)
    for module, names in (
        (
            math,
            "add subtract multiply divide floor_divide remainder mod floor_mod pow maximum minimum fmax "
            "fmin scale increment reciprocal square abs sign sgn floor ceil round trunc frac neg clip "
            "cast add_n heaviside nextafter lerp nan_to_num multiplex",
        ),
        (
            trigonometry,
            "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh atan2 deg2rad rad2deg hypot",
        ),
        (exponential, "exp expm1 log log1p log2 log10 sqrt rsqrt sigmoid logaddexp stanh ldexp frexp"),
        (special, "erf erfinv lgamma digamma polygamma multigammaln i0 i0e i1 i1e logit"),
        (bitwise, "bitwise_and bitwise_or bitwise_xor bitwise_not gcd lcm"),
        (
            complex_parts,
            "real imag conj angle polar as_complex as_real is_complex is_floating_point is_integer",
        ),
        (
            logic,
            "equal not_equal less_than less_equal greater_than greater_equal logical_and logical_or "
            "logical_xor logical_not equal_all allclose isclose is_empty isnan isinf isfinite",
        ),
        (
            reduction,
            "sum mean max min amax amin prod all any logsumexp count_nonzero nansum nanmean argmax argmin",
        ),
        (statistics, "var std median nanmedian quantile nanquantile histogram bincount cov corrcoef"),
        (
            linalg,
            "matmul mm bmm mv dot inner outer cross kron addmm dist cdist norm trace renorm vander multi_dot",
        ),
        (cumulative, "cumsum cumprod cummax cummin logcumsumexp diff trapezoid cumulative_trapezoid"),
        (contraction, "tensordot"),
        (
            decompositions,
            "cholesky cholesky_solve cond eig eigvals eigvalsh householder_product inverse lstsq lu "
            "lu_unpack matrix_power pca_lowrank pinv qr solve triangular_solve",
        ),
        (
            manipulation,
            "reshape flatten transpose t squeeze unsqueeze moveaxis unflatten concat stack unbind unstack "
            "split vsplit chunk expand broadcast_to expand_as broadcast_tensors broadcast_shape tile "
            "atleast_1d atleast_2d atleast_3d rank numel",
        ),
        (
            arranging,
            "flip reverse roll rot90 tril triu repeat_interleave strided_slice view view_as as_strided "
            "unfold combinations shard_index",
        ),
        (
            diagonals,
            "diag diagflat diag_embed diagonal diagonal_scatter fill_diagonal_ fill_diagonal_tensor "
            "fill_diagonal_tensor_ select_scatter",
        ),
        (
            scattering,
            "gather gather_nd scatter scatter_nd scatter_nd_add index_select index_sample index_add "
            "index_fill index_put take_along_axis put_along_axis take masked_select masked_fill",
        ),
        (
            search,
            "sort argsort topk kthvalue mode where nonzero unique unique_consecutive bucketize",
        ),
        (creation, "clone create_tensor"),
        (random, "multinomial top_p_sampling uniform_ normal_ exponential_ cauchy_ geometric_"),
    )
    for name in names.split()
}
_METHODS["astype"] = math.cast
_METHODS["slice"] = arranging.slice_
INPLACE = {**forms(_METHODS), "where_": search.where_}  # also public functions
_METHODS |= INPLACE


def _detach(x: Any) -> Any:
    """The same storage without gradient; changes in place are seen by both."""
    return shape_ops.detach(x)


def _gradient(x: Tensor) -> Any:
    """The gradient as a NumPy array, or None."""
    return None if x.grad is None else x.grad.numpy()


_EAGER_ONLY: dict[str, Any] = {
    **protocol.ATTRIBUTES,
    "detach": _detach,
    "register_hook": grads.register_hook,
    "retain_grads": grads.retain_grads,
    "detach_": grads.detach_in_place,
    "clear_grad": grads.clear_gradient,
    "clear_gradient": grads.clear_gradient,
    "gradient": _gradient,
    "_grad_ivar": grads.gradient_of,
    "grad_fn": property(grads.record_of),
    "__repr__": tensor_text,
    "__str__": tensor_text,
}


_TRANSPOSED = Naming(form="{x}.tmp")


def _transposed(x: Any) -> Any:
    """The dimensions in reverse order."""
    if starts(_TRANSPOSED):
        return called(_TRANSPOSED, None, _transposed, x)
    return shape_ops.transpose(x, axis=list(range(x.ndim))[::-1])


def _absent(x: Variable, name: str) -> Any:
    """The error for a member that a Variable lacks. Raises EagerOnlyError for one that eager tensors have."""
    if name.startswith("_") or not hasattr(Tensor, name):
        raise AttributeError(f"'Variable' object has no attribute {name!r}", name=name, obj=x)
    raise located(
        EagerOnlyError(
            f"{name}: works on eager tensors: {x.name!r} {x.spec} is a static Variable; call it outside of "
            "the Program or of the converted function"
        ),
        user_frame(),
    )


_SYMBOLIC_ONLY: dict[str, Any] = {
    "__getattr__": _absent,
    **symbolic.METHODS,
    **variable_protocol.METHODS,
    **variable_protocol.FIELDS,
    "detach": _detach,
    "register_hook": hook.register_hook,
}


# Python's operators on numbers.
_OF_NUMBERS = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")


def _attach() -> None:
    for cls in (Tensor, Variable):
        for name, function in (*OPERATORS.items(), *_METHODS.items()):
            setattr(cls, name, function)
        cls.T = property(_transposed)  # type: ignore[union-attr]
        cls.dim = cls.ndimension = lambda x: x.ndim  # type: ignore[union-attr]
        for name in ("stft", "istft"):
            setattr(cls, name, LazyMethod("engine.tensor.short_time", name))
        for name in ("to_sparse_coo", "to_sparse_csr"):
            setattr(cls, name, LazyMethod("engine.tensor.sparse.conversion", name))
        cls.is_tensor = logic.is_tensor_value  # type: ignore[union-attr]
    for name, function in _EAGER_ONLY.items():
        setattr(Tensor, name, function)
    for name, function in _SYMBOLIC_ONLY.items():
        setattr(Variable, name, function)
    for name in _OF_NUMBERS:
        for each in (f"__{name}__", f"__r{name}__"):
            setattr(Variable, each, symbolic.keeping_numbers(getattr(Variable, each)))
    Variable.__neg__ = symbolic.keeping_numbers(Variable.__neg__)  # type: ignore[method-assign]
    explain_public(vars(Tensor))
    for name in ("__repr__", "__str__"):
        setattr(Parameter, name, parameter_text)


_attach()
