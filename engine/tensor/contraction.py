"""Sums of products over named dimensions: einsum and tensordot."""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, ShapeError
from engine.core.operators.infer import normal_axis
from engine.eager.tensor import Tensor
from engine.ops.arrays import shape as shape_ops
from engine.ops.elementwise import arithmetic as arithmetic_ops
from engine.ops.linalg import diagonal as diagonal_ops
from engine.ops.linalg import products as ops
from engine.ops.reductions import reduce as reduce_ops
from engine.program.build.calls import takes_name
from engine.tensor.arguments.factories import require_tensor
from engine.tensor.arguments.promote import operands as brought_together
from engine.tensor.manipulation import reshape
from engine.tensor.tensor_like import AnyTensor, IntegersLike

# A dimension of an operand: a letter, or the n-th of those that an ellipsis stands for, from the right.
Label = str | int


class _Term:
    """A tensor whose dimensions have names."""

    def __init__(self, tensor: Any, labels: Sequence[Label]) -> None:
        self.tensor = tensor
        self.labels = list(labels)

    def size(self, label: Label) -> int:
        return int(self.dimension(label))

    def dimension(self, label: Label) -> Any:
        """The size of a label; one that equals -1 and can be computed with where it is not known."""
        return self.tensor.shape[self.labels.index(label)]

    def without(self, labels: Sequence[Label]) -> _Term:
        """Summed over ``labels``."""
        gone = [n for n, label in enumerate(self.labels) if label in labels]
        if not gone:
            return self
        summed = reduce_ops.sum(self.tensor, axis=gone)
        return _Term(summed, [label for label in self.labels if label not in labels])

    def squeezed(self, labels: Sequence[Label]) -> _Term:
        """Without ``labels``, whose dimensions are 1."""
        gone = [n for n, label in enumerate(self.labels) if label in labels]
        if not gone:
            return self
        retained = [label for label in self.labels if label not in labels]
        return _Term(shape_ops.squeeze(self.tensor, axes=gone), retained)

    def ordered(self, labels: Sequence[Label]) -> Any:
        """The tensor with its dimensions in the order of ``labels``."""
        order = [self.labels.index(label) for label in labels]
        if order == list(range(len(order))):
            return self.tensor
        return shape_ops.transpose(self.tensor, axis=order)

    def spread(self, labels: Sequence[Label]) -> Any:
        """The tensor with dimensions of 1 for those of ``labels`` that it lacks, in their order."""
        made = self.ordered([label for label in labels if label in self.labels])
        missing = [n for n, label in enumerate(labels) if label not in self.labels]
        return shape_ops.unsqueeze(made, axes=missing) if missing else made


def einsum(equation: str, *operands: Any) -> Any:
    """The sum of products of the operands that ``equation`` writes with indices, as in "ij,jk->ik".

    An index that is missing after "->" is summed over, one that appears twice in an operand takes its
    diagonal, "..." means dimensions that are broadcast. Without "->" the result has the indices that appear
    once, in alphabetical order. Of three operands and more those are multiplied first whose product is
    smallest. Raises ArgumentError for an equation that can't be read, ShapeError for one that does not fit.
    """
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = tuple(operands[0])
    terms, output = _parsed(equation, operands)
    sizes = _sizes(equation, terms)
    terms = [_with_diagonals(term) for term in terms]
    while len(terms) > 1:
        first, second = _next_pair(terms, output, sizes)
        later = {label for n, t in enumerate(terms) if n not in (first, second) for label in t.labels}
        product = _product(terms[first], terms[second], later | set(output))
        terms = [t for n, t in enumerate(terms) if n not in (first, second)]
        terms.append(product)
    last = terms[0].without([label for label in terms[0].labels if label not in output])
    found = last.ordered(output)
    return shape_ops.assign(found) if any(found is x for x in operands) else found


def _parsed(equation: str, operands: Sequence[Any]) -> tuple[list[_Term], list[Label]]:
    where = f"einsum: equation {equation!r}"
    if not isinstance(equation, str):
        raise ArgumentError(f"einsum: the equation must be text: got {type(equation).__name__}")
    text = equation.replace(" ", "")
    left, arrow, right = text.partition("->")
    inputs = left.split(",")
    if len(inputs) != len(operands) or not operands:
        raise ArgumentError(f"{where} has {len(inputs)} operands: got {len(operands)}; give one each")
    require_tensor("einsum", **{f"operands[{n}]": x for n, x in enumerate(operands)})
    terms = [_term(where, part, x) for part, x in zip(inputs, operands, strict=True)]
    widest = max((label for t in terms for label in t.labels if isinstance(label, int)), default=-1) + 1
    ellipsis: list[Label] = [*reversed(range(widest))]
    if not arrow:
        letters = [label for t in terms for label in t.labels if isinstance(label, str)]
        return terms, ellipsis + sorted(x for x in set(letters) if letters.count(x) == 1)
    letters = _letters(where, right)
    output: list[Label] = []
    for letter in letters:
        output += ellipsis if letter == "..." else [letter]
    known = {label for t in terms for label in t.labels}
    if len(set(letters)) != len(letters) or any(label not in known for label in output):
        raise ArgumentError(f"{where}: {right!r} must name indices of the operands, each once")
    return terms, output


