import threading

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphreach as gr
from graphreach.io import embeddings
from graphreach.io.embeddings import READERS, SUFFIXES, check_ids, read_embedding, write_embedding
from helpers import run_python

TEXT = (".csv", ".emb", ".tsv")
IDS = {
    "integers": np.array([-5, 0, 7, 2**62, 2**63 - 1]),
    "words": np.array(["ann", "bob", "cid", "dan", "eve"]),
    "unicode": np.array(["ås", "日本", "na\u00efve", "\U0001f600", "z"]),
    "quotes": np.array(['"', 'say"hi"', '""', "it's", "a,b;c|d"]),
    "odd numbers": np.array(["007", "+7", "7", "1e3", "nan"]),
    "long": np.array([*"abcd", "x" * 200], dtype=object),
}


def matrix(n, width, seed=0):
    return np.random.default_rng(seed).standard_normal((n, width)).astype(np.float32)


def blocks_of(z, rows):
    return (z[begin : begin + rows] for begin in range(0, len(z), rows))


def assert_same(path, z, found):
    assert (found.dtype, found.flags.c_contiguous, found.shape) == (np.float32, True, z.shape)
    if path.suffix.lower() in TEXT:
        np.testing.assert_allclose(found, z, rtol=5.01e-6, atol=0)
    else:
        np.testing.assert_array_equal(found, z)


def message(function, *arguments):
    with pytest.raises(gr.InputError) as caught:
        function(*arguments)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def names(folder):
    return sorted(file.name for file in folder.iterdir())


def test_every_suffix_can_be_written_and_read():
    assert set(SUFFIXES) == set(READERS) == {".parquet", ".csv", ".npy", ".npz", ".emb", ".tsv"}


@pytest.mark.parametrize("suffix", [*SUFFIXES, ".PARQUET"])
@pytest.mark.parametrize("kind", IDS)
@pytest.mark.parametrize("rows", [1, 2, 5])
def test_round_trip(tmp_path, suffix, kind, rows):
    path, ids, z = tmp_path / f"z[1]*{suffix}", IDS[kind], matrix(5, 3)
    write_embedding(path, ids, blocks_of(z, rows), 3)
    found, array = read_embedding(path)
    assert found.tolist() == ids.tolist()
    assert found.dtype.kind == ids.dtype.kind or (suffix, kind) == (".npz", "long")
    assert_same(path, z, array)
    beside = {".npy": [f"{path.name}.ids.txt"], ".tsv": [f"{path.stem}.metadata.tsv"]}
    assert names(tmp_path) == sorted([path.name, *beside.get(suffix, [])])


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".npy", ".npz"])
def test_ids_with_blanks(tmp_path, suffix):
    ids, z = np.array(["new york", " a", "b ", "", "\t"]), matrix(5, 2)
    write_embedding(tmp_path / f"z{suffix}", ids, [z], 2)
    assert read_embedding(tmp_path / f"z{suffix}")[0].tolist() == ids.tolist()


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".npz"])
def test_ids_with_line_ends(tmp_path, suffix):
    ids = np.array(["two\nlines", "re\rturn", "both\r\n", "\n", "x"])
    write_embedding(tmp_path / f"z{suffix}", ids, [matrix(5, 2)], 2)
    assert read_embedding(tmp_path / f"z{suffix}")[0].tolist() == ids.tolist()


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1), min_size=1, unique=True),
    st.sampled_from(SUFFIXES),
)
def test_round_trip_of_any_text(tmp_path_factory, ids, suffix):
    path, z = tmp_path_factory.mktemp("files") / f"z{suffix}", matrix(len(ids), 1)
    write_embedding(path, np.array(ids), [z], 1)
    found, array = read_embedding(path)
    assert [str(value) for value in found.tolist()] == ids
    assert_same(path, z, array)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_ids_of_other_kinds_are_written_as_text(tmp_path, suffix):
    ids = np.fromiter([7, "ann", (1, 2)], object, 3)
    if suffix == ".emb":  # the text of the last one has a blank
        assert "'(1, 2)'" in message(write_embedding, tmp_path / "z.emb", ids, [matrix(3, 2)], 2)
        ids = ids[:2]
    write_embedding(tmp_path / f"z{suffix}", ids, [matrix(len(ids), 2)], 2)
    assert read_embedding(tmp_path / f"z{suffix}")[0].tolist() == [str(value) for value in ids.tolist()]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_numbers_at_the_ends_of_their_range(tmp_path, suffix):
    smallest, largest = np.float32(1e-45), np.finfo(np.float32).max
    z = np.array(
        [[0, -0.0, smallest, -smallest, 1.17549435e-38], [largest, -largest, np.inf, -np.inf, np.nan]], np.float32
    )
    write_embedding(tmp_path / f"z{suffix}", np.array([1, 2]), [z], 5)
    assert_same(tmp_path / f"z{suffix}", z, read_embedding(tmp_path / f"z{suffix}")[1])


