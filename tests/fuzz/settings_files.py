"""Settings from YAML and from key=value texts, and runs by odd settings."""

from typing import Any

from tests.fuzz import samples
from tests.fuzz.entry import Case, Dice, Entry, short, write
from tests.fuzz.mutations import TOKENS, damage_text

YAML = b"""task: link
protocol: published
fractions: [0.8, 0.1, 0.1]
method: graphreach
model: {heads: 2}
reachability: {method: walks, num_walks: 10}
scale: none
num_anchors: log2
epochs: 3
learning_rate: 0.01
seed: 1
"""
VALUES = [
    "", "1", "0", "-1", "2", "0.5", "nan", "inf", "1e9", "1e12", "99999999999999999999", "true", "null", "a", "[]", "{}",
    "[1, 2]", "{a: 1}", "{1: 2}", "[[1]]", "'1'", "2020-01-01", "!!python/object:os.system x", "&a [*a]", "*x", "diameter",
    "exact", "walks", "frequency", "mean", "attention", "dense", "csr", "lift", "log2", "greedy", "sum", "dot", "\t", "{",
]  # fmt: skip
OTHERS = [
    b"method: graphreach+gcn\nparts: {gcn: {epochs: 3}}\nseed: 5\n",
    b"task: node\nchoose_by: accuracy\nreachability:\n  num_walks: 10\npreset: paper\nnum_anchors: 5\nfeatures: false\n",
]
GROUPS = {
    "model": ["heads", "aggregation", "dropout", "num_layers", "hidden_channels", "local", "hops", "bias", "similarity",
              "similarity_map", "output_activation", "decoder", "message_activation", "input_projection", "standardise",
              "in_channels", "odd", "num_nodes"],
    "reachability": ["num_walks", "walk_length", "method", "similarity", "hops", "layout", "seed", "scale", "cache", "odd",
                     "graph", "anchors"],
    "parts": ["gcn", "graphreach", "gcn.epochs", "odd"],
}  # fmt: skip
REACH = ["steps", "lengths", "num_anchors", "method", "num_links", "num_members", "odd"]
SLOW = ("epochs", "patience")
"""Settings that may be as large as one has time."""


def entries() -> list[Entry]:
    """Settings read, and runs by them."""
    return [Entry("settings.yaml", _yaml, 4), Entry("settings.set", _set, 4), Entry("settings.run", _run, 5)]


def _yaml(dice: Dice) -> Case:
    from graphreach.training import Settings

    data = damage_text(dice.pick([YAML, *OTHERS]), dice)
    path = write("case.yaml", data)
    return Case(lambda: Settings.read(path), f"Settings.read of {short(data)}")


def _change(dice: Dice) -> str:
    from graphreach.training import Settings

    keys = [key for key in Settings.model_fields if key not in (*SLOW, "method", "task")]
    group = dice.pick([*GROUPS, "", "", ""])
    key = f"{group}.{dice.pick(GROUPS[group])}" if group else dice.pick(keys)
    return f"{key}={dice.pick(VALUES)}"


def _set(dice: Dice) -> Case:
    from graphreach.training import Settings

    changes = [_change(dice) for _ in range(dice.between(1, 3))]
    if dice.chance(0.3):
        token = dice.pick(TOKENS).decode("utf-8", "replace")
        changes.append(
            dice.pick(
                [token, f"={token}", f"{token}=1", f"epochs={token}", f"model={token}", f".={token}", f"a.b.{token}=1"]
            )
        )
    return Case(lambda: Settings.read(None, changes), f"Settings.read(changes={short(changes)})")


def _run(dice: Dice) -> Case:
    """One epoch by odd settings of the model, of reachability and of the split."""
    import graphreach as gr
    from graphreach import training

    changes = [_change(dice) for _ in range(dice.pick([1, 1, 2]))]
    changes += ["epochs=1", "num_anchors=3"] if dice.chance(0.8) else ["epochs=1"]
    method = dice.pick(
        ["graphreach"] * 5 + ["gcn", "pgnn", "mlp", "common-neighbours", "node2vec", "graphreach+gcn", "odd"]
    )
    if dice.chance(0.1):
        method, changes = "reach", [f"model.{dice.pick(REACH)}={dice.pick(VALUES)}" for _ in changes]

    def call() -> Any:
        settings = training.Settings.read(None, [*changes, f"method={method}"])
        return training.run(gr.datasets.Sample(samples.graph()), settings).test

    return Case(call, f"run(method={method}, changes={changes})")
