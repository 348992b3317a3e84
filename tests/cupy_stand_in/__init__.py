"""A strict stand-in for CuPy, for machines without a GPU; see decision 0106 in docs/decisions."""
