"""Elements taken and added by position on a GPU."""