@pytest.mark.parametrize("suffix", TEXT[:2])
def test_text_has_six_digits(tmp_path, suffix):
    scale = 10.0 ** np.random.default_rng(1).integers(-30, 30, (200, 4))
    z = (matrix(200, 4) * scale).astype(np.float32)
    path = tmp_path / f"z{suffix}"
    write_embedding(path, np.arange(200), [z], 4)
    separator = "," if suffix == ".csv" else " "
    lines = [line.split(separator) for line in path.read_text().splitlines()]
    assert lines[0] == (["id", "z0", "z1", "z2", "z3"] if suffix == ".csv" else ["200", "4"])
    for row, (name, *fields) in enumerate(lines[1:]):
        assert name == str(row)
        assert [float(field) for field in fields] == pytest.approx(
            [float(f"{value:.5e}") for value in z[row]], rel=1e-12
        )


def test_columns_and_row_groups_of_parquet(tmp_path, monkeypatch):
    monkeypatch.setattr(embeddings, "BLOCK_ENTRIES", 6)
    path, z = tmp_path / "z.parquet", matrix(10, 2)
    write_embedding(path, np.array(list("abcdefghij")), blocks_of(z, 4), 2)
    frame = pl.read_parquet(path)
    assert frame.schema == {"id": pl.String, "z0": pl.Float32, "z1": pl.Float32}
    np.testing.assert_array_equal(frame["z1"].to_numpy(), z[:, 1])
    parquet = pytest.importorskip("pyarrow.parquet")
    metadata = parquet.ParquetFile(path).metadata
    sizes = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
    assert sum(sizes) == 10
    assert max(sizes) <= 3


def test_numpy_reads_the_files_without_pickle(tmp_path):
    ids, z = np.array(["a", "b", "c"]), matrix(3, 2)
    write_embedding(tmp_path / "z.npy", ids, [z], 2)
    np.testing.assert_array_equal(np.load(tmp_path / "z.npy", allow_pickle=False), z)
    assert (tmp_path / "z.npy.ids.txt").read_text() == "a\nb\nc\n"
    write_embedding(tmp_path / "z.npz", ids, [z], 2)
    with np.load(tmp_path / "z.npz", allow_pickle=False) as file:
        assert sorted(file) == ["embedding", "ids"]
        np.testing.assert_array_equal(file["embedding"], z)
        np.testing.assert_array_equal(file["ids"], ids)


def test_the_projector_of_tensorboard_loads_the_files(tmp_path):
    """Numbers without ids or header; ids of one column have no header either."""
    write_embedding(tmp_path / "z.tsv", np.array(["new york", "b"]), [np.array([[0.5, 1], [-2e-7, 1 / 3]])], 2)
    assert (tmp_path / "z.tsv").read_text() == "0.5\t1.0\n-2e-7\t0.333333\n"
    assert (tmp_path / "z.metadata.tsv").read_text() == "new york\nb\n"


