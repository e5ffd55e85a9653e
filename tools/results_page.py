"""The pages of the documentation that show results, written from the results: ``python -m tools.results_page``."""

import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from graphreach.experiments.definition import ORDER, load_experiment
from graphreach.experiments.summary import Summary, loss_differences, summarise
from graphreach.experiments.tables import markdown
from graphreach.io.files import replacing
from tools.headline import PRESETS, Gain, gains
from tools.published_numbers_page import story
from tools.templates import fill, table

TASKS = {"table-3a": "PNC", "table-3b": "LP"}
"""Tables of the headline."""

HEADLINE = 0.40
"""What the paper's abstract says."""

PICTURES = {"table-9b": "figure-3ab", "figure-3d": "figure-3cd", "attack-curve": "attack-curve"}
"""After which table a picture stands."""

CAPTIONS = {
    "figure-3ab": "Figures 3a and 3b: AUC by the length and by the number of walks",
    "figure-3cd": "Figures 3c and 3d: AUC by the number of anchors",
    "attack-curve": "AUC under attack",
}
"""What a picture shows."""

PICTURE_FOLDER = "images/results"
"""Where the pages have their pictures, in the folder of the documentation."""


def results_page(results: Path, pictures: str) -> str:
    """Every table and picture, the headline first.

    Args:
        results: Folder of the results.
        pictures: The pictures' folder, as seen from the page.
    """
    lines = []
    for name in sorted(ORDER, key=_place):
        experiment = load_experiment(name)
        found = summarise(experiment, results)
        if not any(each.seeds for each in found):
            lines += [f"## {experiment.place}: {experiment.title}", "", "Not run yet.", ""]
            continue
        lines += [markdown(experiment, found), *_intervals(name, found)]
        if name in PICTURES:
            picture = PICTURES[name]
            lines += [f"![{CAPTIONS[picture]}]({pictures}/{picture}.png)", ""]
    tables = "\n".join(lines).rstrip() + "\n"
    return fill("results.md", headline=_headline(results), tables=tables)


def _place(name: str) -> tuple[int, str]:
    place = load_experiment(name).place
    kind = 0 if place.startswith("Table") else 1 if place.startswith("Figure") else 2
    digits = "".join(each for each in place if each.isdigit())
    return 100 * kind + int(digits), place


def _headline(results: Path) -> str:
    """GraphReach against the best other model."""
    found = {task: gains(summarise(load_experiment(name), results)) for name, task in TASKS.items()}
    if not any(found.values()):
        return ""
    rows = []
    for task, own in found.items():
        cells: dict[tuple[str, str], dict[str, Gain]] = {}
        for gain in own:
            cells.setdefault((gain.group, gain.column), {})[gain.preset] = gain
        for (group, column), by_preset in cells.items():
            first = next(iter(by_preset.values()))
            figures = (_gain(by_preset.get(preset)) for preset in PRESETS)
            rows.append(
                [f"{task}, {group[0].lower()}{group[1:]}", column, f"{first.best:.3f} ({first.model})", *figures]
            )
    header = ["task, protocol", "data set", "best other", *(f"`{preset}`" for preset in PRESETS)]
    return fill("headline.md", gains=table(header, rows), words="\n".join(_headline_in_words(found)))


def _gain(gain: Gain | None) -> str:
    return "" if gain is None else f"{gain.ours:.3f}, {gain.relative:+.0%}{'' if gain.fair else ' *'}"


def _headline_in_words(found: dict[str, list[Gain]]) -> list[str]:
    """Whether the headline holds, for which model and on which data."""
    lines = []
    for task, own in found.items():
        parts = []
        for preset in PRESETS:
            fair = [gain for gain in own if gain.preset == preset and gain.fair]
            if fair:
                most = max(fair, key=lambda gain: gain.relative)
                parts.append(f"`{preset}` at most {most.relative:+.0%} ({most.column})")
        if parts:
            lines.append(f"- {task}: {', '.join(parts)}.")
    reached = {gain.preset for own in found.values() for gain in own if gain.fair and gain.relative >= HEADLINE}
    who = " and ".join(f"`{preset}`" for preset in PRESETS if preset in reached) or "none of them"
    return [*lines, f"- {HEADLINE:.0%} or more: {who}."]


ENDS = {"any": "at least one colluding end", "both": "two colluding ends"}


def _intervals(name: str, found: Sequence[Summary]) -> list[str]:
    """Differences of losses under attack with their intervals."""
    lines = []
    for each in loss_differences(load_experiment(name), found):
        label, seen = {"pair": "PNC", "link": "LP"}[each.task], each.interval
        models = f"{each.first.cell.row.label} minus {each.second.cell.row.label}"
        span = f"{seen.low:+.3f} to {seen.high:+.3f}"
        lines.append(f"| {label} | {ENDS[each.which]} | {models} | {seen.difference:+.3f} | {span} |")
    if not lines:
        return []
    header = ["### Loss of AUC, one model minus the other, with a 95% bootstrap interval", ""]
    return [*header, "| task | pairs | models | difference | interval |", "|---|---|---|---|---|", *lines, ""]


def write_pages(results: Path, docs: Path) -> list[Path]:
    """Write ``results.md`` and ``published-numbers.md``, and copy the pictures they show beside them.

    Args:
        results: Folder of the results.
        docs: Folder of the documentation.
    """
    pages = {
        "results.md": results_page(results, PICTURE_FOLDER),
        "published-numbers.md": story(results, PICTURE_FOLDER),
    }
    for name, text in pages.items():
        shown = _with_pictures(text, results / "figures", docs / PICTURE_FOLDER)
        with replacing(docs / name) as partial:
            partial.write_text(shown, encoding="utf-8")
    return [docs / name for name in pages]


def _with_pictures(text: str, source: Path, target: Path) -> str:
    """Copy the pictures that a page links; a picture that is not drawn yet is not linked."""

    def copy(found: re.Match[str]) -> str:
        picture = source / found[1]
        if not picture.exists():
            return ""
        target.mkdir(parents=True, exist_ok=True)
        with replacing(target / found[1]) as partial:
            shutil.copyfile(picture, partial)
        return found[0]

    return re.sub(rf"!\[[^\]]*\]\({PICTURE_FOLDER}/([^)]+)\)\n*", copy, text)


if __name__ == "__main__":
    folder, target = (Path(each) for each in (sys.argv[1:] or ["results", "docs"]))
    for path in write_pages(folder, target):
        print(path)
