"""The rows of `benchmarks.loading` for the table."""

from __future__ import annotations

from benchmarks.harness import Row
from benchmarks.loading import run


def loading(quick: bool) -> list[Row]:
    """Reading 30 million tab-separated edges against polars reading the file."""
    result = run(num_edges=100_000 if quick else 30_000_000)
    return [
        Row(
            record["what"],
            "at most",
            record["bar"],
            record["ratio"],
            sizes={"edges": result["num_edges"], "rounds": result["rounds"]},
            raw={
                "ours_best_seconds": record["ours_seconds"],
                "polars_best_seconds": record["theirs_seconds"],
            },
            notes=["The ratio of the best rounds."],
        )
        for record in result["ratios"]
    ]


BENCHMARKS = {"loading": loading}
