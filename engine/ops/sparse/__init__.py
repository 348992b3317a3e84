"""Operators on the positions and the values of sparse tensors.

Positions are ``indices``, integers [dimensions, n]: column k is the position of value k. Values are [n, ...],
their further dimensions are stored densely. A row of values has one number everywhere, its position in that
order.
"""