def _letters(where: str, text: str) -> list[str]:
    """The indices of one operand, an ellipsis as one of them."""
    head, dots, tail = text.partition("...")
    letters = [*head, *(["..."] if dots else []), *tail]
    if any(letter != "..." and not (letter.isascii() and letter.isalpha()) for letter in letters):
        raise ArgumentError(f"{where}: {text!r} must hold letters and at most one '...'")
    return letters


def _term(where: str, text: str, x: Any) -> _Term:
    letters = _letters(where, text)
    more = x.ndim - len(letters) + ("..." in letters)
    if more < 0 or (more and "..." not in letters):
        raise ShapeError(
            f"{where}: {text!r} has {len(letters)} indices, its operand shape {list(x.shape)}; give one for "
            "each dimension, or '...' for the rest"
        )
    labels: list[Label] = []
    for letter in letters:
        labels += list(range(more))[::-1] if letter == "..." else [letter]
    return _Term(x, labels)


def _sizes(equation: str, terms: Sequence[_Term]) -> dict[Label, int]:
    """The size of each label; -1 where it is not known."""
    sizes: dict[Label, int] = {}
    for term in terms:
        for label, size in zip(term.labels, term.tensor.shape, strict=True):
            before = sizes.get(label, 1)
            if before not in (1, -1) and size not in (1, -1, before):
                shapes = [list(t.tensor.shape) for t in terms]
                raise ShapeError(
                    f"einsum: equation {equation!r}: index {label if isinstance(label, str) else '...'} is "
                    f"{before} and {int(size)} in shapes {shapes}; make them equal or 1"
                )
            sizes[label] = max(before, int(size)) if -1 not in (before, size) else -1
    return sizes


def _with_diagonals(term: _Term) -> _Term:
    for label in set(term.labels):
        while term.labels.count(label) > 1:
            first = term.labels.index(label)
            second = term.labels.index(label, first + 1)
            rest = [other for n, other in enumerate(term.labels) if n not in (first, second)]
            shape = term.tensor.shape
            if shape[first] != shape[second] and -1 not in (shape[first], shape[second]):
                raise ShapeError(
                    f"einsum: index {label} appears twice in an operand of shape {list(shape)}; "
                    "its dimensions must be equal"
                )
            taken = diagonal_ops.diagonal(term.tensor, offset=0, axis1=first, axis2=second)
            term = _Term(taken, [*rest, label])
    return term


def _next_pair(terms: Sequence[_Term], output: Sequence[Label], sizes: dict[Label, int]) -> tuple[int, int]:
    """The pair whose product is smallest compared with its factors; of several the one with the least
    work."""
    if len(terms) == 2:
        return 0, 1

    def volume(labels: set[Label]) -> int:
        total = 1
        for label in labels:
            total *= sizes[label] if sizes[label] >= 0 else 64  # not known: as good a guess as any
        return total

    best: tuple[int, int, int, int] | None = None
    for first, second in itertools.combinations(range(len(terms)), 2):
        a, b = set(terms[first].labels), set(terms[second].labels)
        later = {label for n, t in enumerate(terms) if n not in (first, second) for label in t.labels}
        result = (a | b) & (later | set(output))
        gain = volume(result) - volume(a) - volume(b)
        rank = (gain, volume(a | b), first, second)
        best = rank if best is None else min(best, rank)
    assert best is not None
    return best[2], best[3]


def _product(a: _Term, b: _Term, retained: set[Label]) -> _Term:
    """The product of two terms, summed over the labels that are not ``retained``."""
    x, y = brought_together("einsum", a.tensor, b.tensor)
    a, b = _simplified(_Term(x, a.labels), _Term(y, b.labels), retained)
    shared = [label for label in a.labels if label in b.labels]
    batch = [label for label in shared if label in retained]
    summed = [label for label in shared if label not in retained]
    left = [label for label in a.labels if label not in shared]
    right = [label for label in b.labels if label not in shared]
    result = [*batch, *left, *right]
    if not summed or 0 in (*x.shape, *y.shape):
        order = [*result, *summed]
        product = arithmetic_ops.multiply(a.spread(order), b.spread(order))
        return _Term(product, order).without(summed)
    groups = [len(batch), len(left), len(summed)], [len(batch), len(summed), len(right)]
    shape = [*(a.dimension(n) for n in (*batch, *left)), *(b.dimension(n) for n in right)]
    x = _grouped(a.ordered([*batch, *left, *summed]), groups[0])
    y = _grouped(b.ordered([*batch, *summed, *right]), groups[1])
    product = ops.matmul(x, y)
    if (len(batch), len(left), len(right)) != (1, 1, 1):
        product = reshape(product, shape)
    return _Term(product, result)


