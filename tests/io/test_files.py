"""Files that are whole or not there, and what killed processes leave."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from graphreach.io import files
from graphreach.io.files import remove_orphans, replacing, scratch_folder


def orphan(folder, process, host=None, name="out", suffix=".csv"):
    path = folder / f".{name}.{process}-0-{files._host() if host is None else host}.partial{suffix}"
    path.write_text("half")
    return path


@pytest.fixture(scope="module")
def ended():
    """The number of a process that is not there any more."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_partial_files_of_ended_processes_are_removed_at_the_next_write(tmp_path, ended):
    mine, other = orphan(tmp_path, ended), orphan(tmp_path, ended, name="another", suffix=".parquet")
    with replacing(tmp_path / "out.csv") as partial:
        partial.write_text("whole")
    assert not mine.exists()
    assert not other.exists()
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]


def test_partial_files_of_living_processes_and_of_other_machines_are_not_touched(tmp_path, ended):
    kept = [orphan(tmp_path, os.getppid()), orphan(tmp_path, ended, "elsewhere"), tmp_path / ".notes.partial.csv"]
    kept[-1].write_text("mine")
    assert remove_orphans(tmp_path) == []
    with replacing(tmp_path / "out.csv") as partial:
        partial.write_text("whole")
        assert remove_orphans(tmp_path) == []
        assert partial.exists()
    assert all(path.exists() for path in kept)


def test_a_partial_file_of_this_number_that_is_not_being_written_is_of_an_older_process(tmp_path):
    """In a container that starts again, processes have the same numbers."""
    path = orphan(tmp_path, os.getpid())
    assert remove_orphans(tmp_path) == [path]


def test_two_writers_of_one_process_do_not_share_a_partial_file(tmp_path):
    with replacing(tmp_path / "a.txt") as one, replacing(tmp_path / "a.txt") as other:
        one.write_text("one")
        other.write_text("other")
    assert (tmp_path / "a.txt").read_text() == "one"


@pytest.mark.parametrize("name", ["x" * 250 + ".csv", "\u00e4" * 120 + ".csv", "a.b.c.csv", "none", ".hidden"])
def test_any_name_can_be_written(tmp_path, name):
    with replacing(tmp_path / name) as partial:
        partial.write_text("whole")
    assert (tmp_path / name).read_text() == "whole"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        OSError(errno.EFBIG, "File too large"),
        ValueError("No space left on device (os error 28)"),
        OSError("No space left on device (os error 28)"),
    ],
)
def test_a_full_disk_names_the_file(tmp_path, error):
    target = tmp_path / "out.csv"
    target.write_text("before")

    def fill():
        with replacing(target) as partial:
            partial.write_text("half")
            raise error

    with pytest.raises(OSError, match=r"left|large") as caught:
        fill()
    assert caught.value.filename == str(target)
    assert target.read_text() == "before"
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]


def test_errors_about_the_partial_file_name_the_target(tmp_path):
    with pytest.raises(FileNotFoundError) as caught, replacing(tmp_path / "no" / "out.csv") as partial:
        partial.write_text("half")
    assert caught.value.filename == str(tmp_path / "no" / "out.csv")


def test_errors_about_other_things_stay_what_they_are(tmp_path):
    for error in (FileNotFoundError(2, "No such file", "input.csv"), ConnectionResetError(104, "reset"), KeyError("a")):
        with pytest.raises(type(error)) as caught, replacing(tmp_path / "out.csv"):
            raise error
        assert caught.value is error


def test_the_content_is_on_the_disk_before_the_name(tmp_path, monkeypatch):
    """A power cut leaves the old file or the new one, never a name without content."""
    done = []
    fsync, replace = os.fsync, Path.replace
    monkeypatch.setattr(files.os, "fsync", lambda number: (done.append(os.fstat(number).st_size), fsync(number))[1])
    monkeypatch.setattr(Path, "replace", lambda *pair: (done.append("renamed"), replace(*pair))[1])
    with replacing(tmp_path / "out.csv") as partial:
        partial.write_text("whole")
    assert done[:2] == [5, "renamed"]
    assert len(done) == 3  # the folder's names as well


def test_scratch_folders_of_ended_processes_are_removed_and_those_in_use_are_not(tmp_path, ended):
    left = tmp_path / f".out.{ended}-0-{files._host()}.partial.parquet"
    left.mkdir()
    (left / "0.parquet").write_text("part")
    with scratch_folder(tmp_path / "out.parquet") as folder:
        assert remove_orphans(tmp_path) == [left]
        assert folder.is_dir()
    assert list(tmp_path.iterdir()) == []
