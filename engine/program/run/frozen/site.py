"""Frozen kernels and the site that they are built at."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from engine.core.values.spec import Spec

Array = np.ndarray[Any, Any]

# Bytes of the largest array that a plan retains between calls. A larger one is not in the cache any more when
# the next call comes, where malloc hands out memory that is (decision 11); and plans of many shapes are
# cached.
LARGEST = 1 << 18


STAGES = "stages"  # the operator of a plan that stands for many, see ``blocks``


class Bound(NamedTuple):
    """A kernel with everything bound to it: ``call`` takes the inputs whose place is not fixed, in order.

    ``result`` is the array that holds the result after each call, None where the call returns a new one.
    ``call`` is None for a view of an array whose place is fixed: there is nothing to do.
    """

    call: Callable[..., Any] | None
    result: Array | None


class Site:
    """One operator of a frozen plan.

    ``inputs`` are Specs, without unknown dimensions; ``values`` the arrays of inputs that never change, and
    ``places`` those that hold an input in every call, both None for others. ``out`` is the result's Spec.
    ``over`` is the input that the kernel may overwrite, None if there is none. A ``fresh`` result is a new
    array in each call, because the caller may hold it. ``once(what, make)`` gives the result of a function of
    the weights, which all runs of the plan share.
    """

    def __init__(
        self,
        inputs: Sequence[Spec],
        values: Sequence[Array | None],
        places: Sequence[Array | None],
        out: Spec,
        attrs: Mapping[str, Any],
        over: int | None,
        fresh: bool,
        once: Callable[[str, Callable[[], Array]], Array],
    ) -> None:
        self.inputs, self.values, self.places, self.out = inputs, values, places, out
        self.attrs, self.over, self.fresh = attrs, over, fresh
        self.once = once

    def known(self, n: int) -> Array | None:
        """The array that input ``n`` is in, in every call; None where it comes with the call."""
        return self.values[n] if self.places[n] is None else self.places[n]

    def buffer(self) -> Array | None:
        """An array for the result that stays between calls; None where the result has to be a new one."""
        size = self.out.size * self.out.dtype.itemsize
        return None if self.fresh or size > LARGEST else np.empty(self.out.shape, self.out.dtype.np)

    @property
    def plain(self) -> bool:
        """Whether inputs and result are all of the same floating dtype that NumPy has."""
        return self.out.dtype.np.kind == "f" and all(s.dtype is self.out.dtype for s in self.inputs)


Maker = Callable[[Site], Bound | None]
