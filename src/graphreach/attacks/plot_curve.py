"""A picture of what attacks of different sizes do."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from graphreach.arguments import check_choice, describe, to_list
from graphreach.attacks.assessment import Assessment
from graphreach.errors import InputError
from graphreach.plot import INK, MODEL_COLOURS, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_curve(assessments: Sequence[Assessment], which: str = "any", *, ax: "Axes | None" = None) -> "Axes":
    """Draw the AUC before (dashed) and after (solid) the attack against the fraction of colluders, one colour a method.

    Args:
        assessments: What :func:`curve` found, of one method or of several together.
        which: ``"any"`` or ``"both"``: which pairs.
        ax: Where to draw; a new figure's axes by default.

    Example:
        >>> from graphreach.attacks import Tally
        >>> tally = Tally((2,), (2,), (4.0,), (3.0,))
        >>> found = Assessment("clique", 0.1, 0, "gcn", "pair", (40,), (700,), tally, tally)
        >>> plot_curve([found]).get_ylabel()
        'test ROC AUC'
    """
    check_choice("which", which, ("any", "both"))
    assessments = to_list("assessments", assessments, "a list of assessments")
    if not assessments or not all(isinstance(each, Assessment) for each in assessments):
        raise InputError(f"assessments must be a list of at least one Assessment, got {describe(assessments)}")
    ax = new_figure()[1] if ax is None else ax
    for method in dict.fromkeys(each.method for each in assessments):
        own = sorted((each for each in assessments if each.method == method), key=lambda each: each.fraction)
        colour, fractions = MODEL_COLOURS.get(method, "#9A9A9A"), [each.fraction for each in own]
        for part, line, face in (("before", "--", "white"), ("after", "-", colour)):
            values = [getattr(getattr(each, which), part) for each in own]
            label = f"{method}, {part}"
            ax.plot(fractions, values, line, marker="o", color=colour, markerfacecolor=face, label=label)
    ends = {"any": "a colluder at an end", "both": "colluders at both ends"}[which]
    is_noise = all(each.kind == "noise" for each in assessments)
    ax.set_title("All pairs" if is_noise else f"Pairs with {ends}", color=INK)
    ax.set_xlabel("added edges, as a share" if is_noise else "share of nodes that collude")
    ax.set_ylabel("test ROC AUC")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc="best", frameon=False)
    return ax
