"""Which page each widget and controller of the application belongs to, and what every controller has."""

from __future__ import annotations

from typing import Protocol

# What comes with a page behind the first one: its widgets and its controller.
PAGE_OF = {
    **dict.fromkeys(("data", "data_page", "data_panel"), "data"),
    **dict.fromkeys(("code", "code_page", "code_panel"), "code"),
    **dict.fromkeys(("runs_page", "runs_table", "diagrams"), "runs"),
    **dict.fromkeys(("graph", "graph_page", "inspector"), "graph"),
    **dict.fromkeys(("export", "export_page", "export_panel"), "export"),
    **dict.fromkeys(("debug", "debug_page", "debug_panel"), "debug"),
    **dict.fromkeys(("predict", "predict_page", "model_panel"), "predict"),
}


class Closes(Protocol):
    """What gives up its connections at the end: every controller."""

    def close(self) -> None: ...
