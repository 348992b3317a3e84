"""Suggested settings: the job that finds them, and what the window shows of them."""
