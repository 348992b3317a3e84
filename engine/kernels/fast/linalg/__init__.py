"""Compiled products of matrices."""
