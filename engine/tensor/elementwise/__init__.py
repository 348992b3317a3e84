"""Functions of each element by itself, besides arithmetic and logic."""
