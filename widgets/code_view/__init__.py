"""Source text that can be read, marked and clicked."""

from widgets.code_view.view import CodeView

__all__ = ["CodeView"]
