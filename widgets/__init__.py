"""Reusable Qt widgets that speak Qt and plain values only."""
