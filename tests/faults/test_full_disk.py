"""Full disks and folders that cannot be written to: one sentence with the file's name, and nothing by half."""

import errno
import os
import subprocess
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import graphreach as gr
from graphreach import InputError, datasets, training
from graphreach.io.embeddings import SUFFIXES, write_embedding
from graphreach.training import Settings

resource = pytest.importorskip("resource", reason="limits are those of POSIX")


@contextmanager
def small_files(size):
    """Files that may not grow beyond a size stand for a disk that is full in the middle of a file."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_files_that_grow_too_large_are_named_and_not_there_by_half(tmp_path, suffix):
    target = tmp_path / f"out{suffix}"
    target.write_text("before")
    ids, z = np.arange(4000), np.random.default_rng(0).random((4000, 8)).astype(np.float32)
    with small_files(3000), pytest.raises(OSError, match="File too large") as caught:
        write_embedding(target, ids, iter([z]), 8)
    assert Path(caught.value.filename).name.startswith("out")
    assert ".partial" not in caught.value.filename
    assert [path.name for path in tmp_path.iterdir()] == [target.name]
    assert target.read_text() == "before"


def test_training_on_a_full_disk_names_the_file_and_goes_on_when_there_is_room(tmp_path):
    settings, data = Settings(epochs=2, evaluate_every=1, num_anchors=4), datasets.load("grid")
    whole = training.run(data, settings, tmp_path / "whole").record
    with small_files(2500), pytest.raises(OSError, match="File too large") as caught:
        training.run(data, settings, tmp_path / "run")
    assert caught.value.filename == str(tmp_path / "run" / "checkpoint.safetensors")
    assert training.run(data, settings, tmp_path / "run").record["metrics"] == whole["metrics"]


@pytest.fixture
def mounted(tmp_path):
    """A file system of 64 KB, if this process may mount one; a function makes it read-only."""
    folder = tmp_path / "small"
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], capture_output=True, check=False)
    if done.returncode:
        pytest.skip("this process may not mount file systems")
    yield folder, lambda: subprocess.run(["mount", "-o", "remount,ro", folder], check=True, capture_output=True)
    subprocess.run(["umount", folder], check=True)


def test_a_small_file_system_that_is_full(mounted):
    folder, _ = mounted
    ids, z = np.arange(4000), np.random.default_rng(0).random((4000, 16)).astype(np.float32)
    for suffix in SUFFIXES:
        with pytest.raises(OSError, match="No space left on device") as caught:
            write_embedding(folder / f"out{suffix}", ids, iter([z]), 16)
        assert Path(caught.value.filename).name.startswith("out")
        assert list(folder.iterdir()) == []


def test_a_read_only_folder_is_refused_and_a_finished_run_in_it_is_read(mounted):
    folder, make_read_only = mounted
    data = datasets.Sample(gr.Graph.from_edges(np.random.default_rng(0).integers(0, 30, (2, 90)), num_nodes=30))
    settings = Settings(method="common-neighbours")
    before = training.run(data, settings, folder / "run").record
    make_read_only()
    assert training.run(data, settings, folder / "run").record == before
    with pytest.raises(
        InputError, match=r"folder .*other must be one that can be written to, got Read-only file system"
    ):
        training.run(data, settings, folder / "other")


def test_a_folder_that_cannot_be_made_is_refused(tmp_path, monkeypatch):
    """The same where nothing can be mounted."""
    real = os.mkdir

    def mkdir(path, *args, **kwargs):
        if Path(path).name == "run":
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))
        return real(path, *args, **kwargs)

    monkeypatch.setattr(os, "mkdir", mkdir)
    data = datasets.Sample(gr.Graph.from_edges([[0, 1, 2, 3] * 5, list(range(1, 21))]))
    with pytest.raises(InputError, match="must be one that can be written to, got Read-only file system"):
        training.run(data, Settings(method="common-neighbours"), tmp_path / "run")
