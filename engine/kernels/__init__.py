"""Kernels that are faster on one backend than the default ones of ``engine.ops``, and the backends themselves."""
