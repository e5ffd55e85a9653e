"""The one exception that graphreach raises for input it cannot use."""


class InputError(ValueError):
    """An argument or a file is not usable; the message is one sentence that says which, and what would be right.

    The command line prints the sentence alone and exits with code 2.

    Example:
        >>> raise InputError("num_walks must be at least 1, got 0")
        Traceback (most recent call last):
        ...
        graphreach.errors.InputError: num_walks must be at least 1, got 0
    """
