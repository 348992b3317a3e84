"""Differences in numbers: joins the dialog to the session."""
