"""The list of runs and what is known of each: pages, panels and dialogs."""
