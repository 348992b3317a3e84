"""Products of matrices on a GPU."""
