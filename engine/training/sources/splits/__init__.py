"""Training, validation and test samples of a source, and samples added to them."""
