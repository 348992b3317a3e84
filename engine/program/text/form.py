"""Form: the differences between the definition of an operator and the OpDesc that Paddle has for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from engine.core.operators.operator import Operator
from engine.core.values.spec import Spec

Value = Callable[[Operator], Any]
Extra = Callable[[Operator], Spec | None]
Says = Callable[[Operator, Spec], Spec]


class Form:
    """The differences between an operator's definition and Paddle's OpDesc.

    Inputs: ``empty`` slots are written as ``[]``, those in ``without`` omitted, ``slots_in`` renames them.
    Outputs: those in ``hidden`` are omitted, ``slots`` renames them; those in ``always`` are written even
    where the attributes switch them off, as the inputs they replace; ``extra`` are results that only Paddle
    has, as Variables that nothing computes; ``order`` is that in which the results' names are created;
    ``stopped`` results never have a gradient; ``says`` changes the spec that is written.
    Attributes: ``attrs`` are added, as constants or functions of the operator; ``drop`` are omitted,
    ``rename`` renames them, ``floats`` lists integers that are written as floating ones.
    ``operands`` gives numbers that Paddle turns into Variables: slot, value and dtype of each; one without a
    slot is declared but not read. ``tensors`` names, for slots that Paddle fills with tensors instead of an
    attribute, the attribute of the definition.
    """

    __slots__ = (
        "always",
        "attrs",
        "drop",
        "empty",
        "extra",
        "floats",
        "hidden",
        "operands",
        "order",
        "rename",
        "says",
        "slots",
        "slots_in",
        "stopped",
        "tensors",
        "type",
        "without",
    )

    def __init__(
        self,
        type: str | None = None,
        empty: str = "",
        attrs: Mapping[str, Any] | None = None,
        drop: str = "",
        rename: Mapping[str, str] | None = None,
        floats: str = "",
        extra: Mapping[str, Extra] | None = None,
        order: str = "",
        stopped: str = "",
        says: Mapping[str, Says] | None = None,
        without: str = "",
        slots: Mapping[str, str] | None = None,
        hidden: str = "",
        slots_in: Mapping[str, str] | None = None,
        operands: Callable[[Operator], list[tuple[str, Any, str]]] | None = None,
        always: str = "",
        tensors: Mapping[str, str] | None = None,
    ) -> None:
        self.type = type
        self.empty = tuple(empty.split())
        self.attrs = dict(attrs or {})
        self.drop = frozenset(drop.split())
        self.rename = dict(rename or {})
        self.floats = frozenset(floats.split())
        self.extra = dict(extra or {})
        self.order = tuple(order.split())
        self.stopped = frozenset(stopped.split())
        self.says = dict(says or {})
        self.without = frozenset(without.split())
        self.slots = dict(slots or {})
        self.hidden = frozenset(hidden.split())
        self.slots_in = dict(slots_in or {})
        self.operands = operands
        self.always = frozenset(always.split())
        self.tensors = dict(tensors or {})
