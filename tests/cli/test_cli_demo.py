import csv
import shlex

from graphreach import demo


def test_demo_knows_where_nodes_are_and_saves_a_picture(run, tmp_path, monkeypatch):
    monkeypatch.setattr(demo.run_demo, "__defaults__", (0, 60, None))
    result = run("demo", "--output", tmp_path / "new" / "demo")
    assert result.exit_code == 0
    lines = [line for line in result.output.splitlines() if "│" in line]
    ours, theirs = (float(line.split("│")[2]) for line in lines)
    assert ours > 0.95
    assert theirs < 0.8
    picture = tmp_path / "new" / "demo" / "demo.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size < 400_000
    rows = list(csv.DictReader((tmp_path / "new" / "demo" / "demo.csv").read_text().splitlines()))
    assert len(rows) == 400
    assert {"graphreach", "gcn", "community"} <= rows[0].keys()


def test_demo_answers_questions_about_a_club_and_says_what_to_try_next(run, tmp_path, monkeypatch):
    monkeypatch.setattr(demo.run_demo, "__defaults__", (0, 1, None))
    monkeypatch.chdir(tmp_path)
    result = run("demo")
    assert result.exit_code == 0
    lines = result.output.splitlines()
    assert any("31 of the other 32 members" in line and "16 right" in line for line in lines)
    assert len([line for line in lines if "neighbours in common: " in line]) == 5
    assert (tmp_path / "demo" / "club.png").read_bytes().startswith(b"\x89PNG")
    start = next(place for place, line in enumerate(lines) if line.startswith("Try next"))
    commands = [shlex.split(line)[1:] for line in lines[start + 1 : start + 4]]
    assert [words[0] for words in commands] == ["recommend", "embed", "train"]
    for words in commands:
        assert run(*words).exit_code == 0, words


def test_the_layers_kernels_are_those_that_training_needs(tmp_path):
    from graphreach.nn.kernels import maps as map_kernels
    from graphreach.nn.kernels import messages as message_kernels

    demo.compile_layers()
    kernels = (message_kernels.forward, message_kernels.backward, map_kernels.map_entries_backward)
    before = [len(kernel.compiled.signatures) for kernel in kernels]
    demo.run_demo(tmp_path, epochs=1)
    assert [len(kernel.compiled.signatures) for kernel in kernels] == before
