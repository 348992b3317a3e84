"""What differs between two Programs, as plain values: nothing is executed.

``compare_structure`` compares two Programs in their plain form, also damaged ones.
"""

from engine.jit.saved.structure.changes import Detail, OperatorChange, Renamed, Structure
from engine.jit.saved.structure.compare import compare_structure
from engine.jit.saved.structure.listing import ListedOperator, listed_operators, text_of
from engine.jit.saved.structure.values import same_value

__all__ = [
    "Detail",
    "ListedOperator",
    "OperatorChange",
    "Renamed",
    "Structure",
    "compare_structure",
    "listed_operators",
    "same_value",
    "text_of",
]
