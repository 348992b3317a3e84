"""Source text that can be read, marked and clicked, or written, with what is known of each line beside it."""

from widgets.code_view.editor import CodeEditor, Squiggle
from widgets.code_view.find_bar import FindBar
from widgets.code_view.paired import PairedScroll
from widgets.code_view.view import CodeView

__all__ = ["CodeEditor", "CodeView", "FindBar", "PairedScroll", "Squiggle"]
