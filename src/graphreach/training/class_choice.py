"""How strongly groups of features are regularised, and how much each is worth: chosen by cross-validation."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from graphreach.logistic import Coefficients, Group, fit_logistic, log_loss, mixed, pool, prior_logits, rows_of
from graphreach.progress import live

START = {"position": 100.0, "classes": 3.0, "attributes": 0.3}
"""Penalties that the search begins with."""

TOGETHER = ("position", "classes")
"""Groups that are also read by one model together."""

FACTOR = 10**0.5
"""Between two penalties that are tried next to each other."""

STEPS = 6
"""Maximum number of steps up or down from the first penalty."""

FEWEST = 10
"""Labelled nodes that are not the only one of their class, from which on there is something to validate on."""

GAIN = 1e-4
"""By how much a log loss must be lower to be better."""

LEAST_WEIGHT = 0.02
"""Weight of a model below which it is left out."""

MOST_VALIDATED, LEAST_VALIDATED, MOST_CELLS = 6_000, 1_500, 60_000
"""Maximum number of labelled nodes to validate on; fewer, down to the second number, with more labels than the third."""

Penalties = dict[str, float]


@dataclass(frozen=True, eq=False)
class Chosen:
    """A linear model of all groups, calibrated.

    Attributes:
        weights: Weights ``[d, classes]`` of each group that is worth reading.
        bias: ``[classes]``.
        lonely: Factor of the attributes' weights, and bias, for nodes of which nothing but attributes is known.
        losses: Log loss on nodes that a model was not fitted to: of each model, and of their sum as ``"all"``. Empty if
            there were too few labels.
        shares: The weight of each model in the sum.
    """

    weights: dict[str, NDArray[np.float64]]
    bias: NDArray[np.float64]
    lonely: tuple[float, NDArray[np.float64]]
    losses: dict[str, float]
    shares: dict[str, float]


@dataclass(eq=False)
class Validation:
    """Logits of labelled nodes by models that were fitted to others.

    Attributes:
        groups: Columns of each group, one row per labelled node.
        y: Zeros and ones, ``[m, classes]``.
        several: Whether a node may have several labels.
        parts: The part of each node; a model for a part is fitted to all others.
        report: Is called after each fit.
    """

    groups: Mapping[str, Group]
    y: NDArray[np.float64]
    several: bool
    parts: NDArray[np.int64]
    report: Callable[[], None] = lambda: None
    _cut: dict[tuple[int, str], tuple[Group, Group]] = field(default_factory=dict)
    _last: dict[tuple[int, tuple[str, ...]], Coefficients] = field(default_factory=dict)

    def logits(self, penalties: Penalties) -> NDArray[np.float64]:
        """Logits of every node by a model that was not fitted to it."""
        out = np.zeros(self.y.shape)
        names = tuple(penalties)
        for part in np.unique(self.parts).tolist():
            inside = self.parts == part
            both = [self._pieces(part, name, inside) for name in names]
            fitted = fit_logistic(
                [train for train, _ in both], self.y[~inside], list(penalties.values()), self.several,
                self._last.get((part, names)), tolerance=1e-3, iterations=60,
            )  # fmt: skip
            self._last[part, names] = fitted
            out[inside] = fitted.logits([held for _, held in both])
            self.report()
        return out

    def loss(self, penalties: Penalties) -> float:
        """Log loss of these logits, calibrated: how sure a model is of itself is put right later."""
        logits = [self.logits(penalties)]
        return log_loss(mixed(logits, *pool(logits, self.y, self.several)), self.y, self.several)

    def _pieces(self, part: int, name: str, inside: NDArray[np.bool_]) -> tuple[Group, Group]:
        if (part, name) not in self._cut:
            group = self.groups[name]
            self._cut[part, name] = rows_of(group, np.flatnonzero(~inside)), rows_of(group, np.flatnonzero(inside))
        return self._cut[part, name]


def choose(groups: Mapping[str, Group], y: NDArray[np.float64], several: bool, order: NDArray[np.int64]) -> Chosen:
    """Fit one model per group and one to position and classes together, and add them up as validation says.

    The penalty of each is the one with the lowest log loss on nodes that a model was not fitted to, and so are the weights
    of the sum, which is linear in the features too. With few labels position has most of the weight, with many the classes.

    Args:
        groups: Columns of each group, one row per labelled node, scaled.
        y: Zeros and ones, ``[m, classes]``.
        several: Whether a node may have several labels.
        order: A random order of the nodes, by which they are cut into parts.

    Example:
        >>> x = np.repeat([-1.0, 1.0], 20)[:, None]
        >>> found = choose({"classes": x}, np.eye(2)[np.repeat([0, 1], 20)], False, np.arange(40))
        >>> (x @ found.weights["classes"])[[0, -1]].argmax(1)
        array([0, 1])
    """
    prior = prior_logits(y, several)
    counts = y.sum(axis=0)
    if int(np.count_nonzero(y[:, counts > 1].sum(axis=1))) < FEWEST:
        # The only node of its class sees none of it without its own label, and would teach that this is how one looks.
        single = np.count_nonzero(counts == 1) > np.count_nonzero(counts > 1)
        kept = [each for each in groups if each != "classes" or not single or len(groups) == 1]
        name, model = "+".join(kept), {each: START[each] for each in kept}
        fits = {name: _fit(groups, y, several, model)}
        return _sum_up(fits, {name: 1.0}, np.zeros(len(prior)), (0.0, prior), {})
    rows = np.sort(order[: min(MOST_VALIDATED, max(LEAST_VALIDATED, MOST_CELLS // y.shape[1]))])
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    with live("choosing penalties by validation", None) as show:
        done = iter(range(1, 1 << 30))

        def report() -> None:
            number = next(done)
            show(number, f"{number} models fitted")

        cut = {name: rows_of(group, rows) for name, group in groups.items()}
        validation = Validation(cut, y[rows], several, rank[rows] % (5 if len(rows) <= 1500 else 3), report)
        models, losses = _search(validation)
        logits = {name: validation.logits(model) for name, model in models.items()}
        # A model without features, should none of them be worth anything.
        constant = np.tile(prior_logits(validation.y, several), (len(rows), 1))
        every = [*logits.values(), constant]
        weights, shift = pool(every, validation.y, several)
        losses["all"] = log_loss(mixed(every, weights, shift), validation.y, several)
        shares = {name: float(share) for name, share in zip(models, weights, strict=False) if share >= LEAST_WEIGHT}
        fits = {name: _fit(groups, y, several, models[name]) for name in shares}
        lonely = 0.0, prior
        if "attributes" in shares:  # all that is known of a node without links
            (own, rest), more = pool([logits["attributes"], constant], validation.y, several)
            lonely = own / shares["attributes"], own * fits["attributes"].bias + rest * prior + more
        return _sum_up(fits, shares, shift + weights[-1] * prior, lonely, losses)


def _search(validation: Validation) -> tuple[dict[str, Penalties], dict[str, float]]:
    """The models, each with its best penalties."""
    found = {name: _climb(validation, {name: START[name]}, name) for name in validation.groups}
    if all(name in found for name in TOGETHER):
        together = {name: found[name][0][name] for name in TOGETHER}
        loss = 0.0
        for name in TOGETHER:  # together each has less to say than alone
            together, loss = _climb(validation, together, name)
        found["+".join(TOGETHER)] = together, loss
    return {name: model for name, (model, _) in found.items()}, {name: loss for name, (_, loss) in found.items()}


def _fit(groups: Mapping[str, Group], y: NDArray[np.float64], several: bool, model: Penalties) -> Coefficients:
    return fit_logistic([groups[name] for name in model], y, list(model.values()), several)


def _climb(validation: Validation, penalties: Penalties, name: str) -> tuple[Penalties, float]:
    """Move one group's penalty up, or else down, as long as the loss falls."""
    best, lowest = penalties, validation.loss(penalties)
    for factor in (FACTOR, 1 / FACTOR):
        before = lowest
        for _ in range(STEPS):
            other = {**best, name: best[name] * factor}
            loss = validation.loss(other)
            if loss > lowest - GAIN:
                break
            best, lowest = other, loss
        if lowest < before:
            break
    return best, lowest


def _sum_up(
    fits: dict[str, Coefficients], shares: dict[str, float], bias: NDArray[np.float64],
    lonely: tuple[float, NDArray[np.float64]], losses: dict[str, float],
) -> Chosen:  # fmt: skip
    """The weighted sum of linear models, which is one linear model."""
    weights: dict[str, NDArray[np.float64]] = {}
    for name, fitted in fits.items():
        bias = bias + shares[name] * fitted.bias
        for group, weight in zip(name.split("+"), fitted.weights, strict=True):
            weights[group] = weights.get(group, 0.0) + shares[name] * weight
    return Chosen(weights, bias, lonely, losses, shares)
