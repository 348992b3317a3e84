"""Compiled convolutions and poolings, and chains of them for few samples."""
