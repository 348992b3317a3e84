"""Compiled reductions and softmax of rows."""
