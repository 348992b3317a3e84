"""Convolutions and poolings on a GPU."""
