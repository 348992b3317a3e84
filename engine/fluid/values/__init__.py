"""Values of fluid: the eager Variable, the form of results, and arrays of one element."""