def test_word2vec_files_of_other_programs(tmp_path):
    path = tmp_path / "z.emb"
    path.write_bytes(b'3 2\r\n</s> 0.5 -1 \n"x  1e-3\t2 \n\xc3\xa5s 3 4')
    ids, z = read_embedding(path)
    assert ids.tolist() == ["</s>", '"x', "ås"]
    assert z.tolist() == [[0.5, -1], [np.float32(1e-3), 2], [3, 4]]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_blocks_are_taken_one_at_a_time_in_the_callers_thread(tmp_path, suffix):
    z, threads = matrix(64, 2), []

    def blocks():
        for begin in range(0, 64, 4):
            threads.append(threading.get_ident())
            yield z[begin : begin + 4]

    write_embedding(tmp_path / f"z{suffix}", np.arange(64), blocks(), 2)
    assert threads == [threading.get_ident()] * 16
    assert_same(tmp_path / f"z{suffix}", z, read_embedding(tmp_path / f"z{suffix}")[1])


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError, OSError])
@pytest.mark.parametrize("after", [0, 1, 3])
def test_interrupted_writing_leaves_nothing(tmp_path, suffix, error, after):
    def blocks():
        for _ in range(after):
            yield matrix(2, 3)
        raise error("stop")

    with pytest.raises(error, match="stop"):
        write_embedding(tmp_path / f"z{suffix}", np.arange(10), blocks(), 3)
    assert names(tmp_path) == []


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_interrupted_writing_keeps_what_was_there(tmp_path, suffix):
    path, z = tmp_path / f"z{suffix}", matrix(4, 3)
    write_embedding(path, np.arange(4), [z], 3)
    before = {name: (tmp_path / name).read_bytes() for name in names(tmp_path)}
    message(write_embedding, path, np.arange(5), [z], 3)
    assert {name: (tmp_path / name).read_bytes() for name in names(tmp_path)} == before


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(
    ("shapes", "expected"),
    [
        ([(2, 3), (1, 3)], "4 rows in all, one for each id, got 3"),
        ([], "4 rows in all, one for each id, got 0"),
        ([(2, 3), (3, 3)], "4 rows in all, one for each id, got at least 5"),
        ([(2, 3), (2, 2)], "shape [rows, 3], got [2, 2]"),
        ([(2, 3), (3,)], "shape [rows, 3], got [3]"),
    ],
)
def test_wrong_blocks_leave_nothing(tmp_path, suffix, shapes, expected):
    blocks = (np.ones(shape, np.float32) for shape in shapes)
    assert expected in message(write_embedding, tmp_path / f"z{suffix}", np.arange(4), blocks, 3)
    assert names(tmp_path) == []


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_folder_that_is_not_there(tmp_path, suffix):
    with pytest.raises(OSError, match="No such file"):
        write_embedding(tmp_path / "none" / f"z{suffix}", np.arange(4), blocks_of(matrix(4, 2), 1), 2)


FULL_DISK = """
import resource, signal, sys
from pathlib import Path
import numpy as np
from graphreach.io.embeddings import SUFFIXES, write_embedding

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
rng = np.random.default_rng(0)
for suffix in SUFFIXES:
    blocks = (rng.random((10_000, 8), np.float32) for _ in range(10))
    try:
        write_embedding(Path(sys.argv[1], f"z{suffix}"), np.arange(100_000), blocks, 8)
    except OSError as error:
        print("File too large" in str(error), end=" ")
"""


def test_a_full_disk_is_an_error_that_leaves_nothing(tmp_path):
    pytest.importorskip("resource")
    assert run_python(FULL_DISK, tmp_path).split() == ["True"] * len(SUFFIXES)
    assert names(tmp_path) == []


def test_ids_that_a_format_cannot_hold_are_refused_before_blocks_are_taken(tmp_path):
    def blocks():
        pytest.fail("a block was taken")
        yield

    for name, bad in (
        ("z.emb", "new york"),
        ("z.emb", "a\u2003b"),
        ("z.emb", ""),
        ("z.emb", "a\x01"),
        ("z.npy", "a\nb"),
        ("z.tsv", "a\tb"),
        ("z.tsv", "a\nb"),
        ("z.tsv", ""),
    ):
        text = message(write_embedding, tmp_path / name, np.array(["oslo", bad]), blocks(), 2)
        assert repr(bad) in text
        check_ids(tmp_path / "z.csv", np.array([bad]))
    assert ".parquet .csv .npy .npz .emb .tsv, got z.xlsx" in message(
        write_embedding, tmp_path / "z.xlsx", np.arange(2), blocks(), 2
    )
    assert names(tmp_path) == []


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_unusable_files(tmp_path, suffix):
    path = tmp_path / f"z{suffix}"
    assert "there is no file" in message(read_embedding, path)
    path.write_bytes(b"no embedding")
    (tmp_path / "z.npy.ids.txt").write_text("a\n")
    (tmp_path / "z.metadata.tsv").write_text("a\n")
    assert f"an embedding as a {suffix} file" in message(read_embedding, path)
    path.write_bytes(b"")
    assert str(path) in message(read_embedding, path)


