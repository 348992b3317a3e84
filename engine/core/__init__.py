"""The foundation of the engine: it imports NumPy and the standard library only."""
