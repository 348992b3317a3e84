"""The command graph."""
