"""The main window, its pages and dialogs."""
