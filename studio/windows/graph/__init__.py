"""The page Graph: pages, panels and dialogs."""
