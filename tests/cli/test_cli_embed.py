"""graphreach embed by the methods without layers; test_cli_train.py has that of the paper."""

import json

import numpy as np
import pytest

from graphreach.io.embeddings import SUFFIXES, read_embedding


@pytest.fixture
def streets(tmp_path):
    """A directed graph of 40 streets."""
    rng = np.random.default_rng(0)
    rows = {(f"street_{u}", f"street_{v}") for u, v in rng.integers(0, 40, (300, 2)) if u != v}
    path = tmp_path / "streets.csv"
    path.write_text("source,target\n" + "".join(f"{u},{v}\n" for u, v in sorted(rows)))
    return path


@pytest.fixture
def features(tmp_path):
    path = tmp_path / "features.csv"
    path.write_text("id,a,b\n" + "".join(f"street_{u},{u % 3},{u}\n" for u in range(40)))
    return path


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("method", ["reach", "position"])
def test_any_format_holds_the_users_ids(run, streets, tmp_path, method, suffix):
    out = tmp_path / f"z{suffix}"
    done = run("embed", streets, "-o", out, "--method", method, "--dim", 6, "--json")
    assert done.exit_code == 0, done.output
    ids, rows = read_embedding(out)
    assert rows.shape == (40, 6)
    assert sorted(ids.tolist()) == sorted(f"street_{u}" for u in range(40))
    found = json.loads(done.stdout, parse_constant=pytest.fail)  # NaN is no JSON
    assert found["held_out_links"] >= 10
    assert 0 <= found["auc"]["graphreach"] <= 1
    assert run("nearest", out, "--id", "street_0", "--top", 2).exit_code == 0


def test_halves_and_features(run, streets, features, tmp_path):
    words = ("embed", streets, "-o", tmp_path / "z.npy", "--dim", 8, "--features", features)
    written = []
    for more in ((), ("--attributes", "append"), ("--directed", "--directed-halves")):
        done = run(*words, *more)
        assert done.exit_code == 0, done.output
        written.append(read_embedding(tmp_path / "z.npy")[1])
    assert not np.allclose(written[0], written[1])
    assert not np.allclose(written[0], written[2])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--engine", "ray"), "--engine must be local with --method reach, which computes in this process, got ray"),
        (("--engine", "ray", "--method", "position"), "only --method paper trains on other engines"),
        (("--epochs", 3), "--epochs must not be given with --method reach: only --method paper reads it"),
        (("--attributes", "none"), '--attributes must be "smooth" or "append", got \'none\''),
        (("--attributes", "append"), "--attributes append must go with --method reach and --features"),
        (
            ("--directed-halves",),
            "--directed-halves must go with --directed, got a graph whose edges have no direction",
        ),
        (("--directed-halves", "--dim", 5), "--dim must be even with --directed-halves, got 5"),
        (("--directed-halves", "--method", "position"), "--directed-halves must go with --method reach"),
        (("--dim", 5, "--method", "paper"), "--dim must not be given with --method paper, got 5: --num-anchors is its"),
        (("-k", 9, "--dim", 6, "--method", "position"), "num_anchors must be at most 3 with method 'position'"),
    ],
)
def test_options_that_do_not_go_together(run, streets, tmp_path, words, message):
    done = run("embed", streets, "-o", tmp_path / "z.npy", *words)
    assert done.exit_code == 2
    assert message in done.stderr
    assert not (tmp_path / "z.npy").exists()


def test_positions_read_no_features(run, streets, features, tmp_path):
    done = run("embed", streets, "-o", tmp_path / "z.npy", "--method", "position", "--features", features)
    assert done.exit_code == 2
    assert "--features must not be given with --method position, which reads none" in done.stderr
