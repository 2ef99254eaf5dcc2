"""Text of others, printed without its control characters."""

import sys


def printable(text: str) -> str:
    """Text in which what does not print, or turns the direction of writing, stands as an escape.

    So that a name can neither move the cursor nor look like another one.
    """
    if text.isprintable():
        return text
    return "".join(
        mark if mark.isprintable() else mark.encode("unicode_escape").decode() for mark in text
    )


def say(text: str, error: bool = False) -> None:
    """Prints one line of any text, on standard output or standard error."""
    print(printable(text), file=sys.stderr if error else sys.stdout)
