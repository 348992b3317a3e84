"""Which nodes of a graph are in circles."""

from __future__ import annotations

from collections.abc import Sequence


def in_circles(sources: Sequence[Sequence[int]]) -> list[list[int]]:
    """The strongly connected components (Tarjan's method without recursion); ``sources`` of each node."""
    count = len(sources)
    number = [-1] * count
    low = [0] * count
    active = [False] * count
    path: list[int] = []
    found: list[list[int]] = []
    reached = 0
    for first in range(count):
        if number[first] >= 0:
            continue
        work = [(first, 0)]
        while work:
            node, at = work.pop()
            if at == 0:
                number[node] = low[node] = reached
                reached += 1
                path.append(node)
                active[node] = True
            else:
                low[node] = min(low[node], low[sources[node][at - 1]])
            entered = False
            for n in range(at, len(sources[node])):
                other = sources[node][n]
                if number[other] < 0:
                    work += [(node, n + 1), (other, 0)]
                    entered = True
                    break
                if active[other]:
                    low[node] = min(low[node], number[other])
            if entered or low[node] != number[node]:
                continue
            members = []
            while True:
                member = path.pop()
                active[member] = False
                members.append(member)
                if member == node:
                    break
            found.append(members)
    return found
