"""python -m benchmarks [NAMES...] [--peers] [--quick]: run benchmarks, save results, rewrite the table."""

from __future__ import annotations

import argparse
import importlib
import subprocess
import sys

from benchmarks.harness import Row, describe, thread_environment, write_result, write_table

# Which module holds a benchmark; the module is imported in the child only, so that this process stays small
# (a child's peak memory starts at that of its parent).
OWN = {
    "counting": "walks",
    "growth": "walks",
    "anchors": "anchors",
    "exact": "exact",
    "memory-exact": "memory",
    "memory-walks": "memory",
    "pairs-rmat": "pairs",
    "pairs-uniform": "pairs",
    "loading": "loading_rows",
    "graph-updated": "updates",
    "index-batches": "index",
    "index-streams": "index",
    "index-exact": "index",
    "step-attention": "model",
    "step-factored": "model",
    "step-mean": "model",
    "step-authors": "model",
    "decoder": "model",
    "node-growth": "model",
    "many-graphs": "model",
    "communities-links": "accuracy",
    "communities-pairs": "accuracy",
    "grid-links": "accuracy",
    "email-pairs": "accuracy",
    "email-pairs-disjoint": "accuracy",
    "email-complete-pairs-disjoint": "accuracy",
    "seal-links": "links",
    "degree-bias": "links",
    "raw-links": "links",
    "million-pair-features": "pair_features",
    "train-million": "pair_features",
    "classes-cora": "classes",
    "classes-citeseer": "classes",
    "classes-cora-attributes": "classes",
    "classes-citeseer-attributes": "classes",
    "classes-facebook-5": "classes",
    "classes-facebook-50": "classes",
    "attributes-cora": "attributes",
    "attributes-citeseer": "attributes",
    "attributes-pubmed": "attributes",
    "attributes-heart": "attributes",
    "pgnn": "whole_runs",
    "embed-million": "whole_runs",
    "nearest-all": "whole_runs",
    "embedding-unseen": "embeddings",
    "report": "report",
    "first-picture": "first_picture",
    "first-answer": "first_answer",
    "cluster-replicated": "cluster",
    "cluster-partitioned": "cluster",
    "cluster-lost-node": "cluster",
    "cluster-identical": "cluster",
    "cluster-cost": "cluster_cost",
}
PEERS = {
    "uniform-14-ensmallen": "against_peers",
    "uniform-18-ensmallen": "against_peers",
    "uniform-20-ensmallen": "against_peers",
    "uniform-14-pecanpy": "against_peers",
    "weighted-14-ensmallen": "against_peers",
    "weighted-18-ensmallen": "against_peers",
    "embedding-classes": "embeddings",
    "embedding-multi-label": "embeddings",
    "embedding-links": "embeddings",
}
ALL = {**PEERS, **OWN}


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one or more of {', '.join(ALL)}")
    parser.add_argument("--peers", action="store_true", help="run the comparisons with other packages")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it runs; nothing is saved")
    parser.add_argument("--in-process", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    unknown = [name for name in chosen.names if name not in ALL]
    if unknown:
        parser.error(f"unknown benchmark {unknown[0]!r}; choose from {', '.join(ALL)}")
    chosen.names = chosen.names or list(PEERS if chosen.peers else OWN)
    return chosen


def run_here(name: str, quick: bool) -> None:
    """Run one benchmark in this process, print its rows and, unless quick, save them."""
    module = importlib.import_module(f"benchmarks.{ALL[name]}")
    rows: list[Row] = module.BENCHMARKS[name](quick)
    for row in rows:
        print(f"{row.what}: {', '.join(describe(row.as_dict()))}", *row.notes, sep="\n  ", flush=True)
    if not quick:
        write_result(name, rows)


def main() -> int:
    """Run every chosen benchmark in a process of its own; one that fails does not stop the others."""
    chosen = arguments()
    if chosen.in_process:
        for name in chosen.names:
            run_here(name, chosen.quick)
        return 0
    failed = []
    for name in chosen.names:
        print(f"== {name}", file=sys.stderr, flush=True)
        command = [
            sys.executable,
            "-m",
            "benchmarks",
            name,
            "--in-process",
            *(["--quick"] if chosen.quick else []),
        ]
        if subprocess.run(command, env=thread_environment(), check=False).returncode:
            failed.append(name)
        elif not chosen.quick:
            write_table(list(ALL))
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


sys.exit(main())
