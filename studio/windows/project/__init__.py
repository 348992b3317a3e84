"""The project, its files and preferences: pages, panels and dialogs."""
