"""Attention and recurrent layers on a GPU."""
