"""The page Predict: pages, panels and dialogs."""
