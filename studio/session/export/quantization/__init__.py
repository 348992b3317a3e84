"""Quantization in the studio: what is chosen, the report that is shown, and its words for files."""
