"""Fusion in plans: the operators of attention become one, and those of its gradient one.

It runs over the operators of a plan, after gradients are built and with the shapes that are fed, as
:mod:`elementwise` does, before it.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any

from engine.core.operators.opdef import OpDef
from engine.core.operators.operator import Operator
from engine.core.values.dtype import float32, float64
from engine.core.values.spec import Spec
from engine.ops.linalg.attention import fused_attention, fused_attention_grad, fused_scores
from engine.program.graph.liveness import Liveness, needed
from engine.program.graph.program import Variable, variables_of


def fuse_attention(
    live: Liveness,
    outputs: Sequence[Variable],
    specs: Mapping[int, Spec],
    known: Container[int],
) -> Liveness:
    """Replace the operators of attention by one.

    ::

        s = scale(q, scale=0.125)
        a = matmul_v2(s, k, trans_y=True)
        b = elementwise_add(a, mask)           out, w = fused_attention(q, k, v, [mask])
        w = softmax(b)                   ->    return out
        out = matmul_v2(w, v)
        return out

    ``specs`` are those of a run, ``known`` the constants of the plan, both by id of the Variable. Forward
    and gradient are found each by itself. An operator in between, dropout or another reader of the scores,
    leaves the operators unchanged; w may be read by others.
    """
    found = _Search(live, outputs, specs, known)
    fused = [f for f in map(found.match, range(len(live.ops))) if f is not None]
    if not fused:
        return live
    found.fold_scales(fused)
    return Liveness(needed(found.replaced(fused), outputs))


class _Fused:
    """Operators that become one, at the ``place`` of one of them (all by position)."""

    def __init__(self, opdef: OpDef, members: Sequence[int], place: int) -> None:
        self.opdef, self.members, self.place = opdef, sorted(members), place
        self.inputs: list[Any] = []
        self.outputs: list[Variable | None] = []
        self.attrs: dict[str, Any] = {}
        self.left = 0  # the input that was scaled before its product


class _Search:
    """The attentions among the operators of a plan."""

    def __init__(
        self,
        live: Liveness,
        outputs: Sequence[Variable],
        specs: Mapping[int, Spec],
        known: Container[int],
    ) -> None:
        self.live, self.ops, self.specs, self.known = live, live.ops, specs, known
        self.fetched = {id(v) for v in outputs}
        self.once, self.makers, self.readers = live.once, live.makers, live.readers

    # -- looking around --------------------------------------------------------------------------------------
    def spec(self, variable: Variable) -> Spec:
        return self.specs.get(id(variable), variable.spec)

    def made_by(self, variable: Any, name: str) -> Operator | None:
        """The operator of that name that writes the Variable, if it may become part of another."""
        position = self.makers.get(id(variable))
        if position is None or id(variable) in self.known or id(variable) not in self.once:
            return None
        operator = self.ops[position]
        return operator if operator.opdef.name == name and not variable.persistable else None

    def alone(self, variable: Variable) -> bool:
        """Whether one operator reads it, once, and nothing else does."""
        return len(self.readers.get(id(variable), ())) == 1 and id(variable) not in self.fetched

    def read_by(self, variable: Variable, name: str) -> list[Operator]:
        found = dict.fromkeys(self.readers.get(id(variable), ()))
        return [self.ops[n] for n in found if self.ops[n].opdef.name == name]

    def position(self, operator: Operator) -> int:
        return self.makers[id(operator.outputs[0])]

    def plain_scale(self, operator: Operator | None) -> float | None:
        """The operator's factor; None if it does something else, too."""
        if operator is None or operator.attrs.get("bias", 0.0) != 0.0:
            return None
        return float(operator.attrs.get("scale", 1.0))

    # -- the two patterns ------------------------------------------------------------------------------------
    def match(self, position: int) -> _Fused | None:
        """The attention, or the gradient, of the softmax at this position."""
        operator = self.ops[position]
        if operator.opdef.name not in ("softmax", "softmax_grad"):
            return None
        spec = self.spec(operator.outputs[0])
        along = operator.attrs.get("axis", -1) % max(1, spec.ndim)
        if not spec.known or spec.ndim < 3 or along != spec.ndim - 1 or spec.dtype not in (float32, float64):
            return None
        if not spec.size or id(operator.outputs[0]) in self.known:
            return None
        found = self._forward(operator) if operator.opdef.name == "softmax" else self._backward(operator)
        return found if found is not None and self._stays(found) else None

    def _forward(self, softmax: Operator) -> _Fused | None:
        (weights,) = softmax.outputs
        shape = self.spec(weights).shape
        (scores,) = softmax.inputs
        members, masks = [softmax], list[Any]()
        while self.alone(scores) and (add := self.made_by(scores, "elementwise_add")) is not None:
            ways = [n for n in (0, 1) if self._leads_on(add.inputs[n], shape)]
            if not ways:
                return None
            masks.insert(0, add.inputs[1 - ways[0]])
            members.append(add)
            scores = add.inputs[ways[0]]
        times = None
        if self.alone(scores) and (scale := self.made_by(scores, "scale")) is not None:
            times = self.plain_scale(scale)
            if times is None:
                return None
            members.append(scale)
            (scores,) = scale.inputs
        product = self.made_by(scores, "matmul_v2") if self.alone(scores) else None
        if product is None or product.attrs.get("trans_x"):
            return None
        x, y = product.inputs
        members.append(product)
        if not self._alike(x, y) or not self._fits(masks, shape):
            return None
        attrs = {"times": times, "turned": not product.attrs.get("trans_y")}
        for result in self.read_by(weights, "matmul_v2"):
            left, v = result.inputs
            if left is not weights or result.attrs.get("trans_x") or result.attrs.get("trans_y"):
                continue
            place = self.position(result)
            if not self._alike(x, v) or any(n < place for n in self.readers[id(weights)]):
                continue
            members.append(result)
            made = _Fused(fused_attention.opdef, [self.position(o) for o in members], place)
            made.inputs, made.outputs = [x, y, v, masks], [result.outputs[0], weights]
            readers = set(self.readers[id(weights)]) - {place}
            keeps = bool(readers) or id(weights) in self.fetched
            made.attrs = {**attrs, "lies": self._is_merged(result.outputs[0]), "keeps": keeps}
            return made
        places = [self.position(o) for o in members]
        made = _Fused(fused_scores.opdef, places, max(places))
        made.inputs, made.outputs, made.attrs = [x, y, masks], [weights], attrs
        return made

    def _leads_on(self, variable: Variable, shape: tuple[int, ...]) -> bool:
        names = ("elementwise_add", "scale", "matmul_v2")
        return self.spec(variable).shape == shape and any(self.made_by(variable, n) for n in names)

    def _backward(self, softmax_grad: Operator) -> _Fused | None:
        flow, weights = softmax_grad.inputs
        members, dropout_mask = [softmax_grad], None
        times_mask = self.made_by(flow, "elementwise_mul") if self.alone(flow) else None
        if times_mask is not None:  # after dropout, which multiplies gradients with its mask
            flow, dropout_mask = times_mask.inputs
            members.append(times_mask)
            if not isinstance(dropout_mask, Variable) or self.spec(dropout_mask) != self.spec(weights):
                return None
        values = self.made_by(flow, "matmul_v2") if self.alone(flow) else None
        if values is None or values.attrs.get("trans_x") or not values.attrs.get("trans_y"):
            return None
        g, v = values.inputs
        members.append(values)
        outputs: list[Variable | None] = [None, None, None]
        met, outputs[2] = self._gradient_of_values(g, weights, dropout_mask is not None, members)
        times, scores = self._scaled(self._itself(softmax_grad.outputs[0], members), members)
        scores = self._itself(scores, members)
        found = self._from_scores(scores)
        if found is None:
            return None
        (of_x, y), (of_y, x), turned = found
        members += [o for o in (of_x, of_y) if o is not None]
        outputs[:2] = [o and o.outputs[0] for o in (of_x, of_y)]
        after, result = None, outputs[0]
        if result is not None:
            after, outputs[0] = self._scaled(result, members)
        if x is None or y is None or not self._alike(x, y, v, g):
            return None
        places = [self.position(o) for o in members]
        made = _Fused(fused_attention_grad.opdef, places, min(places))
        dropped = None if met is weights else met
        made.inputs, made.outputs, made.left = [g, weights, x, y, v, dropped, dropout_mask], outputs, 2
        made.attrs = {
            "times": times,
            "after": after,
            "turned": turned,
            "lies": tuple([o is not None and self._is_merged(o) for o in outputs]),
            "wanted": tuple([o is not None for o in outputs]),
        }
        return made

    def _gradient_of_values(
        self, g: Variable, weights: Variable, dropped: bool, members: list[Operator]
    ) -> tuple[Variable, Variable | None]:
        """The weights that the values were multiplied with, ``dropped`` ones or not, and the gradient of the
        values, whose operator is added to ``members``."""
        for of_v in self.read_by(g, "matmul_v2"):
            left, right = of_v.inputs
            if right is not g or not of_v.attrs.get("trans_x") or of_v.attrs.get("trans_y"):
                continue
            if self.spec(left) == self.spec(weights) if dropped else left is weights:
                members.append(of_v)
                return left, of_v.outputs[0]
        return weights, None

    def _scaled(self, variable: Variable, members: list[Operator]) -> tuple[float | None, Variable]:
        """A value after the one operator that reads it, if that is a scale, and its factor; the operator is
        added to ``members``."""
        if not self.alone(variable):
            return None, variable
        scale = next(iter(self.read_by(variable, "scale")), None)
        times = self.plain_scale(scale)
        if scale is None or times is None:
            return None, variable
        members.append(scale)
        (result,) = scale.outputs
        return times, result

    def _itself(self, variable: Variable, members: list[Operator]) -> Variable:
        """It under its last name; the operators that only name it are added to ``members``."""
        while self.alone(variable) and (shared := self.read_by(variable, "share_data")):
            members += shared
            (variable,) = shared[0].outputs
        return variable

    def _from_scores(self, scores: Variable) -> Any:
        """The products of the gradient of scores with y and with x, with those, and the layout of y."""
        of_x = of_y = x = y = None
        turns = set()
        for reader in self.read_by(scores, "matmul_v2"):
            left, right = reader.inputs
            trans_x, trans_y = (bool(reader.attrs.get(n)) for n in ("trans_x", "trans_y"))
            if left is scores and not trans_x and of_x is None and right is not scores:
                of_x, y = reader, right
                turns.add(trans_y)
            elif left is scores and trans_x and not trans_y and of_y is None and right is not scores:
                of_y, x = reader, right
                turns.add(False)
            elif right is scores and trans_x and not trans_y and of_y is None and left is not scores:
                of_y, x = reader, left
                turns.add(True)
        count = len(self.readers.get(id(scores), ()))
        if count != (of_x is not None) + (of_y is not None) or len(turns) != 1 or id(scores) in self.fetched:
            return None
        return (of_x, y), (of_y, x), turns.pop()

    # -- conditions --------------------------------------------------------------------------------------
    def _alike(self, *values: Variable) -> bool:
        """Whether they have the same leading dimensions and dtype."""
        found = [self.spec(v) for v in values]
        first = found[0]
        return all(
            s.known and s.ndim == first.ndim and s.shape[:-2] == first.shape[:-2] and s.dtype is first.dtype
            for s in found
        )

    def _fits(self, masks: Sequence[Any], shape: tuple[int, ...]) -> bool:
        """Whether masks can be added to scores of this shape."""
        for mask in masks:
            if not isinstance(mask, Variable):
                return False
            own = self.spec(mask)
            pairs = zip(reversed(own.shape), reversed(shape), strict=False)
            if not own.known or own.ndim > len(shape) or any(a not in (1, b) for a, b in pairs):
                return False
        return True

    def _is_merged(self, variable: Variable) -> bool:
        """Whether it is only read as adjacent heads, as rows of all heads."""
        if self.spec(variable).ndim != 4 or not self.alone(variable):
            return False
        for turn in self.read_by(variable, "transpose2"):
            (turned,) = turn.outputs
            readers = self.readers.get(id(turned), ())
            merged = all(self.ops[n].opdef.name == "reshape2" for n in readers)
            return (
                [int(a) for a in turn.attrs["axis"]] == [0, 2, 1, 3]
                and bool(readers)
                and merged
                and (id(turned) not in self.fetched)
            )
        return False

    def _stays(self, found: _Fused) -> bool:
        """Whether nothing that it reads or writes is overwritten, or read too early, between its
        operators."""
        read = self.live.owners(variables_of(found.inputs))
        own = [v for n in found.members for v in variables_of(self.ops[n].outputs)]
        if any(id(v) in self.known or id(v) not in self.once or v.persistable for v in own):
            return False
        first, last = found.members[0], found.members[-1]
        if any(self.makers.get(id(v), -1) >= found.place for v in variables_of(found.inputs)):
            return False
        return all(read.isdisjoint(self.live.changed_by(o)) for o in self.ops[first : last + 1])

    # -- in their place --------------------------------------------------------------------------------------
    def fold_scales(self, fused: Sequence[_Fused]) -> None:
        """Let the fused operators scale x themselves, where nothing else reads the scaled value."""
        for one in fused:
            x = one.inputs[one.left]
            scale = self.made_by(x, "scale")
            factor = self.plain_scale(scale)
            if scale is None or factor is None or id(x) in self.fetched:
                continue
            users = [f for f in fused if f.inputs[f.left] is x]
            inside = {n for f in users for n in f.members}
            (source,) = scale.inputs
            read = self.live.owner(source)
            begin, end = self.position(scale), max(f.place for f in users)
            written = any(read in self.live.changed_by(o) for o in self.ops[begin : end + 1])
            if written or not inside.issuperset(self.readers[id(x)]):
                continue
            for each in users:
                each.inputs[each.left] = source
                each.attrs["factor"] = factor

    def replaced(self, fused: Sequence[_Fused]) -> list[Operator]:
        """The operators of the plan with the fused ones in it."""
        at = {f.place: f for f in fused}
        gone = {n for f in fused for n in f.members}
        made: list[Operator] = []
        for position, operator in enumerate(self.ops):
            if position in at:
                one = at[position]
                parts = [self.ops[n] for n in one.members]
                fresh = Operator(one.opdef, tuple(one.inputs), one.attrs)
                fresh.outputs = tuple(one.outputs)
                fresh.take_place(*parts)
                fresh.notes = {"parts": tuple(parts)}
                made.append(fresh)
            elif position not in gone:
                made.append(operator)
        return made
