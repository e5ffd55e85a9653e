"""``python -m tests.fuzz``: a campaign, or one case again."""

import argparse
import json
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tests.fuzz.campaign import ENVIRONMENT, ROOT, Campaign, make_plan
from tests.fuzz.judge import FINDINGS

RESULT = ROOT / "results" / "robustness" / "fuzz.json"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Fuzz every entry point of graphreach.")
    parser.add_argument("--cases", type=int, default=100_000, help="Number of cases over all entry points.")
    parser.add_argument("--first", type=int, default=0, help="Number of each entry point's first case.")
    parser.add_argument("--seed", type=int, default=0, help="Random seed for all cases.")
    parser.add_argument("--workers", type=int, default=2, help="Number of worker processes.")
    parser.add_argument("--only", default="", metavar="PREFIX,...", help="Entry points that begin with one of these.")
    parser.add_argument("--case", metavar="ENTRY:NUMBER", help="Run one case again and show what happens.")
    parser.add_argument("--list", action="store_true", help="List the entry points.")
    parser.add_argument("--write", action="store_true", help=f"Write {RESULT.relative_to(ROOT)}.")
    options = parser.parse_args()
    from tests.fuzz import entries

    found = [each for each in entries.all_entries() if each.name.startswith(tuple(options.only.split(",")))]
    if options.list:
        print("\n".join(f"{entry.name} {entry.share:g}" for entry in found))
        return 0
    if options.case:
        return replay(options.case, options.seed)
    campaign = Campaign(options.seed, options.workers, lambda line: print(line, file=sys.stderr, flush=True))
    begun = time.monotonic()
    campaign.run(make_plan(found, options.cases, options.first))
    result = summarise(campaign, options, time.monotonic() - begun)
    for line in group(campaign):
        print(line)
    print(json.dumps(result["total"]))
    if options.write:
        RESULT.parent.mkdir(parents=True, exist_ok=True)
        RESULT.write_text(json.dumps(result, indent=1) + "\n")
    return int(bool(campaign.findings))


def replay(case: str, seed: int) -> int:
    """One case in this process, with its traceback."""
    from tests.fuzz import entries, judge, samples

    name, _, number = case.rpartition(":")
    os.environ.update(ENVIRONMENT)
    entry = next(each for each in entries.all_entries() if each.name == name)
    with tempfile.TemporaryDirectory() as folder:
        samples.use(Path(folder, "samples"))
        Path(folder, "case").mkdir()
        os.chdir(Path(folder, "case"))
        verdict = judge.judge(entry, int(number), seed, verbose=True)
        os.chdir(ROOT)
    print(f"{verdict.kind}: {verdict.detail}")
    return int(verdict.kind in FINDINGS)


def summarise(campaign: Campaign, options: argparse.Namespace, seconds: float) -> dict[str, Any]:
    """Counts by entry point and in total, with all that repeats them."""
    total: Counter[str] = Counter()
    for counts in campaign.counts.values():
        total.update(counts)
    only = f" --only {options.only}" if options.only else ""
    kinds = ("value", "refused", "told", *FINDINGS)
    return {
        "command": f"python -m tests.fuzz --cases {options.cases} --seed {options.seed}{only} --write",
        "seed": options.seed,
        "workers": options.workers,
        "seconds": round(seconds),
        "total": {"cases": total.total(), **{kind: total[kind] for kind in kinds}},
        "entries": {
            name: {"cases": counts.total(), **{kind: counts[kind] for kind in kinds if counts[kind]}}
            for name, counts in sorted(campaign.counts.items())
        },
        "findings": [f"{each.entry}:{each.number} {each.kind}: {each.detail[:200]}" for each in campaign.findings],
    }


def group(campaign: Campaign) -> list[str]:
    """Findings of one kind at one place as one line, with a case that shows them."""
    groups: dict[str, list[Any]] = {}
    for each in campaign.findings:
        place = each.detail.rpartition(" at ")[2] if each.kind == "exception" else each.detail[:80]
        groups.setdefault(f"{each.kind} {place}", []).append(each)
    lines = []
    for same in sorted(groups.values(), key=len, reverse=True):
        first = same[0]
        names = sorted({each.entry for each in same})
        detail = " ".join(first.detail.split())[:260]
        lines.append(
            f"{len(same)}x {first.kind} {first.entry}:{first.number} {detail}\n     {first.about[:200]} {names[:4]}"
        )
    return lines


if __name__ == "__main__":
    sys.exit(main())
