import io
import struct
import zipfile

import numpy as np
import pytest

import graphreach as gr
from graphreach.io.numpy_files import load_arrays
from graphreach.io.tables import read_features
from table_helpers import TOWNS, message

X = np.arange(8, dtype=np.float32).reshape(4, 2)


def npy_bytes(array=X, header=None):
    """An array as a .npy file, perhaps with a header of one's own."""
    if header is None:
        file = io.BytesIO()
        np.save(file, array, allow_pickle=True)
        return file.getvalue()
    text = header.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + array.tobytes()


def header(shape="(4, 2)", kind="'<f4'", order="False"):
    return f"{{'descr': {kind}, 'fortran_order': {order}, 'shape': {shape}}}"


@pytest.fixture(params=["x.npy", "x.npz"])
def save(request, tmp_path):
    def write(data):
        path = tmp_path / request.param
        if request.param == "x.npy":
            path.write_bytes(data)
        else:
            with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr("x.npy", data)
        return path

    return write


def test_a_header_of_ones_own_is_read(save):
    np.testing.assert_array_equal(read_features(save(npy_bytes(header=header())), TOWNS), X)
    turned = read_features(save(npy_bytes(X.T.copy(), header(order="True"))), TOWNS)
    np.testing.assert_array_equal(turned, X)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (npy_bytes(header=header("(4, 3)")), "truncated or damaged: .* takes 48 bytes, but there are 32"),
        (npy_bytes(header=header("(4, 1000000000000)")), "takes 16000000000000 bytes, but there are 32"),
        (npy_bytes(header=header("(-4, 2)")), "shape"),
        (npy_bytes(header=header("4")), "or is damaged"),
        (npy_bytes(header=header("(4, 'a')")), "or is damaged"),
        (npy_bytes(header=header("(4.0, 2)")), "or is damaged"),
        (npy_bytes(header=header(kind="'<q9'")), "or is damaged"),
        (npy_bytes(header=header(kind="[('a', '<f4')]")), "must hold numbers, got"),
        (npy_bytes(header=header(kind="'|O'")), "Python objects in .*, which are not read"),
        (npy_bytes(header=header(kind="'<M8[s]'", shape="(4, 1)")), "must hold numbers, got datetime64"),
        (npy_bytes(header=header(kind="'<U1'")), "must hold numbers, got <U1"),
        (npy_bytes(header="{'descr': '<f4'"), "or is damaged"),
        (npy_bytes(header="(" * 100), "or is damaged"),
        (npy_bytes(np.array([{}, None])), "Python objects"),
        (npy_bytes()[:-5], "takes 32 bytes, but there are 27"),
        (npy_bytes()[:20], "or is damaged"),
        (npy_bytes()[:6], "or is damaged"),
        (b"\x93NUMPY\x03\x00" + npy_bytes()[8:], "structured array"),
        (b"\x93NUMPY\x09\x00" + npy_bytes()[8:], "or is damaged|structured"),
        (b"x" * 200, "or is damaged"),
    ],
)
def test_damaged_arrays_are_refused_in_one_sentence(save, made, expected):
    with pytest.raises(gr.InputError, match=expected) as caught:
        read_features(save(made), TOWNS)
    assert "\n" not in str(caught.value)


def test_every_truncation_and_flipped_byte_is_one_sentence_or_read(tmp_path):
    np.savez_compressed(tmp_path / "a.npz", x=X, other=np.arange(5))
    data, path = (tmp_path / "a.npz").read_bytes(), tmp_path / "x.npz"
    rng = np.random.default_rng(0)
    cases = [data[:cut] for cut in range(0, len(data), 7)]
    flips = rng.integers([0, 1], [len(data), 256], (120, 2)).tolist()
    cases += [data[:at] + bytes([data[at] ^ flip]) + data[at + 1 :] for at, flip in flips]
    sentences = []
    for case in filter(None, cases):
        path.write_bytes(case)
        try:
            np.testing.assert_array_equal(read_features(path, TOWNS), X)
        except gr.InputError as error:
            sentences.append(str(error))
    assert len(sentences) > len(cases) / 3
    assert not any("\n" in sentence for sentence in sentences)


def test_arrays_beyond_memory_are_refused(save, monkeypatch):
    monkeypatch.setenv("GRAPHREACH_MEMORY_LIMIT", "20")
    assert "would take 3.2e-05 MB of memory" in message(read_features, save(npy_bytes()), TOWNS)


def test_a_packed_array_may_not_unpack_beyond_its_declared_size(tmp_path):
    path = tmp_path / "x.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", npy_bytes() + bytes(1000))
    assert "or is damaged" in message(read_features, path, TOWNS)


def test_the_names_that_a_file_has_are_listed(tmp_path):
    np.savez(tmp_path / "x.npz", z=X)
    with pytest.raises(gr.InputError, match=r"must hold the array x, got \['z'\]"):
        load_arrays(tmp_path / "x.npz", ("x",))
