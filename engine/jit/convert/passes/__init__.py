"""The passes in their order; each is one construct and takes a module's tree to a module's tree."""

from __future__ import annotations

from engine.jit.convert.passes import (
    asserts,
    breaks,
    calls,
    comparisons,
    comprehensions,
    conditionals,
    continues,
    declarations,
    fors,
    handlers,
    ifs,
    local_names,
    logic,
    reads,
    returns,
    shapes,
    starred,
    subscripts,
    supers,
    texts,
    unpacking,
    whiles,
)
from engine.jit.convert.transform import Pass

PASSES: tuple[tuple[str, Pass], ...] = (
    ("declarations", declarations.run),
    ("supers", supers.run),
    ("handlers", handlers.run),
    ("comprehensions", comprehensions.run),
    ("returns", returns.run),
    ("continues", continues.run),
    ("breaks", breaks.run),
    ("reads", reads.run),
    ("asserts", asserts.run),
    ("comparisons", comparisons.run),
    ("logic", logic.run),
    ("conditionals", conditionals.run),
    ("shapes", shapes.run),
    ("starred", starred.run),
    ("unpacking", unpacking.run),
    ("subscripts", subscripts.run),
    ("texts", texts.run),
    ("calls", calls.run),
    ("fors", fors.run),
    ("whiles", whiles.run),
    ("ifs", ifs.run),
    ("local_names", local_names.run),
)
