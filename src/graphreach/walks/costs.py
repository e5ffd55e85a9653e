"""What would take years or more memory than there is, refused before it begins."""

from graphreach.errors import InputError

MAX_STEPS = 10**15
"""Steps that the walks of one call may have in all: months."""

STEPS_PER_SECOND = 10**8
"""What one call walks, roughly, on a few cores."""

MAX_PRODUCTS = 10**17
"""Multiplications that one exact computation may take: as long as that many steps."""

PRODUCTS_PER_SECOND = 10**10


def check_steps(num_starts: int, num_walks: int, walk_length: int) -> None:
    """Refuse more than :data:`MAX_STEPS` steps.

    Example:
        >>> check_steps(10**6, 10**9, 1000)
        Traceback (most recent call last):
        ...
        graphreach.errors.InputError: 1000000000 walks of 1000 jumps from each of 1000000 nodes are 1e+18 steps, which would take about 317 years; at most 1e+15 are allowed: lower num_walks or walk_length
    """  # noqa: E501 -- the sentence is one line
    steps = max(1, num_starts) * num_walks * walk_length
    if steps > MAX_STEPS:
        raise InputError(
            f"{_count(num_walks)} walks of {walk_length} jumps from each of {num_starts} nodes are {steps:.0e} steps, "
            f"which would take about {_years(steps // STEPS_PER_SECOND)}; at most {MAX_STEPS:.0e} are allowed: "
            "lower num_walks or walk_length"
        )


def check_products(num_edges: int, columns: int, walk_length: int) -> None:
    """Refuse more than :data:`MAX_PRODUCTS` multiplications.

    Example:
        >>> check_products(10**6, 64, 5)
    """
    products = num_edges * columns * walk_length
    if products > MAX_PRODUCTS:
        raise InputError(
            f"{walk_length} exact steps of {columns} columns over {num_edges} edges are {products:.0e} products, which "
            f"would take about {_years(products // PRODUCTS_PER_SECOND)}; at most {MAX_PRODUCTS:.0e} are allowed: lower "
            "walk_length, hops or the number of anchors"
        )


def _years(seconds: int) -> str:
    years = seconds // (365 * 24 * 3600)
    return f"{_count(years)} years" if years else f"{seconds // (24 * 3600)} days"


def _count(number: int) -> str:
    return str(number) if number < 10**12 else f"{number:.0e}"
