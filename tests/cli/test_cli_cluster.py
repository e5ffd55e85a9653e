"""Verbs with ``--engine ray`` on a Ray of this machine."""

import json

import numpy as np
import pytest

from graphreach.cluster import connected


@pytest.fixture(scope="module")
def _ray():
    pytest.importorskip("ray", reason="ray is not installed")
    with connected():
        yield


@pytest.mark.usefixtures("_ray")
@pytest.mark.parametrize("layout", [[], ["--partitions", 2]], ids=["replicated", "partitioned"])
def test_the_same_files_and_a_record(run, roads, tmp_path, layout):
    here, there = tmp_path / "here.json", tmp_path / "there.json"
    for path, options in ((here, []), (there, ["--engine", "ray", *layout])):
        assert run("anchors", roads, "-k", 3, "-o", path, *options).exit_code == 0
    local, ray = (json.loads(path.read_text()) for path in (here, there))
    use = ray.pop("cluster")
    assert ray == local
    assert use["nodes"] == 1
    assert use["partitions"] == (2 if layout else None)
    assert use["bytes_moved"] > 0
    reach = []
    for name, options in (("here.npz", []), ("there.npz", ["--engine", "ray", *layout])):
        result = run("reach", roads, "--anchors", here, "-o", tmp_path / name, *options)
        assert result.exit_code == 0, result.stderr
        assert ("Ray: {" in result.stderr) == bool(options)
        with np.load(tmp_path / name) as file:
            reach.append({key: file[key] for key in ("to_anchors", "from_anchors")})
    for key, matrix in reach[0].items():
        assert matrix.tobytes() == reach[1][key].tobytes()


@pytest.mark.parametrize("verb", ["anchors", "reach"])
def test_wrong_options_are_one_line(run, roads, tmp_path, verb):
    for options, sentence in (
        (["--engine", "spark"], "engine must be one of local, ray, got 'spark'"),
        (["--partitions", 2], "--partitions must go with --engine ray, got 2"),
        (["--engine", "ray", "--address", "nowhere"], "address must be HOST:PORT"),
    ):
        output = ["-o", tmp_path / "out.npz"] if verb == "reach" else []
        result = run(verb, roads, *output, *options)
        assert result.exit_code == 2
        assert sentence in result.stderr
        assert "Traceback" not in result.stderr
