"""Products, decompositions and systems of matrices."""
