"""What everything else stands on: imports NumPy and the standard library only."""
