"""Compiled norms over batches and rows."""
