"""Averages gradients over processes during backward: in buckets, each reduced as soon as it is full."""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from engine.autodiff.edges import each_of, end
from engine.core.errors import GradientError
from engine.core.operators.operator import Leaf, lock_of
from engine.core.place import array_module
from engine.core.values.bfloat import adopt, converted, plain
from engine.core.values.dtype import from_numpy
from engine.distributed.exchange import all_reduced, gathered
from engine.distributed.groups import Group
from engine.distributed.reducing import ReduceOp
from engine.eager.tensor import Parameter, Tensor, wrap, write

_USED, _HAD_EARLIER = 1, 2  # what a process says of a parameter: it got a gradient, it had one before
_SHOWN = 10  # an error lists at most this many names


def assigned(kinds: Sequence[tuple[int, str]], limits: Sequence[int]) -> list[list[int]]:
    """Which parameters share a bucket, each given by its bytes and dtype, in the order of registration.

    The first bucket of a dtype is full at ``limits[0]`` bytes, the next at ``limits[1]``, all others at the
    last of them: the parameter that reaches the limit is still in.
    """
    buckets: list[list[int]] = []
    open_ones: dict[str, list[int]] = {}
    sizes: dict[str, int] = {}
    filled: dict[str, int] = {}
    for index, (size, dtype) in enumerate(kinds):
        open_ones.setdefault(dtype, []).append(index)
        sizes[dtype] = sizes.get(dtype, 0) + size
        if sizes[dtype] >= limits[min(filled.get(dtype, 0), len(limits) - 1)]:
            buckets.append(open_ones.pop(dtype))
            sizes[dtype] = 0
            filled[dtype] = filled.get(dtype, 0) + 1
    return sorted([*buckets, *open_ones.values()])


class Bucket:
    """The gradients of some parameters, one behind the other in one array."""

    def __init__(self, indices: Sequence[int], parameters: Sequence[Any]) -> None:
        self.indices = list(indices)
        self.shapes = [tuple(parameters[index]._array.shape) for index in indices]
        ends = np.cumsum([math.prod(shape) for shape in self.shapes]).tolist()
        self.size = ends[-1]
        self.places = dict(zip(self.indices, zip([0, *ends], ends, strict=False), strict=True))
        self.dtype = from_numpy(parameters[self.indices[0]]._array.dtype)
        self.flat: Any = None
        self.filled: set[int] = set()

    def fill(self, index: int, gradient: Tensor | None) -> None:
        """Put the gradient of a parameter in; zeros for None."""
        if self.flat is None:
            self.flat = np.empty(self.size, self.dtype.np)
        first, last = self.places[index]
        if gradient is None:
            self.flat[first:last] = 0
        else:
            array = gradient._array
            array = array if isinstance(array, np.ndarray) else adopt(array.get())
            self.flat[first:last] = plain(converted(np, array, self.dtype, copy=False)).reshape(-1)
        self.filled.add(index)

    def pieces(self) -> dict[int, Any]:
        """The parts of each parameter, in its shape."""
        return {
            index: adopt(self.flat[slice(*self.places[index])].reshape(shape))
            for index, shape in zip(self.indices, self.shapes, strict=True)
        }


