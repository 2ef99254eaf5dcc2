"""What is said where a package is missing that most can do without."""


def missing(package: str, extra: str) -> ModuleNotFoundError:
    """The error to raise: `package` is not installed, and comes with the extra of this name."""
    return ModuleNotFoundError(f"{package} is not installed; run: pip install 'fives-env[{extra}]'")
