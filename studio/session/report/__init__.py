"""One HTML file about a run, with everything in it."""

from studio.session.report.page import write_report

__all__ = ["write_report"]
