"""Pictures of small graphs. Functions draw on ``ax`` (a new one by default) and return it; matplotlib is optional."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphreach.arguments import check_whole, describe, to_finite, to_integers, to_list
from graphreach.errors import InputError
from graphreach.graph import Graph
from graphreach.graph.checks import check_graph

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_NODES = 3000
"""Maximum number of nodes for the layout here, which compares all pairs; larger graphs need a layout of the user."""

ANCHOR, NODE, EDGE, INK = "#D55E00", "#9DB8CC", "#C9CED3", "#22272B"
"""Vermillion on grey-blue: the pair of the Okabe-Ito palette that differs in every kind of colour vision."""

CLASSES = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#8C6D1F", "#7F7F7F", "#F0E442")
DARK = ("#0072B2", "#009E73", "#8C6D1F", "#7F7F7F")
"""Colours of classes, from the Okabe-Ito palette, and those that white letters can be read on."""

SCALE, PALEST, SPAN = "YlGnBu", 0.16, 1e-5
"""Dark means near; the palest part of the scale would vanish on paper. Colours end at this share of the greatest value:
lower values all mean far away."""


MODEL_COLOURS = {
    "graphreach": "#D55E00",
    "pgnn-e": "#0072B2",
    "pgnn-f": "#56B4E9",
    "gcn": "#009E73",
    "sage": "#E69F00",
    "gat": "#CC79A7",
    "gin": "#8C6D1F",
    "mlp": "#7F7F7F",
}
"""One colour per model in every picture (Okabe-Ito); models without one are grey."""


def require_matplotlib() -> None:
    """Say in one sentence what is missing."""
    try:
        import matplotlib  # noqa: F401
    except ModuleNotFoundError:
        raise InputError('plots need matplotlib, which is not installed: pip install "graphreach[plot]"') from None


def new_figure(columns: int = 1) -> tuple[Any, Any]:
    """A figure that does not need a screen, and its axes."""
    require_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.6 * columns, 5.2), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(1, columns)


def stress_layout(graph: Graph, iterations: int = 150) -> NDArray[np.float64]:
    """Positions ``[n, 2]`` whose distances are as close as possible to the numbers of hops between nodes.

    Starts from classical scaling and lowers the stress by majorisation, so the same graph has the same picture.

    Example:
        >>> path = Graph.from_edges([[0, 1, 2], [1, 2, 3]])
        >>> gaps = np.diff(stress_layout(path), axis=0)
        >>> np.linalg.norm(gaps, axis=1).round(3)
        array([1., 1., 1.])
    """
    n = check_graph(graph).num_nodes
    check_whole("iterations", iterations, 0)
    if n > MAX_NODES:
        raise InputError(f"positions must be given for graphs of more than {MAX_NODES} nodes, got {n} nodes")
    hops = _hops(graph)
    at = _classical_scaling(hops)
    weight = np.divide(1.0, hops**2, out=np.zeros_like(hops), where=hops > 0)
    total = np.maximum(weight.sum(axis=1, keepdims=True), 1e-12)
    for _ in range(iterations):
        apart = np.sqrt(np.maximum(_squared_distances(at), 1e-12))
        pull = weight * hops / apart
        at = (weight @ at + pull.sum(axis=1, keepdims=True) * at - pull @ at) / total
    return at


def _hops(graph: Graph) -> NDArray[np.float64]:
    """Hops between all pairs, whatever the direction; parts without a path are put a little farther than the diameter."""
    from scipy.sparse.csgraph import shortest_path

    hops: NDArray[np.float64] = shortest_path(graph.to_scipy(), directed=False, unweighted=True)
    finite = np.isfinite(hops)
    hops[~finite] = hops[finite].max() + 2
    return hops


def _classical_scaling(hops: NDArray[np.float64]) -> NDArray[np.float64]:
    squared = hops**2
    centred = squared - squared.mean(axis=0) - squared.mean(axis=1, keepdims=True) + squared.mean()
    values, vectors = np.linalg.eigh(-centred / 2)
    if len(values) == 1:
        return np.zeros((1, 2))
    top = vectors[:, [-1, -2]]
    top = top * np.where(top[np.abs(top).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)
    scaled: NDArray[np.float64] = top * np.sqrt(np.maximum(values[[-1, -2]], 0))
    # Nodes that look the same to all others would stay on one spot for ever.
    return scaled + np.random.default_rng(0).normal(scale=0.05, size=scaled.shape)


def _squared_distances(at: NDArray[np.float64]) -> NDArray[np.float64]:
    norms = (at**2).sum(axis=1)
    squared: NDArray[np.float64] = norms[:, None] + norms[None, :] - 2 * at @ at.T
    return squared


def plot_anchors(
    graph: Graph, anchors: ArrayLike, *, positions: ArrayLike | None = None, ax: "Axes | None" = None
) -> "Axes":
    """Draw a graph with its anchors marked.

    Args:
        graph: The graph.
        anchors: Positions of the anchors, such as the result of :func:`graphreach.select_anchors`.
        positions: Where to draw the nodes, ``[n, 2]``; by default :func:`stress_layout`.
        ax: Where to draw; a new figure's axes by default.

    Example:
        >>> plot_anchors(Graph.from_edges([[0, 0, 0], [1, 2, 3]]), [0]).get_title()
        'Anchors'
    """
    ax, at = _prepare(graph, positions, ax)
    chosen = _positions("anchors", anchors, graph)
    _dots(ax, at, s=34, c=NODE, edgecolors="white", linewidths=0.5, zorder=2, label="node")
    style = {"marker": "D", "c": ANCHOR, "edgecolors": INK, "linewidths": 0.9}
    _dots(ax, at[chosen], s=84, zorder=3, label="anchor", **style)
    ax.set_title("Anchors")
    ax.legend(loc="best", frameon=False)
    return ax


def plot_reachability(
    graph: Graph,
    node: int,
    values: ArrayLike,
    *,
    positions: ArrayLike | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw a graph coloured by one node's reachability, on a logarithmic scale; unreached nodes are hollow.

    Args:
        graph: The graph.
        node: Position of the node that reachability is measured from.
        values: ``s(node, v)`` for every node v.
        positions: Where to draw the nodes, ``[n, 2]``; by default :func:`stress_layout`.
        ax: Where to draw; a new figure's axes by default.

    Example:
        >>> plot_reachability(Graph.from_edges([[0, 0], [1, 2]]), 0, [0.5, 0.25, 0.25]).get_title()
        'Reachability'
    """
    ax, at = _prepare(graph, positions, ax)
    from matplotlib.colors import LogNorm

    shares = _one_per_node(graph, node, values)
    reached = shares > 0
    _dots(ax, at[~reached], s=24, facecolors="white", edgecolors=EDGE, linewidths=0.8, zorder=2)
    if reached.any():
        norm = LogNorm(max(shares[reached].min(), shares.max() * SPAN), shares.max())
        _shade(ax, at[reached], shares[reached], "share of visits, s(start, v)", extend="min", norm=norm)
    _circle(ax, at[node], label="start of the walks")
    ax.legend(loc="best", frameon=False)
    ax.set_title("Reachability")
    return ax


