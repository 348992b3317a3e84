"""The backends, and kernels that are faster on one of them than the default ones of ``engine.ops``."""
