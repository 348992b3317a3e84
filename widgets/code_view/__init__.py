"""Views of source text: read-only with marks and clicks, or editable, with notes next to each line."""

from widgets.code_view.changed_code import ChangedCode
from widgets.code_view.editor import CodeEditor, Squiggle
from widgets.code_view.find_bar import FindBar
from widgets.code_view.paired import PairedScroll
from widgets.code_view.view import CodeView

__all__ = ["ChangedCode", "CodeEditor", "CodeView", "FindBar", "PairedScroll", "Squiggle"]
