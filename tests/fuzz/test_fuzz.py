"""The harness notices every kind of finding, and the short form of the campaign finds none."""

import re

import pytest

from tests.fuzz import arguments, campaign, entries, faults, samples
from tests.fuzz.entry import Dice
from tests.fuzz.judge import FINDINGS, clear_folder

CASES = 1000


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """One campaign: what is wrong on purpose, and the short form."""
    folder = tmp_path_factory.mktemp("fuzz") / "samples"
    campaign_ = campaign.Campaign(hang=2.0)
    plan = [(entry.name, 0, 2) for entry in faults.entries()] + campaign.make_plan(entries.all_entries(), CASES)
    campaign_.run(plan, folder)
    samples.use(folder)
    return campaign_.findings


def test_campaign_notices_every_kind_of_finding(found):
    ours = [verdict for verdict in found if verdict.entry.startswith("fault.")]
    kinds = {verdict.entry.removeprefix("fault."): verdict.kind for verdict in ours if not verdict.number}
    assert kinds == {kind: kind for kind in FINDINGS} | {"memory": "exception"}
    odd = [verdict for verdict in ours if verdict.number and verdict.kind != "misreading"]
    assert not odd, "a worker goes on after the case that killed it"


def without_addresses(text):
    return re.sub(r"0x[0-9a-f]+", "", text)


def test_a_case_is_the_same_whenever_it_is_made(found, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def about(entry, number):
        clear_folder(tmp_path)
        return entry.make(Dice(0, entry.name, number)).about

    for entry in entries.all_entries():
        first, again, *other = (about(entry, number) for number in (7, 7, 8, 9))
        assert without_addresses(first) == without_addresses(again)
        assert {first} != set(other)


def test_every_public_callable_is_an_entry_point():
    assert arguments.uncovered() == []


def test_short_form_finds_nothing(found):
    wrong = [verdict for verdict in found if not verdict.entry.startswith("fault.")]
    assert not wrong, "\n".join(f"{each.entry}:{each.number} {each.kind}: {each.detail}" for each in wrong)
