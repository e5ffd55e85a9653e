"""The one exception that graphreach raises for input it cannot use."""

LONGEST = 400
"""Characters of a message; of a longer one the middle is left out."""


class InputError(ValueError):
    """An argument or a file is not usable; the message is one sentence that says which, and what would be right.

    The command line prints the sentence alone and exits with code 2. A value in it that would make it longer than 400
    characters is shortened.

    Example:
        >>> raise InputError("num_walks must be at least 1, got 0")
        Traceback (most recent call last):
        ...
        graphreach.errors.InputError: num_walks must be at least 1, got 0
    """

    def __init__(self, *arguments: object) -> None:
        super().__init__(*(_one_line(each) if isinstance(each, str) else each for each in arguments))


def _one_line(text: str) -> str:
    """The text without line breaks, and without its middle if a value in it was too long."""
    text = " ".join(text.splitlines())
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} ... {text[5 - LONGEST // 2 :]}"
