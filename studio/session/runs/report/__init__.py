"""One file about a run, with everything in it: HTML, or the page that is drawn as PDF."""

from studio.session.runs.report.report_page import is_pdf, page_of_run, write_report

__all__ = ["is_pdf", "page_of_run", "write_report"]
