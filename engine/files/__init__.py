"""Every file that the product reads or writes: plain values in HDF5, safe to load.

This room works on plain values and arrays only; it does not import Tensor or Program.
"""
