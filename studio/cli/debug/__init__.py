"""The command debug."""
