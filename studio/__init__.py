"""The application: windows over controllers over a Qt-free session."""
