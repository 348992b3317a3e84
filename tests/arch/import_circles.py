"""Count the import circles of packages: ``python -m tests.arch.import_circles studio widgets``.

A circle is a group of modules that import each other, directly or through the group: a strongly
connected part of the import graph with more than one module. Imports inside functions count. Those below
``if TYPE_CHECKING`` never run: circles that only they close are counted apart.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import grimp


def import_circles(*packages: str, types: bool = False) -> list[list[str]]:
    """The circles within the packages, each sorted by module name, the largest first.

    With ``types`` imports below ``if TYPE_CHECKING`` count too.
    """
    graph = grimp.build_graph(*packages, exclude_type_checking_imports=not types, cache_dir=None)
    edges = {module: sorted(graph.find_modules_directly_imported_by(module)) for module in graph.modules}
    found = [sorted(part) for part in _strongly_connected(edges) if len(part) > 1]
    return sorted(found, key=lambda part: (-len(part), part))


def _strongly_connected(edges: dict[str, list[str]]) -> Iterator[list[str]]:
    """The strongly connected parts of a graph (Tarjan 1972, without recursion)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    on_stack: set[str] = set()
    for root in sorted(edges):
        if root in index:
            continue
        path: list[tuple[str, Iterator[str]]] = [(root, iter(edges[root]))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while path:
            node, targets = path[-1]
            for target in targets:
                if target not in index:
                    index[target] = low[target] = len(index)
                    stack.append(target)
                    on_stack.add(target)
                    path.append((target, iter(edges[target])))
                    break
                if target in on_stack:
                    low[node] = min(low[node], index[target])
            else:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[node])
                if low[node] == index[node]:
                    part = []
                    while not part or part[-1] != node:
                        part.append(stack.pop())
                        on_stack.discard(part[-1])
                    yield part


def main(packages: list[str]) -> None:
    """Print each circle with its modules, and how many there are: of those at run time, and with types."""
    for types in (False, True):
        circles = import_circles(*packages, types=types)
        for circle in circles:
            print(f"{len(circle)} modules: {', '.join(circle)}")
        counted = "with imports for types" if types else "at run time"
        print(f"{', '.join(packages)}: {len(circles)} import circles {counted}")


if __name__ == "__main__":
    main(sys.argv[1:] or ["studio", "widgets"])
