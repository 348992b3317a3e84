"""Compiled attention and recurrent layers."""
