"""Norms over batches and rows on a GPU."""
