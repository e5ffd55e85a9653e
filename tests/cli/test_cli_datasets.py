import functools
import hashlib
import json
import sys
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

import graphreach as gr
from graphreach.datasets import registry, store
from graphreach.datasets.registry import Entry
from graphreach.datasets.store import DataFile, Plain, Source

NOWHERE = "http://127.0.0.1:1"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture
def address(tmp_path, monkeypatch):
    """A server of the folder ``web``, and short waits."""
    (tmp_path / "web").mkdir()
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setattr(store, "PAUSE", 0.0)
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=tmp_path / "web")) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


@pytest.fixture
def small(address, tmp_path, monkeypatch):
    """Three data sets: ``here`` and ``too`` share a file that the server has, ``away`` has a file that it has not."""
    (tmp_path / "web" / "a.txt").write_text("0 1\n")
    check = Plain(hashlib.sha256(b"0 1\n").hexdigest())
    served = DataFile("here/a.txt", check, (Source((f"{address}/a.txt",)),))
    away = DataFile("away/b.txt", check, (Source((f"{address}/b.txt",)), Source((f"{NOWHERE}/b.txt",))))
    names = {"here": (served,), "away": (away,), "too": (served,)}
    entries = [Entry(name, name, lambda store: None, files, 1, 2, 1) for name, files in names.items()]
    monkeypatch.setattr(registry, "ENTRIES", tuple(entries))
    return tmp_path / "data"


def nothing_is_loaded(monkeypatch):
    for entry in registry.ENTRIES:
        monkeypatch.setitem(entry.__dict__, "build", lambda store, seed: pytest.fail("a data set was loaded"))


def test_list_is_a_table_of_sizes(run, tmp_path, monkeypatch):
    nothing_is_loaded(monkeypatch)
    result = run("datasets", "--root", tmp_path)
    assert (result.exit_code, result.stderr) == (0, "")
    header, *lines = result.stdout.splitlines()
    assert header.split() == ["name", "graphs", "nodes", "edges", "attributes", "classes", "files", "about"]
    assert [line.split()[0] for line in lines] == gr.datasets.names()
    rows = {line.split()[0]: line.split()[1:7] for line in lines}
    assert rows["cora"] == ["1", "2,708", "5,278", "1,433", "7", "missing"]
    assert rows["grid"] == ["1", "400", "760", "0", "0", "generated"]
    assert "capacity, directed, weighted" in result.stdout


def test_list_as_json(run, tmp_path, monkeypatch):
    nothing_is_loaded(monkeypatch)
    (tmp_path / "email").mkdir()
    (tmp_path / "email" / "email.txt").touch()
    (tmp_path / "graphs").mkdir()
    (tmp_path / "graphs" / "soc-Epinions1.txt.gz").touch()
    rows = {row["name"]: row for row in json.loads(run("datasets", "--json", "--root", tmp_path).stdout)}
    assert list(rows) == gr.datasets.names()
    assert rows["email"]["files"] == "some missing"
    assert rows["email"]["missing"] == ["email/email_labels.txt"]
    assert rows["soc-epinions1"]["files"] == "here"
    assert rows["soc-epinions1"]["directed"] is True
    assert rows["grid"]["files"] == "generated"


def test_list_of_the_mirror(run, data_root, monkeypatch):
    monkeypatch.setenv("GRAPHREACH_DATA", str(data_root))
    rows = json.loads(run("datasets", "--json").stdout)
    assert {row["files"] for row in rows} == {"here", "generated", "in the package"}


def test_list_without_pooch_and_root(run, monkeypatch):
    monkeypatch.delenv("GRAPHREACH_DATA", raising=False)
    monkeypatch.setitem(sys.modules, "pooch", None)
    rows = json.loads(run("datasets", "--json").stdout)
    assert {row["files"] for row in rows} == {"missing", "generated", "in the package"}


def test_fetch_prints_where_files_are(run, small):
    for _ in range(2):
        result = run("datasets", "fetch", "here", "--root", small)
        assert (result.exit_code, result.stderr) == (0, "")
        assert result.stdout == f"{small / 'here' / 'a.txt'}\n"
    assert (small / "here" / "a.txt").read_text() == "0 1\n"


def test_fetch_into_the_folder_of_the_variable(run, small, monkeypatch):
    monkeypatch.setenv("GRAPHREACH_DATA", str(small))
    assert run("datasets", "fetch", "HERE").exit_code == 0
    assert (small / "here" / "a.txt").exists()


def test_fetch_that_fails_is_one_line(run, small):
    result = run("datasets", "fetch", "away", "--root", small)
    assert (result.exit_code, result.stdout) == (1, "")
    (line,) = result.stderr.splitlines()
    assert line.startswith(
        f"graphreach: error: away needs b.txt in {small / 'away'}, and b.txt could not be downloaded"
    )
    assert "HTTP status 404; 127.0.0.1:1: no connection" in line


def test_fetch_all_goes_on_after_a_failure(run, small):
    result = run("datasets", "fetch", "all", "--root", small)
    assert result.exit_code == 1
    assert result.stdout == f"{small / 'here' / 'a.txt'}\n"
    (line,) = result.stderr.splitlines()
    assert "away needs b.txt" in line


def test_fetch_checks_what_is_there(run, small):
    (small / "here").mkdir(parents=True)
    (small / "here" / "a.txt").write_text("my own")
    result = run("datasets", "fetch", "here", "--root", small)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "its sha256 is" in result.stderr
    assert (small / "here" / "a.txt").read_text() == "my own"


@pytest.mark.parametrize(("name", "where"), [("grid", "is generated"), ("karate", "ships with the package")])
def test_what_has_no_files_has_nothing_to_fetch(run, name, where):
    result = run("datasets", "fetch", name)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == f"graphreach: {name} {where} and has no files to download\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["fetch", "coora"], "did you mean 'cora'?"),
        (["fetch"], "NAME"),
        (["fech"], "fech"),
        (["--json", "fetch", "cora"], "--json and --root must come without fetch"),
    ],
)
def test_bad_words(run, words, message):
    result = run("datasets", *words)
    assert (result.exit_code, result.stdout) == (2, "")
    (line,) = result.stderr.splitlines()
    assert message in line
