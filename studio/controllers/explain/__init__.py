"""Why a model answers as it does: joins view models to widgets."""
