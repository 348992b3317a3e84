"""Model Studio's engine: deep learning with PaddlePaddle's programming model on NumPy and CuPy.

``import engine as paddle`` runs code written for Paddle 2.6."""

from typing import TYPE_CHECKING

import engine.kernels.cpu  # registers the kernels of the CPU
from engine import (
    autograd,
    base,
    device,
    framework,
    io,
    linalg,
    nn,
    optimizer,
    regularizer,
    static,
    tensor,
    utils,
)
from engine.core.lazy import lazy
from engine.core.models.limits import model_limits
from engine.core.place import CPUPlace, CUDAPinnedPlace, CUDAPlace, get_device, set_device
from engine.core.strictness import strict
from engine.core.values.dtype import (
    DType as dtype,
)
from engine.core.values.dtype import (
    bfloat16,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    get_default_dtype,
    int8,
    int16,
    int32,
    int64,
    set_default_dtype,
    uint8,
)
from engine.core.values.dtype import (
    bool_ as bool,
)
from engine.core.values.limits import finfo, iinfo
from engine.core.version import VERSION
from engine.device import (
    get_cudnn_version,
    is_compiled_with_cinn,
    is_compiled_with_cuda,
    is_compiled_with_custom_device,
    is_compiled_with_distribute,
    is_compiled_with_ipu,
    is_compiled_with_rocm,
    is_compiled_with_xpu,
)
from engine.eager.grad_mode import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from engine.eager.tensor import Tensor
from engine.framework import (
    disable_signal_handler,
    disable_static,
    enable_static,
    get_cuda_rng_state,
    get_flags,
    get_rng_state,
    in_dynamic_mode,
    seed,
    set_cuda_rng_state,
    set_flags,
    set_rng_state,
)
from engine.io.batching import batch
from engine.kernels.cpu.threads import get_num_threads, set_num_threads
from engine.nn.layer.base.parameters import LazyGuard, create_parameter
from engine.nn.param_attr import ParamAttr
from engine.program.backward.grad import grad
from engine.tensor.arguments.caught import explain_public as _explain_public
from engine.tensor.arguments.sizes import check_shape
from engine.tensor.contraction import (
    einsum,
    tensordot,
)
from engine.tensor.creation import (
    arange,
    assign,
    clone,
    empty,
    empty_like,
    eye,
    full,
    full_like,
    linspace,
    logspace,
    ones,
    ones_like,
    to_tensor,
    zeros,
    zeros_like,
)
from engine.tensor.decompositions import (
    cholesky,
    eigvalsh,
    inverse,
)
from engine.tensor.elements.arranging import (
    as_strided,
    combinations,
    crop,
    flip,
    meshgrid,
    repeat_interleave,
    reverse,
    roll,
    rot90,
    shard_index,
    strided_slice,
    tril,
    tril_indices,
    triu,
    triu_indices,
    unfold,
    view,
    view_as,
)
from engine.tensor.elements.arranging import (
    slice_ as slice,
)
from engine.tensor.elements.diagonals import (
    diag,
    diag_embed,
    diagflat,
    diagonal,
    diagonal_scatter,
    select_scatter,
)
from engine.tensor.elements.scattering import (
    gather,
    gather_nd,
    index_add,
    index_fill,
    index_put,
    index_sample,
    index_select,
    masked_fill,
    masked_select,
    put_along_axis,
    scatter,
    scatter_nd,
    scatter_nd_add,
    take,
    take_along_axis,
)
from engine.tensor.elementwise.bitwise import (
    bitwise_and,
    bitwise_not,
    bitwise_or,
    bitwise_xor,
    gcd,
    lcm,
)
from engine.tensor.elementwise.complex_parts import (
    angle,
    as_complex,
    as_real,
    complex,
    conj,
    imag,
    is_complex,
    is_floating_point,
    is_integer,
    polar,
    real,
)
from engine.tensor.elementwise.exponential import (
    exp,
    expm1,
    frexp,
    ldexp,
    log,
    log1p,
    log2,
    log10,
    logaddexp,
    rsqrt,
    sqrt,
    stanh,
)
from engine.tensor.elementwise.special import (
    digamma,
    erf,
    erfinv,
    i0,
    i0e,
    i1,
    i1e,
    lgamma,
    logit,
    multigammaln,
    polygamma,
)
from engine.tensor.elementwise.trigonometry import (
    acos,
    acosh,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    cos,
    cosh,
    deg2rad,
    hypot,
    rad2deg,
    sin,
    sinh,
    tan,
    tanh,
)
from engine.tensor.linalg import (
    addmm,
    bmm,
    cdist,
    cross,
    dist,
    dot,
    inner,
    kron,
    matmul,
    mm,
    mv,
    norm,
    outer,
    renorm,
    trace,
    vander,
)
from engine.tensor.logic import (
    allclose,
    equal,
    equal_all,
    greater_equal,
    greater_than,
    is_empty,
    isclose,
    isfinite,
    isinf,
    isnan,
    less_equal,
    less_than,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    not_equal,
)
from engine.tensor.logic import is_tensor_value as is_tensor
from engine.tensor.manipulation import (
    atleast_1d,
    atleast_2d,
    atleast_3d,
    broadcast_shape,
    broadcast_tensors,
    broadcast_to,
    chunk,
    concat,
    expand,
    expand_as,
    flatten,
    moveaxis,
    numel,
    rank,
    reshape,
    shape,
    split,
    squeeze,
    stack,
    t,
    tile,
    tolist,
    transpose,
    unbind,
    unflatten,
    unsqueeze,
    unstack,
    vsplit,
)
from engine.tensor.math import (
    abs,
    add,
    add_n,
    cast,
    ceil,
    clip,
    divide,
    floor,
    floor_divide,
    floor_mod,
    fmax,
    fmin,
    frac,
    heaviside,
    increment,
    lerp,
    maximum,
    minimum,
    mod,
    multiplex,
    multiply,
    nan_to_num,
    neg,
    nextafter,
    pow,
    reciprocal,
    remainder,
    round,
    scale,
    sgn,
    sign,
    square,
    subtract,
    trunc,
)
from engine.tensor.members.methods import INPLACE
from engine.tensor.members.printing import set_printoptions
from engine.tensor.random import (
    bernoulli,
    cauchy_,
    geometric_,
    multinomial,
    normal,
    normal_,
    poisson,
    rand,
    randint,
    randint_like,
    randn,
    randperm,
    standard_normal,
    uniform,
)
from engine.tensor.reductions.cumulative import (
    cummax,
    cummin,
    cumprod,
    cumsum,
    cumulative_trapezoid,
    diff,
    logcumsumexp,
    trapezoid,
)
from engine.tensor.reductions.reduction import (
    all,
    amax,
    amin,
    any,
    argmax,
    argmin,
    count_nonzero,
    logsumexp,
    max,
    mean,
    min,
    nanmean,
    nansum,
    prod,
    sum,
)
from engine.tensor.reductions.statistics import (
    bincount,
    histogram,
    median,
    nanmedian,
    nanquantile,
    quantile,
    std,
    var,
)
from engine.tensor.search import (
    argsort,
    bucketize,
    kthvalue,
    mode,
    nonzero,
    searchsorted,
    sort,
    topk,
    unique,
    unique_consecutive,
    where,
)

