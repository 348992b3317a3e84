"""Operators on signals: Fourier transforms, and signals cut into overlapping frames."""
