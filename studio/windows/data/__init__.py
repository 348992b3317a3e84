"""The page Data and corrections: pages, panels and dialogs."""
