"""Quantization: networks and Programs whose weights and values are small integers times a scale."""
