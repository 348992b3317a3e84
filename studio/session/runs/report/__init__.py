"""One HTML file about a run, with everything in it."""

from studio.session.runs.report.report_page import write_report

__all__ = ["write_report"]
