"""What a run found, in a few lines for people."""

from typing import Any


def summary(record: dict[str, Any]) -> str:
    """A run in a few lines.

    Example:
        >>> record = {"settings": {"method": "gcn", "task": "link"}, "metrics": {"test": {"auc": 0.9}}, "seconds": {}}
        >>> print(summary(record | {"test_examples": 20, "leaks": ["link, clean: no leak"]}))
        gcn, link: test auc 0.9000
        20 test pairs; leak check: link, clean: no leak
    """
    settings = record["settings"]
    lines = [f"{settings['method']}, {settings['task']}: test {figures(record['metrics']['test'])}"]
    lines += [f"{_examples(record)}{leak_check(record)}"]
    if "best_epoch" in record:
        lines.append(f"chosen on validation at epoch {record['best_epoch']} of {record['epochs']}")
    if "cluster" in record:
        lines.append("trained by {workers} workers with {cores} cores, nodes: {nodes}".format(**record["cluster"]))
    if record["seconds"]:
        lines.append("seconds: " + ", ".join(f"{name} {value:.1f}" for name, value in record["seconds"].items()))
    return "\n".join(line for line in lines if line)


def figures(found: dict[str, float]) -> str:
    """Metrics in one line.

    Example:
        >>> figures({"auc": 0.5, "ap": 0.25})
        'auc 0.5000, ap 0.2500'
    """
    return ", ".join(f"{name} {value:.4f}" for name, value in found.items()) or "none: no test examples of both kinds"


def leak_check(record: dict[str, Any]) -> str:
    """What the leak check of a run found, one sentence for each of the first graphs.

    Example:
        >>> leak_check({"leaks": ["link, clean: no leak"], "data": {"graphs": 5}})
        '; leak check: link, clean: no leak (4 graphs more)'
    """
    found = record.get("leaks") or []
    if not found:
        return ""
    more = record.get("data", {}).get("graphs", 1) - len(found)
    return f"; leak check: {' | '.join(found)}" + (f" ({more} graphs more)" if more > 0 else "")


def counted(task: str, examples: Any) -> str:
    """How many examples there are.

    Example:
        >>> import numpy as np
        >>> from graphreach.tasks import Examples
        >>> counted("link", Examples(np.array([[0, 0], [1, 2]]), np.array([1, 0])))
        '2 pairs, 1 of them positive'
    """
    if task == "node":
        return f"{len(examples)} nodes"
    return f"{len(examples)} pairs, {int(examples.label.sum())} of them positive"


def _examples(record: dict[str, Any]) -> str:
    if "test_examples" not in record:
        return ""
    return f"{record['test_examples']} test {'nodes' if record['settings']['task'] == 'node' else 'pairs'}"
