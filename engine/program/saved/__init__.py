"""Programs as plain values for files, and the checks of Programs that were read from files."""
