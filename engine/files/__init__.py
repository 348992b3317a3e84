"""Every file that the product reads or writes: plain values in HDF5, safe to load; knows no Tensor and no
Program."""
