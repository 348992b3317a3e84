"""Joins the diagrams of runs to the session."""
