"""Where training data comes from: one kind of source a file, each found by what lies at a path."""
