"""The only reverse-mode code: gradients of one operator, and the walk over the tape."""
