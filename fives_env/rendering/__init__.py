"""Pictures of what a seat sees."""
