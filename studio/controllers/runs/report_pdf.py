"""The page of a report as a PDF file, in the window or without one."""

from __future__ import annotations

from PySide6.QtGui import QGuiApplication

from widgets.pdf_page import pdf_of

__all__ = ["pdf_of", "pdf_without_window"]


def pdf_without_window(page: str) -> bytes:
    """The page as a PDF file, in a process that has neither a window nor a screen."""
    application = QGuiApplication.instance() or QGuiApplication(["model-studio", "-platform", "offscreen"])
    content = pdf_of(page)
    del application  # alive until here
    return content
