"""Program -> Program, one subject a file."""
