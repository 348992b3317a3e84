"""A Program as a tree: blocks, operators, variables."""

from widgets.program_tree.colors import OperatorColors
from widgets.program_tree.data import BlockData, Later, OperatorData, ProgramData, VariableData
from widgets.program_tree.tree import ProgramTree

__all__ = [
    "BlockData",
    "Later",
    "OperatorColors",
    "OperatorData",
    "ProgramData",
    "ProgramTree",
    "VariableData",
]
