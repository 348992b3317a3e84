"""Why a model answers as it does: panels and dialogs."""
