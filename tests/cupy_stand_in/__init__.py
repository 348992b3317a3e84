"""A strict stand-in for CuPy, for machines without a GPU; see docs/decisions/0106-cupy-is-stood-in-for.md."""