def plot_scores(
    graph: Graph,
    node: int,
    values: ArrayLike,
    *,
    label: str = "score of the pair",
    limits: tuple[float, float] | None = None,
    positions: ArrayLike | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw a graph coloured by how a model scores the pairs of one node with all others.

    Args:
        graph: The graph.
        node: Position of the node, circled.
        values: The score of the pair (node, v) for every node v.
        label: What the score is.
        limits: Scores at the ends of the colour scale; by default the least and the greatest.
        positions: Where to draw the nodes, ``[n, 2]``; by default :func:`stress_layout`.
        ax: Where to draw; a new figure's axes by default.

    Example:
        >>> plot_scores(Graph.from_edges([[0, 0], [1, 2]]), 0, [1.0, 0.9, 0.1]).get_title()
        'Scores'
    """
    ax, at = _prepare(graph, positions, ax)
    scores = _one_per_node(graph, node, values)
    low, high = (scores.min(), scores.max()) if limits is None else _limits(limits)
    _shade(ax, at, scores, label, vmin=low, vmax=high)
    _circle(ax, at[node])
    ax.set_title("Scores")
    return ax


def _one_per_node(graph: Graph, node: int, values: ArrayLike) -> NDArray[np.float64]:
    check_whole("node", node, 0, graph.num_nodes - 1)
    found = to_finite("values", values).astype(float)
    if found.shape != (graph.num_nodes,):
        raise InputError(f"values must hold one number for each of {graph.num_nodes} nodes, got shape {found.shape}")
    return found


def _shade(ax: Any, at: NDArray[np.float64], values: NDArray[np.float64], label: str, extend: str = "neither",
           **scale: Any) -> None:  # fmt: skip
    """Nodes coloured by their values, the greatest on top, with the scale at their side."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    order = np.argsort(values, kind="stable")
    shades = ListedColormap(colormaps[SCALE](np.linspace(PALEST, 1, 256)))
    style = {"cmap": shades, "edgecolors": "white", "linewidths": 0.3, **scale}
    dots = _dots(ax, at[order], s=42, c=values[order], zorder=3, **style)
    ax.figure.colorbar(dots, ax=ax, label=label, shrink=0.6, pad=0.01, extend=extend)


def _circle(ax: Any, at: NDArray[np.float64], **more: Any) -> None:
    _dots(ax, at[None], s=210, zorder=4, facecolors="none", edgecolors=ANCHOR, linewidths=2.2, **more)


def plot_classes(
    graph: Graph,
    classes: ArrayLike,
    *,
    known: ArrayLike = (),
    links: ArrayLike | None = None,
    show_ids: bool = False,
    positions: ArrayLike | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw a graph coloured by the classes of its nodes, with new links if there are any.

    Args:
        graph: The graph.
        classes: The class of each node, ``[n]``: names or numbers.
        known: Positions of nodes to circle, such as those whose class was known.
        links: Pairs of positions ``[2, m]`` to join by dashed lines, such as recommended links.
        show_ids: Whether each node has its id written on it.
        positions: Where to draw the nodes, ``[n, 2]``; by default :func:`stress_layout`.
        ax: Where to draw; a new figure's axes by default.

    Example:
        >>> path = Graph.from_edges([[0, 1, 2], [1, 2, 3]])
        >>> plot_classes(path, ["a", "a", "b", "b"], known=[0, 3], links=[[0], [3]]).get_title()
        'Classes'
    """
    ax, at = _prepare(graph, positions, ax)
    found = np.array([str(each) for each in to_list("classes", classes, "a list of classes")])
    if len(found) != graph.num_nodes or getattr(classes, "ndim", 1) != 1:
        raise InputError(f"classes must hold one class for each of {graph.num_nodes} nodes, got {describe(classes)}")
    names = np.unique(found)
    colours = {name: CLASSES[number % len(CLASSES)] for number, name in enumerate(names)}
    style = {"s": 150 if show_ids else 42, "edgecolors": "white", "linewidths": 0.6, "zorder": 3}
    for name in names:
        _dots(ax, at[found == name], c=colours[name], label=name, **style)
    if len(circled := _positions("known", known, graph)):
        _dots(ax, at[circled], s=260, zorder=4, facecolors="none", edgecolors=INK, linewidths=2.0, label="known")
    if links is not None:
        _dashes(ax, at, _positions("links", links, graph, rows=2), "new link")
    for place, name, own in zip(at, graph.ids, found, strict=True) if show_ids else ():
        ink = "white" if colours[own] in DARK else INK
        ax.annotate(str(name), place, ha="center", va="center", fontsize=7, color=ink, zorder=5)
    if len(names) <= len(CLASSES):
        ax.legend(loc="best", frameon=False)
    ax.set_title("Classes")
    return ax


def _positions(name: str, values: Any, graph: Graph, rows: int | None = None) -> NDArray[Any]:
    """Positions ``[m]``, or ``[rows, m]``."""
    found = to_integers(name, values)
    shape = found.shape[:-1]
    inside = not found.size or 0 <= found.min() <= found.max() < graph.num_nodes
    if found.ndim == 0 or shape != (() if rows is None else (rows,)) or not inside:
        what = "be a list of positions" if rows is None else f"be an array [{rows}, m] of positions"
        raise InputError(f"{name} must {what} from 0 to {graph.num_nodes - 1}, got {describe(values)}")
    return found


def _dashes(ax: Any, at: NDArray[np.float64], pairs: NDArray[Any], label: str) -> None:
    from matplotlib.collections import LineCollection

    style: dict[str, Any] = {"colors": ANCHOR, "linewidths": 1.8, "linestyles": "--", "zorder": 2, "label": label}
    ax.add_collection(LineCollection(list(np.stack([at[pairs[0]], at[pairs[1]]], axis=1)), **style))


def plot_comparison(
    names: Sequence[str], means: ArrayLike, spreads: ArrayLike | None = None, *, label: str = "test ROC AUC",
    ax: "Axes | None" = None,
) -> "Axes":  # fmt: skip
    """Bars of several models, best on top, with the standard deviation over seeds.

    Args:
        names: Models.
        means: The figure of each.
        spreads: Its standard deviation.
        label: What the figure is.
        ax: Where to draw; a new figure's axes by default.

    Example:
        >>> plot_comparison(["graphreach", "gcn"], [0.99, 0.6], [0.01, 0.02]).get_xlabel()
        'test ROC AUC'
    """
    names = [str(name) for name in to_list("names", names, "a list of names")]
    figures = to_finite("means", means).astype(float)
    widths = None if spreads is None else to_finite("spreads", spreads).astype(float)
    for title, each in (("means", figures), ("spreads", widths)):
        if each is not None and (each.shape != (len(names),) or not names):
            raise InputError(
                f"{title} must hold one number for each of {len(names)} names, got shape {list(each.shape)}"
            )
    if widths is not None and (widths < 0).any():
        raise InputError(f"spreads must be at least 0, got {widths.min()}")
    ax = _axes(ax)
    order = np.argsort(figures, kind="stable")
    values = figures[order]
    errors = None if widths is None else widths[order]
    colours = [MODEL_COLOURS.get(names[i].partition("+")[0], "#9A9A9A") for i in order]
    bars = ax.barh([names[i] for i in order], values, xerr=errors, color=colours, ecolor=INK, capsize=3, height=0.7)
    ax.bar_label(bars, [f"{value:.3f}" for value in values], padding=4, color=INK)
    ax.set_xlim(0, max(1.0, float(values.max())) * 1.12)
    ax.set_xlabel(label)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _axes(ax: Any) -> Any:
    """The axes, or those of a new figure."""
    if ax is None:
        return new_figure()[1]
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes):
        raise InputError(f"ax must be matplotlib's axes or None, got {describe(ax)}")
    return ax


def _limits(limits: Any) -> tuple[float, float]:
    found = to_finite("limits", limits)
    if found.shape != (2,) or found[0] > found[1]:
        raise InputError(f"limits must be two numbers, the lower one first, got {describe(limits)}")
    return float(found[0]), float(found[1])


def _dots(ax: Any, at: NDArray[np.float64], **style: Any) -> Any:
    return ax.scatter(at[:, 0], at[:, 1], **style)


def _prepare(graph: Graph, positions: ArrayLike | None, ax: Any) -> tuple[Any, NDArray[np.float64]]:
    """Axes with the edges drawn, and the nodes' places."""
    require_matplotlib()
    from matplotlib.collections import LineCollection

    check_graph(graph)
    at = stress_layout(graph) if positions is None else to_finite("positions", positions).astype(float)
    if at.shape != (graph.num_nodes, 2):
        raise InputError(f"positions must be an array of shape [{graph.num_nodes}, 2], got {list(at.shape)}")
    ax = _axes(ax)
    source, target = graph.edge_index
    once = slice(None) if graph.directed else source <= target
    lines = np.stack([at[source[once]], at[target[once]]], axis=1)
    ax.add_collection(LineCollection(list(lines), colors=EDGE, linewidths=0.6, zorder=1))
    ax.set_aspect("equal")
    ax.set_axis_off()
    ax.margins(0.04)
    return ax, at
