"""A naive referee, written from RULES.md alone, against which the engine is held."""
