"""Quantizes runs and models: with calibration samples, or trained on with quantization."""
