"""Reductions, softmax and losses of rows on a GPU."""
