"""The harness notices every kind of finding, and the short form of the campaign finds none."""

import pytest

from tests.fuzz import arguments, campaign, entries, faults, samples
from tests.fuzz.entry import Dice
from tests.fuzz.judge import FINDINGS

CASES = 1500
CLEAN = ("table.anchors",)
"""Entry points without findings."""


@pytest.fixture(scope="module")
def sample_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fuzz") / "samples"
    campaign.make_samples(folder)
    return folder


def test_campaign_notices_every_kind_of_finding(sample_folder):
    found = campaign.Campaign(hang=1.0)
    found.run([(entry.name, 0, 2) for entry in faults.entries()], sample_folder)
    kinds = {verdict.entry.removeprefix("fault."): verdict.kind for verdict in found.findings if not verdict.number}
    assert kinds == {kind: kind for kind in FINDINGS} | {"memory": "exception"}
    odd = [verdict for verdict in found.findings if verdict.number and verdict.kind != "misreading"]
    assert not odd, "a worker goes on after the case that killed it"


def test_a_case_is_the_same_whenever_it_is_made(sample_folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    samples.use(sample_folder)
    for entry in entries.all_entries()[:20]:
        first, again = (entry.make(Dice(0, entry.name, 7)).about for _ in range(2))
        other = [entry.make(Dice(0, entry.name, number)).about for number in range(8, 12)]
        assert first == again
        assert {first} != set(other)


def test_every_public_callable_is_an_entry_point():
    assert arguments.uncovered() == []


def test_short_form_finds_nothing(sample_folder):
    chosen = [entry for entry in entries.all_entries() if entry.name.startswith(CLEAN)]
    found = campaign.Campaign()
    found.run(campaign.make_plan(chosen, CASES), sample_folder)
    lines = [f"{each.entry}:{each.number} {each.kind}: {each.detail}" for each in found.findings]
    assert not lines, "\n".join(lines)