def _simplified(a: _Term, b: _Term, retained: set[Label]) -> tuple[_Term, _Term]:
    """The terms without labels of size 1 that the other stretches, and summed over those that are needed no
    more and that the other does not have."""
    shared = [label for label in a.labels if label in b.labels]
    stretched = [label for label in shared if a.size(label) != b.size(label)]
    a = a.squeezed([label for label in stretched if a.size(label) == 1])
    b = b.squeezed([label for label in stretched if b.size(label) == 1])
    a = a.without([label for label in a.labels if label not in b.labels and label not in retained])
    b = b.without([label for label in b.labels if label not in a.labels and label not in retained])
    return a, b


def _grouped(x: Any, counts: Sequence[int]) -> Any:
    """x with groups of ``counts`` dimensions joined; 0 gives a dimension of 1.

    Sizes that are not known are computed where several groups have some.
    """
    if list(counts) == [1, 1, 1]:
        return x
    shape: list[Any] = []
    at, unknown = 0, sum(any(d == -1 for d in x.shape[n : n + count]) for n, count in _places(counts))
    for count in counts:
        sizes = list(x.shape[at : at + count])
        if any(d == -1 for d in sizes) and (unknown == 1 or len(sizes) == 1):
            shape.append(-1 if unknown == 1 else sizes[0])
        else:
            shape.append(functools.reduce(operator.mul, sizes, 1))
        at += count
    return reshape(x, shape)


def _places(counts: Sequence[int]) -> list[tuple[int, int]]:
    """Where each group begins, and its length."""
    return list(zip(itertools.accumulate(counts, initial=0), counts, strict=False))


@takes_name
def tensordot(
    x: AnyTensor, y: AnyTensor, axes: IntegersLike | Sequence[Any] = 2, name: str | None = None
) -> Any:
    """The sum of products over pairs of dimensions.

    ``axes`` is how many of the last of x and the first of y are summed over, or a list of two lists that name
    them (more are not looked at); one list is for both. The result has the other dimensions of x, then those
    of y.
    """
    require_tensor("tensordot", x=x, y=y)
    left, right = _pairs(x, y, axes)
    names: list[Label] = [*range(x.ndim + y.ndim)]
    of_x, of_y = names[: x.ndim], names[x.ndim :]
    for a, b in zip(left, right, strict=True):
        if x.shape[a] != y.shape[b] and not {1, -1} & {x.shape[a], y.shape[b]}:
            raise ShapeError(
                f"tensordot: x has shape {list(x.shape)}, y {list(y.shape)}: dimension {a} of x and {b} of y "
                "must be equal"
            )
        of_y[b] = of_x[a]
    gone = {of_x[a] for a in left}
    output = [n for n in [*of_x, *of_y] if n not in gone]
    found = _product(_Term(x, of_x), _Term(y, of_y), set(output))
    return found.ordered(output)


def _pairs(x: Any, y: Any, axes: Any) -> tuple[list[int], list[int]]:
    if isinstance(axes, Tensor):
        axes = axes.tolist()
    if isinstance(axes, (int, np.integer)):
        if not 0 <= axes <= min(x.ndim, y.ndim):
            raise ArgumentError(
                f"tensordot: axes is {axes}: x has {x.ndim} dimensions, y {y.ndim}; use at most the fewer"
            )
        return list(range(x.ndim - axes, x.ndim)), list(range(axes))
    lists = [a.tolist() if isinstance(a, (Tensor, np.ndarray)) else a for a in axes]
    if all(isinstance(a, (int, np.integer)) for a in lists):
        lists = [lists, lists]
    elif len(lists) == 1:
        lists = [lists[0], lists[0]]
    lists = lists[:2]  # as in Paddle the first two count
    if any(not isinstance(a, (list, tuple)) for a in lists):
        raise ArgumentError(f"tensordot: axes must be a number or two lists of dimensions: got {axes}")
    left, right = list(lists[0]), list(lists[1])
    # As in Paddle the shorter list continues like the longer one.
    left, right = left + right[len(left) :], right + left[len(right) :]
    return (
        [normal_axis("tensordot", int(a), x.ndim) for a in left],
        [normal_axis("tensordot", int(a), y.ndim) for a in right],
    )
