"""Names of operators' results, as Paddle's LayerHelper creates them: ``fc_0.tmp_1``, ``elementwise_add_0``.

In Paddle each public function creates a helper, ``linear_3``, and the results of its operators are named
after it, ``linear_3.tmp_0``. Here functions whose helper is not called like their operator say so when they
are called (``build/calls.py``), and so does a call with ``name=``; a table does it for operators. Of the
running calls the innermost one with a name decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.program.graph.program import Program

HELPER = "{helper}.tmp"  # the usual form: a helper for each call, its results counted
BARE = "{helper}"


class Naming:
    """How the results of one call are named.

    ``key`` is the name that the helper is counted under (``{operator}``: that of the first operator).
    ``form`` is the key of the results themselves: ``{helper}.tmp`` as a rule, ``{helper}`` for a result that
    is called like its helper, ``tmp`` or ``{x}_slice`` (``x`` is the name of the first input) where there is
    no helper, and empty where each operator names its own. ``skip`` helpers are counted before and not used.
    ``only`` lists the operators that are named so (all by default); ``early`` those whose result Paddle
    declares before that of the operator in front; ``order`` is that of the results' slots, where it differs
    from the form's. With ``exact`` the first result is called like its key, as with ``{helper}``.
    ``outer`` takes precedence over the functions called inside. ``device`` is where Paddle computes the
    operator.
    """

    __slots__ = ("device", "early", "exact", "form", "key", "only", "order", "outer", "skip")

    def __init__(
        self,
        key: str = "",
        form: str = HELPER,
        skip: int = 0,
        only: str = "",
        early: str = "",
        order: str = "",
        outer: bool = False,
        device: str = "",
        exact: bool = False,
    ) -> None:
        self.key, self.form, self.skip, self.outer = key, form, skip, outer
        self.exact = exact or form == BARE
        self.order = tuple(order.split())
        self.device = device
        self.only = frozenset(only.split())
        self.early = frozenset(early.split())


class Call:
    """A running call: how its results are named, the ``name`` it was given, its helper once there is one."""

    __slots__ = ("helper", "name", "naming")

    def __init__(self, naming: Naming | None, name: object = None, helper: str = "") -> None:
        self.naming = naming
        self.name = name if isinstance(name, str) else None
        self.helper = helper


class Calls:
    """The calls that are running, from outside to inside, while one Program is built."""

    def __init__(self) -> None:
        self._running: list[Call] = []
        self._forced: list[tuple[str, Naming]] = []

    @property
    def innermost(self) -> Naming | None:
        """How the innermost call names its results; None if it has no name, or none is running."""
        return self._running[-1].naming if self._running else None

    @contextmanager
    def running(self, call: Call) -> Iterator[None]:
        """Within the block ``call`` is the innermost one."""
        self._running.append(call)
        try:
            yield
        finally:
            self._running.pop()

    @contextmanager
    def forced(self, key: str, order: str = "") -> Iterator[None]:
        """Within the block every result is called ``key``, numbered, regardless of functions."""
        self._forced.append((key, Naming(order=order)))
        try:
            yield
        finally:
            self._forced.pop()

    def namer(self, program: Program, operator: str, first: str) -> tuple[Naming, Callable[[], str]]:
        """The naming of the results of ``operator``, and an iterator of their names.

        ``first`` is the name of its first input.
        """
        if self._forced:
            forced, naming = self._forced[-1]
            return naming, lambda: program.unique_name(forced)
        call = self._naming_call(operator)
        given = next((c.name for c in reversed(self._running) if c.name), None)
        naming = call.naming if call is not None and call.naming is not None else Naming(form="")
        if given is not None or not naming.form:  # an empty form: by the operator, whatever is inside
            if not naming.form:
                naming = OPERATORS.get(operator) or Naming(operator)
            helper = given or _helper(program, naming)
        else:
            assert call is not None
            call.helper = helper = call.helper or _helper(program, naming, operator)
        key = naming.form.format(helper=helper, x=first)
        if naming.exact:  # the first result is called like the key itself
            first_one = iter(() if any(key in b.vars for b in program.blocks) else (key,))
            return naming, lambda: next(first_one, None) or program.unique_name(f"{key}.tmp")
        return naming, lambda: program.unique_name(key)

    def _naming_call(self, operator: str) -> Call | None:
        """The call whose naming holds for ``operator``: the innermost ``outer`` one, else the innermost."""
        found = None
        for call in reversed(self._running):
            naming = call.naming
            if naming is not None and (not naming.only or operator in naming.only):
                if naming.outer:
                    return call
                found = found or call
        return found


def _helper(program: Program, naming: Naming, operator: str = "") -> str:
    key = naming.key.format(operator=operator)
    if not key:
        return ""
    for _ in range(naming.skip):
        program.unique_name(key)
    return program.unique_name(key)


# How an operator names its results where no function does.
OPERATORS: dict[str, Naming] = {
    **{
        f"elementwise_{name}": Naming(f"elementwise_{name}", BARE)
        for name in ("add", "sub", "mul", "div", "mod", "floordiv", "max", "min")
    },
    **{
        operator: Naming(key)
        for operator, key in {
            "arg_max": "argmax",
            "arg_min": "argmin",
            "bce_loss": "binary_cross_entropy",
            "expand_v2": "expand",
            "fill_any_like": "full_like",
            "flatten_contiguous_range": "flatten",
            "gaussian_random": "gaussian",
            "hard_sigmoid": "hardsigmoid",
            "hard_swish": "hardswish",
            "kept_mean": "mean",
            "kldiv_loss": "kl_div",
            "lookup_table_v2": "embedding",
            "print_tensor": "print",
            "reduce_all": "all",
            "reduce_any": "any",
            "reduce_max": "max",
            "reduce_mean": "mean",
            "reduce_min": "min",
            "reduce_sum": "sum",
            "roll_by": "roll",
            "squeeze2": "squeeze",
            "sum": "add_n",
            "transpose2": "transpose",
            "uniform_random": "uniform",
        }.items()
    },
    **{
        f"fake_{name}_abs_max": Naming(form="{x}.quantized.dequantized", exact=True)
        for name in (
            "quantize_dequantize",
            "channel_wise_quantize_dequantize",
            "quantize_dequantize_moving_average",
        )
    },
    "moving_average_abs_max_scale": Naming(form="{x}.tmp", exact=True),
    "share_data": Naming(form="detach_{x}"),
    "slice_view": Naming(form="{x}_slice"),
}
