"""Pairs a side with a Program after passes, by the Variables that the Program had before them too."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from engine.comparison.alignment import Pairs
from engine.comparison.compare import Pair, ValuePairs
from engine.comparison.recorded import Applied, Side
from engine.comparison.values import Value

_Key = tuple[str, tuple[int, ...]]


class ByVariable:
    """The values of side ``a`` under the names of the Variables of ``built``, whose operators are those of
    ``a`` by the positions in ``found``."""

    def __init__(self, a: Side, built: Side, found: Pairs) -> None:
        self._values: dict[_Key, Value] = {(each.name, ()): each for each in built.inputs}
        self._makers: dict[_Key, tuple[Applied, Applied]] = {}
        self._readers: dict[str, list[tuple[Applied, Applied]]] = {}
        self._built_of: dict[int, Applied] = {}
        self._aliases: Mapping[str, str] = {}
        for x, y in found:
            one, other = a.operators[x], built.operators[y]
            self._built_of[id(one)] = other
            for value, variable in zip(one.outputs, other.outputs, strict=False):
                self._values[variable.name, other.iterations] = value
                self._makers[variable.name, other.iterations] = (one, other)
            for name in other.variables.values():
                self._readers.setdefault(name, []).append((one, other))
        self._names = {name for name, _ in self._values} | set(self._readers)

    def pairs(self, b: Side) -> tuple[list[Pair], Callable[[Applied], str]]:
        """The operators of ``b`` with the values of ``a``; and what says for an operator of ``a`` the fused
        one of ``b`` that does it."""
        self._aliases = b.aliases
        computed = {self._former(v.name): each for each in b.operators for v in each.outputs}
        found = []
        for each in b.operators:
            if not each.contains and (pair := self._pair(each, computed)) is not None:
                found.append(pair)
        return found, lambda operator: self._within(operator, computed)

    def _former(self, name: str) -> str:
        """The name that a Variable had before the passes."""
        for _ in range(len(self._aliases)):
            if name in self._names or name not in self._aliases:
                break
            name = self._aliases[name]
        return name

    def _pair(self, b: Applied, computed: dict[str, Applied]) -> Pair | None:
        outputs: ValuePairs = [(self._value(each.name, b.iterations), each) for each in b.outputs]
        makers = [self._makers.get((self._former(each.name), b.iterations)) for each in b.outputs]
        maker = next((each for each in makers if each is not None), None)
        if maker is None:
            return None
        inputs: ValuePairs = [
            (None if each is None else self._value(each.name, b.iterations), each) for each in b.inputs
        ]
        given: ValuePairs = []
        for n, gradient in enumerate(b.given):
            source = makers[n] if n < len(makers) else None
            if source is not None and n < len(b.outputs):
                name = self._former(b.outputs[n].name)
                at = [v.name for v in source[1].outputs].index(name)
                given.append((source[0].given[at] if at < len(source[0].given) else None, gradient))
        made: ValuePairs = []
        for gradient in b.made:
            read = self._former(b.variables.get(gradient.name, ""))
            made.append((self._sent_back(b, read, computed), gradient))
        weights: ValuePairs = []
        if len(maker[0].weights) == len(b.weights):
            weights = list(zip(maker[0].weights, b.weights, strict=True))
        return Pair(maker[0], b, inputs, outputs, weights, given, made)

    def _value(self, name: str, iterations: tuple[int, ...]) -> Value | None:
        """The value of a Variable in these iterations, or of one outside of the innermost loops."""
        name = self._former(name)
        for depth in range(len(iterations), -1, -1):
            found = self._values.get((name, iterations[:depth]))
            if found is not None:
                return found
        return None

    def _sent_back(self, b: Applied, name: str, computed: dict[str, Applied]) -> Value | None:
        """The gradient that ``a`` sends back to a Variable from the operators that ``b`` is made of; None
        where there are several of them."""
        results = {self._former(value.name) for value in b.outputs}
        found = []
        for one, built in self._readers.get(name, ()):
            names = [value.name for value in built.outputs]
            if built.iterations == b.iterations and (
                results.intersection(names) or not any(each in computed for each in names)
            ):
                for parameter, variable in built.variables.items():
                    found += [v for v in one.made if variable == name and v.name == parameter]
        return found[0] if len(found) == 1 else None

    def _within(self, operator: Applied, computed: dict[str, Applied]) -> str:
        built = self._built_of.get(id(operator))
        seen: set[int] = set()
        while built is not None and id(built) not in seen:
            seen.add(id(built))
            readers = [other for value in built.outputs for _, other in self._readers.get(value.name, ())]
            built = readers[0] if readers else None
            for value in built.outputs if built is not None else ():
                if value.name in computed:
                    return computed[value.name].type
        return ""
