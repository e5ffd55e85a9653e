"""Named settings of model and reachability."""

import difflib
from typing import Any, NamedTuple

from graphreach.errors import InputError
from graphreach.walks.defaults import NUM_WALKS, WALK_LENGTH


class Preset(NamedTuple):
    """Arguments of :class:`GraphReach` and of :func:`graphreach.reachability`, and the scale of similarities.

    Attributes:
        model: Arguments of the model.
        reachability: Arguments of the reachability.
        scale: ``None`` (as it is), ``"counts"`` (visits, as in the authors' code) or ``"log"``.
        links: Arguments of the model that differ when links are predicted, where a pair's own reachability says much.
        attributes: The same for nodes with attributes, which an extra neighbourhood layer reads better.
        linked_attributes: The same for links between nodes with attributes.
    """

    model: dict[str, Any]
    reachability: dict[str, Any]
    scale: str | None = None
    links: dict[str, Any] = {}  # noqa: RUF012
    attributes: dict[str, Any] = {}  # noqa: RUF012
    linked_attributes: dict[str, Any] = {}  # noqa: RUF012

    def arguments(self, task: str, attributes: bool) -> dict[str, Any]:
        """Arguments of the model for a task, on nodes with or without attributes."""
        own = {**self.model, **(self.links if task == "link" else {})}
        if not attributes:
            return own
        return own | self.attributes | (self.linked_attributes if task == "link" else {})


PRESETS: dict[str, Preset] = {
    # Eqs. 1-8 as printed.
    "paper": Preset(
        {"aggregation": "attention"}, {"method": "walks", "num_walks": NUM_WALKS, "walk_length": WALK_LENGTH}
    ),
    # What the authors' code does, with its attention trained: counts through a learned map, biases, ReLU messages.
    # Theirs drops half of the messages, of the attention weights and of the output in training, ours of the output only;
    # theirs leaves out anchors whose mapped similarity is not positive, has its own weights for a node's own features, and
    # an ELU after attention, ours does not.
    "authors": Preset(
        {
            "aggregation": "attention",
            "message_activation": "relu",
            "similarity_map": "learned",
            "bias": True,
            "input_projection": True,
            "dropout": 0.5,
        },
        {"method": "walks", "num_walks": NUM_WALKS, "walk_length": 19},
        "counts",
    ),
    # Steps kept apart and exact, logarithms, a learned map, ReLU messages, and a scaled dot product; for links also the
    # pair's own reachability. Attributes, each on one scale, are read by a neighbourhood model beside: on validation data
    # GraphSAGE was better for pairs and classes (Protein, Cora), GCN for links (Cora; on PPI they are alike).
    "best": Preset(
        {
            "aggregation": "mean",
            "message_activation": "relu",
            "similarity_map": "learned",
            "bias": True,
            "hops": 4,
            "input_projection": True,
            "decoder": "scaled",
        },
        {"method": "exact", "hops": 4},
        "log",
        links={"decoder": "lift"},
        attributes={"standardise": True, "local": "sage"},
        linked_attributes={"local": "gcn"},
    ),
}


def preset(name: str) -> Preset:
    """The settings of that name."""
    if name not in PRESETS:
        near = difflib.get_close_matches(str(name), PRESETS, 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise InputError(f"preset must be one of {', '.join(PRESETS)}, got {name!r}{hint}")
    return PRESETS[name]
