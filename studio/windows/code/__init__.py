"""The page Code: pages, panels and dialogs."""
