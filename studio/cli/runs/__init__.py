"""The list of runs and what is known of each: commands."""
