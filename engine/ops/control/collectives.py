"""Collectives as operators: every process of a group runs them in one order, each with its own values.

They have effects: no pass removes, merges, folds or moves one, since the other processes wait for it. The
processes are those that this one has joined itself: a file names a group by a number only. A gradient is that
of the sum of all processes' results.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from engine.core.delegate import delegate
from engine.core.errors import ArgumentError, DTypeError, GradientError, ShapeError
from engine.core.operators import traits
from engine.core.operators.bounds import Count, Size
from engine.core.operators.infer import require_floating, same_as_x
from engine.core.operators.opdef import Applier, op
from engine.core.place import Array
from engine.core.values.dtype import as_dtype
from engine.core.values.spec import Spec
from engine.ops.arrays import creation, shape
from engine.ops.elementwise import arithmetic, comparison


class Ring(Protocol):
    """The processes of a group as kernels use them; arrays come and go as those of NumPy.

    They return a new array.
    """

    rank: int
    nranks: int

    def all_reduced(self, array: Array, word: str) -> Array: ...

    def reduced(self, array: Array, word: str, root: int) -> Array: ...

    def broadcast(self, array: Array, root: int) -> Array: ...

    def gathered(self, array: Array, root: int | None = None) -> Array: ...

    def joined(self, array: Array, root: int | None = None) -> Array: ...

    def reduce_scattered(self, array: Array, word: str) -> Array: ...

    def scattered(self, array: Array, root: int) -> Array: ...

    def exchanged(self, array: Array, sent: Sequence[int], taken: Sequence[int]) -> Array: ...

    def send(self, array: Array, peer: int) -> None: ...

    def received(self, shape: Sequence[int], dtype: np.dtype[Any], peer: int) -> Array: ...

    def barrier(self) -> None: ...


@delegate("engine.distributed.rings")
def ring(number: int, where: str, nranks: int | None = None) -> Ring:
    """The group of that number, 0 for that of all processes; a process alone is every group.

    Raises:
        ModeError: this process has not joined the others, or has no such group.
        ArgumentError: the group has another number of processes than ``nranks``.
    """
    raise NotImplementedError


def _parted(where: str, x: Spec, nranks: int) -> Spec:
    """The spec of one of the ``nranks`` parts of x along its first axis."""
    first = x.shape[0] if x.shape else 0
    if nranks < 1 or not x.shape or (first > 0 and first % nranks):
        raise ShapeError(f"{where}: the first dimension of {x} must be a multiple of nranks {nranks}")
    return Spec((first if first < 0 else first // nranks, *x.shape[1:]), x.dtype)


def _joined(where: str, x: Spec, nranks: int) -> Spec:
    """The spec of ``nranks`` values like x one behind the other; those without dimensions in a row."""
    if nranks < 1:
        raise ArgumentError(f"{where}: nranks must be at least 1: got {nranks}")
    first = x.shape[0] if x.shape else 1
    return Spec((first if first < 0 else first * nranks, *x.shape[1:]), x.dtype)


def _like(name: str, word: str) -> Callable[..., Spec]:
    """Inference of a reduction: like x; a mean is of numbers with fractions."""

    def infer(x: Spec, **_: Any) -> Spec:
        if word == "avg":
            require_floating(name, x=x)
        return x

    return infer


# -- reductions ------------------------------------------------------------------------------------------
def _all_reduce(word: str) -> Applier[Any, Any]:
    """The operator c_allreduce_<word>."""
    name = f"c_allreduce_{word}"

    def kernel(xp, x, *, ring_id=0, use_calc_stream=False, use_model_parallel=False):
        return xp.asarray(ring(ring_id, name).all_reduced(x, word))

    kernel.__name__, kernel.__doc__ = name, f"The {word} of x over all processes, in each of them."
    return traits.gradient_effect(op(name, infer=_like(name, word), effect=True)(kernel))


c_allreduce_sum, c_allreduce_avg = _all_reduce("sum"), _all_reduce("avg")
c_allreduce_max, c_allreduce_min = _all_reduce("max"), _all_reduce("min")
# First derivatives only: those of a product without one factor have no rule.
c_allreduce_prod = traits.order(1)(_all_reduce("prod"))

c_allreduce_sum.grad(x=lambda g, ring_id: c_allreduce_sum(g, ring_id=ring_id))
c_allreduce_avg.grad(x=lambda g, ring_id: c_allreduce_avg(g, ring_id=ring_id))


def _extreme_gradient(g: Any, x: Any, out: Any, ring_id: int) -> Any:
    """To the elements that are the largest or smallest; several share it."""
    hit = arithmetic.cast(comparison.equal(x, out), out_dtype=g.dtype.name)
    share = arithmetic.divide(hit, c_allreduce_sum(hit, ring_id=ring_id))
    return arithmetic.multiply(c_allreduce_sum(g, ring_id=ring_id), share)


def _product_gradient(g: Any, x: Any, ring_id: int) -> Any:
    return arithmetic.multiply(c_allreduce_sum(g, ring_id=ring_id), product_of_others(x, ring_id=ring_id))


c_allreduce_max.grad(x=_extreme_gradient)
c_allreduce_min.grad(x=_extreme_gradient)
c_allreduce_prod.grad(x=_product_gradient)


@traits.order(0)
@op("product_of_others", infer=same_as_x, effect=True)
def product_of_others(xp, x, *, ring_id=0):
    """The product of x over all processes but this one."""
    group = ring(ring_id, "product_of_others")
    rows = xp.asarray(group.gathered(x))
    rows[group.rank] = 1
    return rows.prod(axis=0, dtype=rows.dtype)


@op("zeros_at_rank", infer=same_as_x, effect=True)
def zeros_at_rank(xp, x, *, ring_id=0, root_id=0, elsewhere=False):
    """x, but zeros in the process ``root_id``; with ``elsewhere`` in all others instead."""
    here = ring(ring_id, "zeros_at_rank").rank == root_id
    return xp.zeros_like(x) if here != bool(elsewhere) else x.copy()


zeros_at_rank.grad(x=lambda g, **attrs: zeros_at_rank(g, **attrs))


def _reduce(word: str) -> Applier[Any, Any]:
    """The operator c_reduce_<word>."""
    name = f"c_reduce_{word}"

    def kernel(xp, x, *, ring_id=0, root_id=0, use_calc_stream=False):
        return xp.asarray(ring(ring_id, name).reduced(x, word, root_id))

    kernel.__name__ = name
    kernel.__doc__ = f"The {word} of x over all processes, in the process ``root_id``; x in the others."
    return traits.gradient_effect(op(name, infer=_like(name, word), effect=True)(kernel))


c_reduce_sum, c_reduce_avg = _reduce("sum"), _reduce("avg")
c_reduce_max, c_reduce_min = _reduce("max"), _reduce("min")
c_reduce_prod = traits.order(1)(_reduce("prod"))  # as c_allreduce_prod


def _to_root(rule: Callable[..., Any]) -> Callable[..., Any]:
    """The gradient rule of a reduction to one process from that of the reduction for all: see ``_reduce``."""

    def gradient(g: Any, x: Any, out: Any, ring_id: int, root_id: int) -> Any:
        at_root = zeros_at_rank(g, ring_id=ring_id, root_id=root_id, elsewhere=True)
        everywhere = c_broadcast(out, ring_id=ring_id, root=root_id)
        own = zeros_at_rank(g, ring_id=ring_id, root_id=root_id)
        return arithmetic.add(rule(at_root, x, everywhere, ring_id), own)

    return gradient


def _linear(share: Callable[..., Any]) -> Callable[..., Any]:
    """The same where the reduction for all is linear: its own gradient."""

    def gradient(g: Any, ring_id: int, root_id: int) -> Any:
        at_root = zeros_at_rank(g, ring_id=ring_id, root_id=root_id, elsewhere=True)
        own = zeros_at_rank(g, ring_id=ring_id, root_id=root_id)
        return arithmetic.add(share(at_root, ring_id=ring_id), own)

    return gradient


c_reduce_sum.grad(x=_linear(c_allreduce_sum))
c_reduce_avg.grad(x=_linear(c_allreduce_avg))
c_reduce_max.grad(x=_to_root(_extreme_gradient))
c_reduce_min.grad(x=_to_root(_extreme_gradient))
c_reduce_prod.grad(x=_to_root(lambda g, x, out, ring_id: _product_gradient(g, x, ring_id)))


def _coalesced(xs: list[Spec], reduce_type: str = "sum", **_: Any) -> tuple[Spec, ...]:
    if reduce_type == "avg":
        require_floating("c_allreduce_coalesced", **{f"xs[{n}]": x for n, x in enumerate(xs)})
    if len({x.dtype.name for x in xs}) != 1:
        raise DTypeError(f"c_allreduce_coalesced: takes values of one dtype: got {xs}")
    return tuple(xs)


@traits.gradient_effect
@op(
    "c_allreduce_coalesced",
    infer=_coalesced,
    outputs=("outs",),
    output_list="outs",
    effect=True,
    slots={"xs": "X", "outs": "Out"},
)
def c_allreduce_coalesced(xp, xs: list, *, ring_id=0, reduce_type="sum"):
    """The sum (or avg) of each of xs, of one dtype, over all processes, in one message."""
    flat = xp.concatenate([x.reshape(-1) for x in xs])
    total = xp.asarray(ring(ring_id, "c_allreduce_coalesced").all_reduced(flat, reduce_type))
    made, start = [], 0
    for x in xs:
        made.append(total[start : start + x.size].reshape(x.shape))
        start += x.size
    return made


@c_allreduce_coalesced.grad_all("xs")
def _coalesced_gradient(g_outs: Any, outs: Any, **attrs: Any) -> Any:
    given = [creation.fill_like(o, value=0.0) if g is None else g for g, o in zip(g_outs, outs, strict=True)]
    return list(c_allreduce_coalesced(given, **attrs))


# -- exchanges -------------------------------------------------------------------------------------------
@traits.gradient_effect
@op("c_broadcast", infer=same_as_x, effect=True)
def c_broadcast(xp, x, *, ring_id=0, root=0, use_calc_stream=False):
    """x of the process ``root``, in all of them."""
    return xp.asarray(ring(ring_id, "c_broadcast").broadcast(x, root))


def _broadcast_gradient(g: Any, ring_id: int, root: int) -> Any:
    total = c_reduce_sum(g, ring_id=ring_id, root_id=root)
    return zeros_at_rank(total, ring_id=ring_id, root_id=root, elsewhere=True)


c_broadcast.grad(x=_broadcast_gradient)


@traits.gradient_effect
@op(
    "c_allgather",
    infer=lambda x, nranks, **_: _joined("c_allgather", x, nranks),
    effect=True,
)
def c_allgather(xp, x, *, nranks: Count, ring_id=0, use_calc_stream=False):
    """x of every process, one behind the other along the first axis, in all of them."""
    return xp.asarray(ring(ring_id, "c_allgather", nranks).joined(x))


def _all_gather_gradient(g: Any, x_spec: Any, nranks: int, ring_id: int) -> Any:
    mine = c_reducescatter(g, nranks=nranks, ring_id=ring_id)
    return mine if x_spec.ndim else shape.reshape(mine, shape=[])


c_allgather.grad(x=_all_gather_gradient)


@traits.gradient_effect
@op(
    "c_reducescatter",
    infer=lambda x, nranks, **_: _parted("c_reducescatter", x, nranks),
    effect=True,
)
def c_reducescatter(xp, x, *, nranks: Count, ring_id=0, use_calc_stream=False):
    """Part i along the first axis, summed over all processes, in process i."""
    return xp.asarray(ring(ring_id, "c_reducescatter", nranks).reduce_scattered(x, "sum"))


c_reducescatter.grad(x=lambda g, nranks, ring_id: c_allgather(g, nranks=nranks, ring_id=ring_id))


@traits.gradient_effect
@op(
    "c_gather",
    infer=lambda x, nranks, **_: _joined("c_gather", x, nranks),
    effect=True,
)
def c_gather(xp, x, *, nranks: Count, ring_id=0, root=0, use_calc_stream=False, everywhere=True):
    """x of every process, one behind the other, in the process ``root``; zeros in the others.

    ``everywhere`` means that all of them compute with the result, so that all run its gradient.
    """
    return xp.asarray(ring(ring_id, "c_gather", nranks).joined(x, root))


def _gather_gradient(g: Any, x_spec: Any, nranks: int, ring_id: int, root: int, everywhere: bool) -> Any:
    if not everywhere:
        raise GradientError(
            "gather: has no gradient: only the process dst has the result, the others would not take part; "
            "use all_gather, or detach() the tensor"
        )
    mine = c_scatter(g, nranks=nranks, ring_id=ring_id, root=root)
    return mine if x_spec.ndim else shape.reshape(mine, shape=[])


c_gather.grad(x=_gather_gradient)


@traits.gradient_effect
@op(
    "c_scatter",
    infer=lambda x, nranks, **_: _parted("c_scatter", x, nranks),
    effect=True,
)
def c_scatter(xp, x, *, nranks: Count, ring_id=0, root=0, use_calc_stream=False):
    """Part i along the first axis of x of the process ``root``, in process i."""
    return xp.asarray(ring(ring_id, "c_scatter", nranks).scattered(x, root))


c_scatter.grad(x=lambda g, nranks, ring_id, root: c_gather(g, nranks=nranks, ring_id=ring_id, root=root))


def _exchanged(x: Spec, in_sizes: Sequence[int] = (), out_sizes: Sequence[int] = (), **_: Any) -> Spec:
    if not x.shape:
        raise ShapeError(f"alltoall: takes a tensor with dimensions, to cut the first: got {x}")
    if not in_sizes:
        return x
    if (
        len(in_sizes) != len(out_sizes)
        or min(*in_sizes, *out_sizes) < 0
        or x.shape[0] not in (-1, sum(in_sizes))
    ):
        raise ShapeError(f"alltoall: {list(in_sizes)} and {list(out_sizes)} are not parts of {x}")
    return Spec((sum(out_sizes), *x.shape[1:]), x.dtype)


@traits.gradient_effect
@op("alltoall", infer=_exchanged, effect=True)
def alltoall(xp, x, *, ring_id=0, use_calc_stream=False, in_sizes: Size = (), out_sizes: Size = ()):
    """Part i along the first axis goes to process i; the result has the parts that the others sent here.

    The parts are equal, or have ``in_sizes``; those that come ``out_sizes``.
    """
    group = ring(ring_id, "alltoall", len(in_sizes) or None)
    if not in_sizes and x.shape[0] % group.nranks:
        raise ShapeError(
            f"alltoall: the first dimension must be a multiple of the {group.nranks} processes: got "
            f"{list(x.shape)}"
        )
    equal = [x.shape[0] // group.nranks] * group.nranks
    return xp.asarray(group.exchanged(x, in_sizes or equal, out_sizes or equal))


alltoall.grad(
    x=lambda g, ring_id, in_sizes, out_sizes: alltoall(
        g, ring_id=ring_id, in_sizes=out_sizes, out_sizes=in_sizes
    )
)


# -- messages --------------------------------------------------------------------------------------------
@op("send_v2", infer=lambda x, **_: (), outputs=(), effect=True)
def send_v2(xp, x, *, peer=0, ring_id=0, use_calc_stream=False, dynamic_shape=False):
    """Send x to the process ``peer``, which runs ``recv_v2``."""
    ring(ring_id, "send_v2").send(x, peer)
    return ()


@op("recv_v2", infer=lambda out_shape, dtype, **_: Spec(out_shape, dtype), effect=True)
def recv_v2(xp, *, out_shape: Size, dtype, peer=0, ring_id=0, use_calc_stream=False, dynamic_shape=False):
    """Receive from the process ``peer`` a value of ``out_shape`` and ``dtype``."""
    return xp.asarray(ring(ring_id, "recv_v2").received(out_shape, as_dtype(dtype).np, peer))


@op("barrier", infer=same_as_x, effect=True)
def barrier(xp, x, *, ring_id=0):
    """x, when every process has come here."""
    ring(ring_id, "barrier").barrier()
    return x.copy()
