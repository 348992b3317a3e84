"""Why a model answers as it does: view models and the client of the explaining process, without Qt."""
