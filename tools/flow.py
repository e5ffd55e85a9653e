"""The diagram of the rooms, as SVG that needs nothing from the network."""

ROOMS = (
    ("graph", "edges and ids to CSR"),
    ("io", "files of graphs, tables, vectors"),
    ("walks", "random walks, repeatable"),
    ("anchors", "k reference nodes"),
    ("reachability", "s(v, a) and s(a, v)"),
    ("index", "both, while the graph changes"),
    ("pairs", "what describes a pair"),
    ("nn", "layers, models, baselines"),
    ("vectors", "embeddings without layers"),
    ("tasks", "splits, metrics, leaks"),
    ("training", "fit, choose, keep"),
)
"""The rooms that data flow through, and what each is for."""

ABOVE = (
    "cluster", "transforms", "paper_embedding", "estimator", "reach_classifier", "attacks", "explain", "link_predictor",
    "link_prediction", "on_graph", "report", "experiments", "club", "demo", "updates", "doctor", "cli",
)  # fmt: skip
"""What is built on the rooms."""

TORCH = ("nn", "training")
"""Rooms that need torch."""

ORDER = (
    "_version", "errors", "lazy", "by_name", "arguments", "parameters", "auc", "logistic", "progress", "jit",
    "limits", "threads", "nearest", "graph", "io", "plot", "walks", "anchors", "reachability", "index", "pairs", "nn",
    "vectors", "tasks", "training", "datasets", *ABOVE,
)  # fmt: skip
"""Every module and room of the package; each imports only from those before it, at its top or inside a function."""

WIDTH, HEIGHT, GAP, COLUMNS = 190, 64, 36, 5


def flow() -> str:
    """The diagram.

    Example:
        >>> flow().startswith("<svg"), flow().count("<rect")
        (True, 12)
    """
    parts = []
    for number, (name, text) in enumerate(ROOMS):
        x, y = _place(number)
        parts.append(_box(x, y, WIDTH, name, text, name in TORCH))
        if number:
            parts.append(_arrow(number))
    x, y = _place(len(ROOMS) - 1)
    top = y + HEIGHT + GAP
    total = COLUMNS * WIDTH + (COLUMNS - 1) * GAP
    parts.append(_box(1, top, total, "built on them", ", ".join(ABOVE), False))
    size = f'viewBox="-2 -2 {total + 6} {top + HEIGHT + 6}"'
    style = "font-family:inherit;max-width:100%;height:auto"
    label = "Flow of the rooms: " + ", ".join(name for name, _ in ROOMS)
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{label}" style="{style}">' + (
        "".join(parts) + "</svg>"
    )


def _place(number: int) -> tuple[int, int]:
    row, column = divmod(number, COLUMNS)
    return 1 + column * (WIDTH + GAP), 1 + row * (HEIGHT + GAP)


def _box(x: int, y: int, width: int, name: str, text: str, torch: bool) -> str:
    dash = ' stroke-dasharray="5 3"' if torch else ""
    middle = x + width // 2
    return (
        f'<rect x="{x}" y="{y}" width="{width}" height="{HEIGHT}" rx="6" fill="none" stroke="currentColor"{dash}/>'
        f'<text x="{middle}" y="{y + 27}" text-anchor="middle" font-weight="bold" font-size="16" '
        f'fill="currentColor">{name}</text>'
        f'<text x="{middle}" y="{y + 48}" text-anchor="middle" font-size="13" fill="currentColor">{text}</text>'
    )


def _arrow(number: int) -> str:
    """From the room before; at the end of a row it goes down and back to the left."""
    x, y = _place(number)
    if number % COLUMNS:
        middle = y + HEIGHT // 2
        points = f"M{x - GAP + 3} {middle}H{x - 5}"
        head = f"M{x - 11} {middle - 5}L{x - 3} {middle}L{x - 11} {middle + 5}"
    else:
        before, above = _place(number - 1)
        start, middle, turn = before + WIDTH // 2, x + WIDTH // 2, y - GAP // 2
        points = f"M{start} {above + HEIGHT}V{turn}H{middle}V{y - 5}"
        head = f"M{middle - 5} {y - 11}L{middle} {y - 3}L{middle + 5} {y - 11}"
    return f'<path d="{points}{head}" fill="none" stroke="currentColor"/>'
