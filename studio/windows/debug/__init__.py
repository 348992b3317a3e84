"""The page Debug: pages, panels and dialogs."""