class GradientBuckets:
    """Watches the leaves of parameters: averages their gradients over the processes of ``group``.

    ``limits`` are the bytes of the bucket that is reduced last, and of the others. Buckets go in the reverse
    order of registration, each as soon as it and those before it are full. What a parameter has collected
    before is averaged with what comes: gradients of several backward passes are right, whether those before
    were averaged or not. Sums go in the order of the ranks, so the buckets don't change the result.
    """

    def __init__(
        self,
        owner: object,
        parameters: Iterable[tuple[str, Parameter]],
        group: Group,
        limits: Sequence[int],
        find_unused: bool = False,
    ) -> None:
        found = list(parameters)
        self.owner = weakref.ref(owner)
        self.sync = True  # whether the last forward was outside of no_sync
        self.group = group
        self.find_unused = find_unused
        self.names = [f"{name} ({each.name})" for name, each in found]
        self.parameters = [each for _, each in found]
        self.leaves: list[Any] = [each._edge for each in self.parameters]
        self.index_of: dict[Leaf, int] = {leaf: n for n, leaf in enumerate(self.leaves)}
        kinds = [(each._array.nbytes, each.dtype.name) for each in self.parameters]
        order = reversed(assigned(kinds, limits))
        self.buckets = [Bucket(indices, self.parameters) for indices in order]
        self.bucket_of = {index: bucket for bucket in self.buckets for index in bucket.indices}
        self.apart: set[int] | None = None  # not in the graph of the first forward
        self.missing: set[int] = set()  # to come in a further backward of the same forward
        self.said = np.zeros(len(found), np.uint8)
        self.next = 0
        for leaf in self.leaves:
            leaf.watcher = self

    @property
    def active(self) -> bool:
        """Whether the next backward averages: not after a forward in no_sync, nor if the owner is gone."""
        return self.sync and self.owner() is not None

    # -- forward -------------------------------------------------------------------------------------------
    def prepare(self, outputs: Iterable[Tensor]) -> None:
        """A forward that gave ``outputs`` is done.

        Raises:
            GradientError: parameters got no gradient since the forward before.
        """
        if self.missing and not self.find_unused:
            names = [self.names[n] for n in sorted(self.missing) if not self.parameters[n].stop_gradient]
            self.missing = set()
            if names:
                raise GradientError(
                    f"DataParallel: these parameters were in the graph of forward and got no gradient: "
                    f"{_listed(names)}; use all results of forward in the loss, or pass "
                    "find_unused_parameters=True"
                )
        if self.apart is None and not self.find_unused:
            reached = _leaves_behind(outputs)
            self.apart = {n for n, leaf in enumerate(self.leaves) if leaf not in reached}

    # -- backward ------------------------------------------------------------------------------------------
    def begin(self) -> None:
        """Forget what a backward that failed has left."""
        self.next = 0
        self.said[:] = 0
        for bucket in self.buckets:
            bucket.flat = None
            bucket.filled.clear()

    def ready(self, leaf: Leaf, gradient: Tensor | None) -> None:
        """The gradient of ``leaf`` in this backward is complete; None where nothing came."""
        if gradient is None:
            return
        index = self.index_of[leaf]
        earlier = _accumulated(leaf)
        self.said[index] = _USED
        self.bucket_of[index].fill(index, gradient if earlier is None else earlier + gradient)
        while self.next < len(self.buckets):
            bucket = self.buckets[self.next]
            if len(bucket.filled) < len(bucket.indices):
                break
            self._reduce(bucket)

    def finish(self) -> None:
        """Reduce what is left, agree with the others on what was used, and store the gradients.

        Raises:
            GradientError: a parameter was used in some processes only, and ``find_unused`` is not set. It is
                raised in all of them.
        """
        for bucket in self.buckets[self.next :]:
            for index in bucket.indices:
                if index not in bucket.filled:
                    earlier = _accumulated(self.leaves[index])
                    self.said[index] = 0 if earlier is None else _HAD_EARLIER
                    bucket.fill(index, earlier)
            self._reduce(bucket)
        everyone = gathered(self.group, self.said)
        assert everyone is not None  # it goes to all
        used = everyone == _USED
        if not self.find_unused:
            self._check(used)
        for bucket in self.buckets:
            for index, piece in bucket.pieces().items():
                if everyone[:, index].any():
                    self._store(index, piece)
            bucket.flat = None

    def _reduce(self, bucket: Bucket) -> None:
        bucket.flat = plain(all_reduced(self.group, bucket.flat, ReduceOp.AVG, "DataParallel"))
        self.next += 1

    def _check(self, used: np.ndarray[Any, Any]) -> None:
        _check_even(self.names, used, self.group, "DataParallel", "pass find_unused_parameters=True")
        expected = self.missing or set(range(len(self.leaves))) - (self.apart or set())
        self.missing = expected - set(np.flatnonzero(used[0]).tolist())

    def _store(self, index: int, piece: Any) -> None:
        leaf = self.leaves[index]
        with lock_of(leaf):
            earlier = _accumulated(leaf)
            if earlier is not None and earlier.dtype is from_numpy(piece.dtype):
                write(earlier, piece)  # code outside may hold it
                return
            parameter = self.parameters[index]
            made = converted(np, piece, parameter.dtype, copy=False)
            if not isinstance(parameter._array, np.ndarray):
                made = array_module(parameter._array).asarray(plain(made))
            leaf.grad, leaf.cleared, leaf.shown = wrap(made), None, False


def reduce_gradients(
    parameters: Iterable[tuple[str, Parameter]], group: Group, op: int, limit: int, where: str
) -> None:
    """Reduce the gradients that named ``parameters`` have, in place, in arrays of about ``limit`` bytes.

    Raises:
        GradientError: a parameter has a gradient in some processes only; it is raised in all of them.
    """
    found = list(parameters)
    has = np.array(
        [each._edge is not None and _accumulated(each._edge) is not None for _, each in found], np.uint8
    )
    everyone = gathered(group, has)
    assert everyone is not None  # it goes to all
    names = [f"{name} ({each.name})" for name, each in found]
    _check_even(names, everyone.astype(bool), group, where, "compute one in all of them")
    chosen = [each for (_, each), one in zip(found, has, strict=True) if one]
    kinds = [(each._array.nbytes, each.dtype.name) for each in chosen]
    for indices in assigned(kinds, [limit]):
        bucket = Bucket(indices, chosen)
        for index in indices:
            bucket.fill(index, _accumulated(chosen[index]._edge))
        bucket.flat = plain(all_reduced(group, bucket.flat, op, where))
        for index, piece in bucket.pieces().items():
            gradient = _accumulated(chosen[index]._edge)
            assert gradient is not None
            write(gradient, converted(np, piece, gradient.dtype, copy=False))


def _check_even(names: Sequence[str], used: Any, group: Group, where: str, remedy: str) -> None:
    """Raise GradientError where a parameter is ``used`` [processes, parameters] in some processes only."""
    uneven = np.flatnonzero(used.any(axis=0) & ~used.all(axis=0)).tolist()
    if uneven:
        ranks = np.array(group.ranks)
        uneven_names = [
            f"{names[n]} in rank {', '.join(map(str, ranks[~used[:, n]].tolist()))}" for n in uneven
        ]
        raise GradientError(
            f"{where}: parameters got a gradient in some processes and none in others: none for "
            f"{_listed(uneven_names)}; {remedy}"
        )


def _accumulated(leaf: Any) -> Tensor | None:
    """The gradient that a leaf has collected; None where it was set to zero since."""
    found: Tensor | None = leaf.grad if leaf.cleared is None else None
    return found


def _leaves_behind(outputs: Iterable[Tensor]) -> set[Any]:
    """The leaves that ``outputs`` were computed from."""
    seen: set[Any] = set()
    stack = [end(each._edge)[0] for each in outputs if each._edge is not None]
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            if node.__class__ is not Leaf:
                stack += [end(edge)[0] for edge in each_of(node.edges)]
    return seen


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
