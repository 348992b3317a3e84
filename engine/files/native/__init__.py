"""The format of our own files: a user block with hashes, then HDF5 with plain values in it."""
