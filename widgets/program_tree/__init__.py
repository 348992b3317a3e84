"""A Program as a tree: blocks, operators, variables."""

from widgets.program_tree.data import BlockData, OperatorData, ProgramData, VariableData
from widgets.program_tree.tree import ProgramTree

__all__ = ["BlockData", "OperatorData", "ProgramData", "ProgramTree", "VariableData"]
