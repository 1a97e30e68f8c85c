"""The command line: thin commands over `assemble`, and outcomes to exit codes. Nothing imports this package."""