globals().update(INPLACE)  # abs_, add_, ...: the forms that change their first argument
_explain_public(globals())

__version__ = VERSION

if TYPE_CHECKING:
    from engine import (
        amp,
        audio,
        callbacks,
        dataset,
        distributed,
        distribution,
        fft,
        geometric,
        hapi,
        hub,
        incubate,
        inference,
        jit,
        metric,
        onnx,
        profiler,
        quantization,
        reader,
        signal,
        sparse,
        sysconfig,
        text,
        version,
        vision,
    )
    from engine.framework.state_files import load, save
    from engine.hapi.flops import flops
    from engine.hapi.model import Model
    from engine.hapi.summary import summary
    from engine.nn.layer.data_parallel import DataParallel

_LAZY = (
    "amp", "audio", "callbacks", "dataset", "distributed", "distribution", "fft", "geometric", "hapi", "hub",
    "incubate", "inference", "jit", "metric", "onnx", "profiler", "quantization", "reader", "signal",
    "sparse", "sysconfig", "text", "version", "vision",
)  # fmt: skip

__getattr__ = lazy(
    __name__,
    modules=_LAZY,
    members={
        "engine.core.alias.itself": ("paddle",),
        "engine.framework.async_files": ("async_save", "clear_async_save_task_queue"),
        "engine.framework.state_files": ("load", "save"),
        "engine.hapi.flops": ("flops",),
        "engine.hapi.model": ("Model",),
        "engine.hapi.summary": ("summary",),
        "engine.nn.layer.data_parallel": ("DataParallel",),
    },
)