def test_unusable_contents(tmp_path):
    def written(name, text):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    assert "must end in" in message(read_embedding, written("z.txt", ""))
    assert "must have 3 rows, as its first line says, got 2" in message(
        read_embedding, written("z.emb", "3 1\na 1\nb 2\n")
    )
    for name, text in (
        ("z.emb", "2 2\na 1 2\nb 1\n"),
        ("z.emb", "2 1\na 1 2\nb 1 2\n"),
        ("z.emb", "2 1\na x\nb 1\n"),
        ("z.csv", "id,z0\na\n"),
        ("z.csv", "id,z0\na,x\n"),
        ("z.csv", "name,z0\na,1\n"),
    ):
        assert "is not or is damaged" in message(read_embedding, written(name, text))
    index = message(read_embedding, written("z.csv", ",id,z0\n0,a,1\n1,b,2\n"))
    assert "must have a name for each column, got one without, such as an index that pandas adds" in index
    assert "(a column id and columns of numbers" in message(read_embedding, written("z.csv", "name,z0\na,1\n"))
    assert "z.metadata.tsv" in message(read_embedding, written("z.tsv", "1\t2\n"))
    written("z.metadata.tsv", "a\nb\n")
    assert "each of its 2 ids, got shape [1, 2]" in message(read_embedding, tmp_path / "z.tsv")
    for text in ("1\t2\n3\n", "1\n2\t3\n", "x\n1\n"):
        assert "is not or is damaged" in message(read_embedding, written("z.tsv", text))
    np.save(tmp_path / "z.npy", matrix(3, 2))
    assert "z.npy.ids.txt" in message(read_embedding, tmp_path / "z.npy")
    written("z.npy.ids.txt", "a\nb\n")
    assert "each of its 2 ids, got shape [3, 2]" in message(read_embedding, tmp_path / "z.npy")
    np.savez(tmp_path / "z.npz", ids=np.array(["a", (1, 2)], dtype=object), embedding=matrix(2, 2))
    assert "damaged" in message(read_embedding, tmp_path / "z.npz")
    np.savez(tmp_path / "z.npz", embedding=matrix(2, 2))
    assert "damaged" in message(read_embedding, tmp_path / "z.npz")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("z.emb", b"2 1000000000000\na 1\nb 2\n"),
        ("z.emb", b"2 -1\na 1\n"),
        ("z.emb", b"-2 1\na 1\n"),
        ("z.emb", b"2\n"),
        ("z.csv", b"a,b\n1,2\n"),
        ("z.csv", b"id,z0\na,x\n"),
        ("z.csv", b"id,z0,z0\na,1,2\n"),
        ("z.csv", b"id,z0\n\xff,1\n"),
        ("z.npz", b"PK\x03\x04"),
        ("z.parquet", b"PAR1PAR1"),
    ],
)
def test_damaged_embeddings_are_refused_in_one_sentence(tmp_path, name, text):
    (tmp_path / name).write_bytes(text)
    with pytest.raises(gr.InputError, match="must be an embedding as a"):
        read_embedding(tmp_path / name)


@pytest.mark.parametrize(
    ("ids", "matrix"),
    [
        (np.ones((1, 2)), np.ones((1, 2))),
        (np.array("a"), np.ones((1, 2))),
        (np.array(["a"]), np.ones((1, 2), complex)),
        (np.array(["a"]), np.array([["x"]])),
        (np.array(["a"]), np.array([["2020-01-01"]], "M8[D]")),
    ],
)
def test_arrays_of_other_kinds_are_no_embedding(tmp_path, ids, matrix):
    np.savez(tmp_path / "z.npz", ids=ids, embedding=matrix)
    with pytest.raises(gr.InputError, match="must be an embedding as a"):
        read_embedding(tmp_path / "z.npz")


def test_paths_of_embeddings(tmp_path):
    (tmp_path / "z.csv").write_text("id,z0\na,1\n")
    assert read_embedding(str(tmp_path / "z.csv"))[1].tolist() == [[1]]
    with pytest.raises(gr.InputError, match="path must be a file's name, got None"):
        read_embedding(None)
