"""Many files at once: jobs, children that crash, hang and are replaced, results that a rerun goes on with."""

from __future__ import annotations

import dataclasses
import io
import json
import os
import platform
import re
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pxr import Sdf
from usdphys_ext.usdphys_addon import cli
from usdphys_ext.usdphys_addon.batch import drive, executors, journal, progress, remote, worker
from usdphys_ext.usdphys_addon.batch import jobs as batch_jobs
from usdphys_ext.usdphys_addon.batch.jobs import Job
from usdphys_ext.usdphys_addon.cli import many
from usdphys_ext.usdphys_addon.core.errors import InputError, MissingDependencyError, OutputError, UsageError

posix_only = pytest.mark.skipif(os.name != "posix", reason="signals end processes of POSIX systems only")
#: Files for schedulers, which pipelines copy from the manual; the zips have none.
FARM = Path(__file__).resolve().parents[2] / "docs" / "farm"
CHILD = (sys.executable, str(Path(__file__).with_name("batch_child.py")))


def settings(**more: Any) -> worker.Settings:
    return worker.Settings(**{"command": CHILD, "root": "", "retries": 0, **more})


def job(identity: str, *arguments: str, outputs: tuple[str, ...] = ()) -> Job:
    return Job(identity, arguments[0], identity, arguments, (), outputs, "digest")


@pytest.fixture
def make_workers() -> Iterator[Callable[..., worker.Workers]]:
    made: list[worker.Workers] = []

    def make(alarm: Any = threading.Timer, **more: Any) -> worker.Workers:
        made.append(worker.Workers(settings(**more), alarm=alarm))
        return made[-1]

    yield make
    for each in made:
        each.close()


# --------------------------------------------------------------------------- jobs


def test_a_job_becomes_the_command_line_that_does_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = batch_jobs.job_of({
        "op": "convert", "in": "-a.blend", "out": "sub/a.usda",
        "options": {"up_axis": "Y", "meters-per-unit": 0.01, "strict": True, "animation": False, "form": None,
                    "variant": ["/A{b=c}", "/D{e=f}"], "onto": "s.blend", "package": "arm=../arm"},
    })  # fmt: skip
    assert found.arguments == (
        "convert", "--up-axis=Y", "--meters-per-unit=0.01", "--strict", "--variant=/A{b=c}", "--variant=/D{e=f}",
        f"--onto={tmp_path}/s.blend", f"--package=arm={tmp_path}/../arm",
        "--", f"{tmp_path}/-a.blend", f"{tmp_path}/sub/a.usda",
    )  # fmt: skip
    assert found.outputs == (f"{tmp_path}/sub/a.usda",)
    assert found.inputs == (f"{tmp_path}/-a.blend", f"{tmp_path}/s.blend")


def test_proofs_and_pages_are_jobs_whose_files_are_known(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = {"budget": 60, "expect": "e.toml", "against": "b.usda"}
    proof = batch_jobs.job_of({"op": "prove", "in": "a.usda", "json": "p.json", "options": options})
    assert proof.arguments == (
        "prove", "--budget=60", f"--expect={tmp_path}/e.toml", f"--against={tmp_path}/b.usda",
        f"--json={tmp_path}/p.json", "--", f"{tmp_path}/a.usda",
    )  # fmt: skip
    assert set(proof.inputs) == {f"{tmp_path}/{name}" for name in ("a.usda", "b.usda", "e.toml")}
    assert proof.outputs == (f"{tmp_path}/p.json",)
    page = batch_jobs.job_of({"op": "report", "in": "a.usda", "out": "a.html"})
    assert page.arguments == ("report", f"-o{tmp_path}/a.html", "--", f"{tmp_path}/a.usda")
    assert page.outputs == (f"{tmp_path}/a.html",)
    for options in ({"junit": "x.xml"}, {"stamp": "x.usda"}, {"index": "."}):
        with pytest.raises(InputError):
            batch_jobs.job_of({"op": "report", "in": "a.usda", "out": "a.html", "options": options})
    with pytest.raises(InputError):
        batch_jobs.job_of({"op": "report", "in": "a.usda"})


def test_a_url_is_no_name_in_the_working_folder():
    found = batch_jobs.job_of({"op": "simulate", "in": "s3://b/a.usda", "json": "gs://b/p.json"})
    assert found.arguments == ("simulate", "--json=gs://b/p.json", "--", "s3://b/a.usda")
    assert (found.inputs, found.outputs) == (("s3://b/a.usda",), ("gs://b/p.json",))


def test_a_command_takes_no_url_and_says_who_does(tmp_path, capfd):
    assert cli.main(["inspect", "s3://bucket/crate.usda"]) == 2
    assert "'s3://bucket/crate.usda' is a URL, which only the jobs of a batch take" in capfd.readouterr().err
    (tmp_path / "a:").mkdir()
    (tmp_path / "a:" / "crate.usda").write_text(CRATE)
    assert cli.main(["inspect", f"{tmp_path}/a://crate.usda"]) == 0


@pytest.mark.parametrize("option", ["onto", "srdf"])
def test_a_changed_file_that_an_option_names_is_a_changed_job(tmp_path, monkeypatch, option):
    monkeypatch.chdir(tmp_path)
    for name in ("a.urdf", "other"):
        (tmp_path / name).write_text("1")
    found = batch_jobs.job_of({"op": "validate", "in": "a.urdf", "options": {option: "other"}})
    assert f"--{option}={tmp_path}/other" in found.arguments and found.inputs[1] == f"{tmp_path}/other"
    before = found.stamp()
    (tmp_path / "other").write_text("12")
    assert found.stamp() != before


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("[]", "object"), ("{", "no JSON"),
        ('{"op": "delete", "in": "a"}', "'delete'"), ('{"op": [], "in": "a"}', "'op'"),
        ('{"op": "convert", "in": "a.blend"}', "'out'"), ('{"op": "validate"}', "'in'"),
        ('{"op": "validate", "in": "a", "out": "b"}', "no effect"), ('{"op": "validate", "in": 3}', "'in'"),
        ('{"op": "validate", "in": "a", "target": "ros"}', "'target'"),
        ('{"op": "validate", "in": "a", "options": ["ros"]}', "'options'"),
        ('{"op": "validate", "in": "a", "options": {"target": {}}}', "'target'"),
        ('{"op": "validate", "in": "a", "options": {"isolate": true}}', "'isolate'"),
        ('{"op": "inspect", "in": "a", "id": 3}', "'id'"),
        ("[" * 100000, "nested too deeply"),
        ('{"op": "validate", "in": "a", "options": {"arg": ' + "[" * 900 + "]" * 900 + "}}", "'arg'"),
        (r'{"op": "validate", "in": "a\u0000b.usda"}', "rename"), (r'{"op": "validate", "in": "a\ud800"}', "UTF-8"),
        (r'{"op": "validate", "in": "s3://b/\u0000"}', "rename"), ('{"op": "validate", "in": "s3://b/"}', "no file"),
        ('{"op": "convert", "in": "a", "out": "s3://b/c/.."}', "no file"),
        (r'{"op": "validate", "in": "a", "options": {"prefix": "\ud800"}}', "'prefix'"),
        ('{"op": "validate", "in": "a", "options": {"": true}}', "option"),
        ('{"op": "validate", "in": "a", "options": {"target=usd": true}}', "option"),
    ],
)  # fmt: skip
def test_a_line_that_is_no_job_is_named_before_anything_is_done(tmp_path, line, word):
    file = tmp_path / "jobs.jsonl"
    file.write_text(f'{{"op": "inspect", "in": "a.usda"}}\n\n{line}\n')
    with pytest.raises(InputError, match=f"^Line 3 of .*{word}"):
        batch_jobs.read(file)


@pytest.mark.parametrize(
    ("second", "word"),
    [
        ({"op": "convert", "in": "b.blend", "out": "./a.usda"}, "both write"),
        ({"op": "convert", "in": "b.blend", "out": "below/../a.usda"}, "both write"),
        ({"op": "validate", "in": "./a.usda"}, "another batch"),
        ({"op": "convert", "in": "b.usda", "out": "b.blend", "options": {"onto": "a.usda"}}, "another batch"),
        ({"op": "inspect", "in": "x", "id": "1"}, "'1'"),
    ],
)
def test_two_jobs_never_write_one_file_nor_have_one_id(tmp_path, second, word):
    first = {"op": "convert", "in": "a.blend", "out": "a.usda", "id": "1"}
    (tmp_path / "jobs.jsonl").write_text("\n".join(map(json.dumps, (first, second))))
    with pytest.raises(InputError, match=word):
        batch_jobs.read(tmp_path / "jobs.jsonl")


def test_a_line_separator_in_a_text_ends_no_line(tmp_path):
    (tmp_path / "jobs.jsonl").write_text('{"op": "inspect", "in": "/a\u2028b.usda"}\r\n', encoding="utf-8")
    assert [one.source for one in batch_jobs.read(tmp_path / "jobs.jsonl")] == ["/a\u2028b.usda"]


@posix_only
def test_jobs_are_not_read_from_what_does_not_end(tmp_path):
    (tmp_path / "jobs.jsonl").symlink_to("/dev/null")
    with pytest.raises(InputError, match="device or a pipe"):
        batch_jobs.read(tmp_path / "jobs.jsonl")


@pytest.mark.parametrize("count", [1, 3, 8])
def test_each_job_is_in_exactly_one_shard(count):
    everything = [job(str(number), "ok") for number in range(7)]
    parts = [batch_jobs.shard(everything, f"{number}/{count}") for number in range(1, count + 1)]
    assert Counter(each.id for part in parts for each in part) == Counter(each.id for each in everything)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


@pytest.mark.parametrize("text", ["0/2", "3/2", "1", "/", "a/b", "1/-1", "-1/2", "1/2/3", "²/3"])
def test_a_shard_that_is_none_is_wrong_use(text):
    with pytest.raises(UsageError, match="--shard"):
        batch_jobs.shard([], text)


# --------------------------------------------------------------------------- results


def test_a_torn_last_line_costs_no_other_result(tmp_path):
    file = tmp_path / "results.jsonl"
    with journal.Journal(file) as book:
        book.add({"id": "a", "status": "ok"})
    whole = file.read_bytes()
    for cut in range(len(whole)):
        file.write_bytes(whole + whole[:cut])
        with journal.Journal(file) as book:
            book.add({"id": "b", "status": "ok"})
        # Without its line feed alone, the torn line is a whole result.
        assert [found["id"] for found in journal.results(file)] == ["a", *(["a"] if cut == len(whole) - 1 else []), "b"]


def test_two_batches_do_not_write_to_one_file_of_results(tmp_path):
    pytest.importorskip("fcntl")
    with journal.Journal(tmp_path / "r.jsonl"), pytest.raises(OutputError, match="Another batch"):
        journal.Journal(tmp_path / "r.jsonl")


def test_only_what_is_done_as_it_is_now_is_left_out_of_a_rerun(tmp_path):
    source, output = tmp_path / "a.usda", tmp_path / "b.usda"
    source.write_text("a")
    output.write_text("out")
    one = Job("a", "convert", str(source), (), (str(source),), (str(output),), "digest")
    outputs = [{"path": str(output), "bytes": 3}]
    found = {"id": "a", "status": "ok", "job": "digest", "input": one.stamp(), "outputs": outputs}
    assert journal.is_done(one, found)
    assert not journal.is_done(one, None)
    assert not journal.is_done(one, found | {"status": "failed"})
    assert not journal.is_done(dataclasses.replace(one, digest="other options"), found)
    source.write_text("changed")
    assert not journal.is_done(one, found)
    found["input"] = one.stamp()
    assert journal.is_done(one, found)
    output.write_text("torn")
    assert not journal.is_done(one, found)
    output.unlink()
    assert not journal.is_done(one, found)


@pytest.mark.parametrize(
    "outputs",
    [5, [1], {"path": "x"}, *([{"path": path, "bytes": 3}] for path in (5, "a\0b", "\ud800"))],
)
def test_results_that_no_batch_has_written_count_as_not_done(tmp_path, outputs):
    one = Job("a", "convert", "s3://b/a.usda", (), (), (), "digest")
    found = {"id": "a", "status": "ok", "job": "digest", "input": None, "outputs": outputs}
    assert not journal.is_done(one, found)


def test_a_line_of_results_that_is_nested_too_deeply_is_left_out(tmp_path):
    file = tmp_path / "r.jsonl"
    file.write_text('{"id": ' * 100000 + '\n{"id": "b"}\n')
    assert list(journal.results(file)) == [{"id": "b"}]


@pytest.mark.parametrize("content", [b"BLENDER-v500", b"#usda 1.0\n", b"\n", b'{"op": "inspect"}\n', b"PXR-USDC"])
def test_results_are_never_appended_to_a_file_of_another_kind(tmp_path, content):
    file = tmp_path / "precious.blend"
    file.write_bytes(content)
    with pytest.raises(OutputError, match="no file of results"):
        journal.Journal(file)
    assert file.read_bytes() == content


# --------------------------------------------------------------------------- children


def test_one_child_does_many_jobs_and_what_blender_prints_is_no_answer(make_workers):
    workers = make_workers()
    found = [workers.run(job(str(number), "noise", str(number)).as_table()) for number in range(5)]
    assert [(each["status"], each["arguments"]) for each in found] == [("ok", [str(number)]) for number in range(5)]
    assert len({each["pid"] for each in found}) == 1


def test_a_child_is_replaced_after_its_jobs(make_workers):
    workers = make_workers(jobs_per_child=2)
    pids = [workers.run(job("a", "ok").as_table())["pid"] for _ in range(6)]
    assert pids[0::2] == pids[1::2] and len(set(pids)) == 3


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other libraries return what is free by themselves")
def test_what_a_large_file_has_taken_goes_back_to_the_system(make_workers):
    """300 MB in small pieces: a child that kept it would be no larger than its limit, and work on with it."""
    workers = make_workers()
    first, large, last = (workers.run(job(work, work).as_table()) for work in ("ok", "pieces", "ok"))
    assert first["pid"] == last["pid"] and max(large["memory"], last["memory"]) < first["memory"] + 50e6


def test_temporary_files_of_a_child_go_with_it_though_it_has_no_time_to_delete_them(make_workers):
    workers = make_workers()
    (left,) = workers.run(job("a", "temporary").as_table())["arguments"]
    assert Path(left).is_dir()
    workers.close()
    assert not Path(left).parent.exists()


@pytest.mark.parametrize(("name", "is_deleted"), [(f"{worker.FOLDER}abc", True), ("home", False)])
def test_a_child_whose_batch_was_killed_deletes_its_folder_and_no_other(tmp_path, name, is_deleted):
    (folder := tmp_path / name).mkdir()
    environment = {**os.environ, worker.FAULT_LOG: str(folder / "faults.txt")}
    subprocess.run(CHILD, stdin=subprocess.DEVNULL, capture_output=True, env=environment, check=True)
    assert folder.exists() != is_deleted


@posix_only
@pytest.mark.parametrize(("work", "signal"), [("crash", 11), ("killed", 9)])
def test_a_crash_costs_its_own_job_only(make_workers, work, signal):
    workers = make_workers()
    statuses = [workers.run(job("x", kind).as_table()) for kind in ("ok", work, "ok", "fail")]
    assert [each["status"] for each in statuses] == ["ok", "crashed", "ok", "failed"]
    assert statuses[1]["signal"] == signal


@posix_only
def test_a_job_that_crashes_once_is_tried_again(make_workers, tmp_path):
    found = make_workers(retries=2).run(job("x", "crash-once", str(tmp_path / "mark")).as_table())
    assert (found["status"], found["attempts"]) == ("ok", 2)


@posix_only
def test_a_job_that_hangs_is_ended_by_its_child(make_workers):
    """The child ends itself, also where nobody is left to end it, and says where it was."""
    found = make_workers(timeout=0.01).run(job("x", "hang").as_table())
    assert found["status"] == "timeout"
    assert "batch_child.py" in found["faults"]


@posix_only
def test_a_child_that_does_not_end_itself_is_ended(make_workers):
    class Alarm:
        """Goes off at once, except while a child starts."""

        daemon = False

        def __init__(self, seconds: float, ring: Callable[[], None]) -> None:
            self.seconds, self.ring = seconds, ring

        def start(self) -> None:
            if self.seconds != worker.START:
                self.ring()

        def cancel(self) -> None: ...

        def join(self) -> None: ...

    assert make_workers(Alarm).run(job("x", "hang").as_table())["status"] == "timeout"


def test_a_program_that_is_no_child_is_said_and_no_job_is_blamed(tmp_path):
    silent = settings(command=(sys.executable, "-c", "import sys; sys.exit('no bpy here')"))
    with pytest.raises(InputError, match="no bpy here"), executors.local(silent, 1) as crew:
        drive.run([job("x", "ok")], crew, tmp_path / "r.jsonl", lambda *_: None)
    assert list(journal.results(tmp_path / "r.jsonl")) == []


# --------------------------------------------------------------------------- batches


@posix_only
def test_of_many_jobs_exactly_the_bad_ones_fail_and_a_rerun_does_only_those(tmp_path):
    results, told = tmp_path / "r.jsonl", []
    everything = [job(f"ok {number}", "ok") for number in range(30)]
    everything[7:7] = [job(f"crash {number}", "crash") for number in range(3)]
    everything.append(job("fail", "fail"))
    with executors.local(settings(), 2) as crew:
        counts = drive.run(everything, crew, results, lambda each, _: told.append(each.id))
    assert counts == {"ok": 30, "crashed": 3, "failed": 1}
    assert sorted(told) == sorted(each.id for each in everything)
    found = journal.done(results)
    assert {name for name, each in found.items() if each["status"] == "crashed"} == {f"crash {n}" for n in range(3)}
    assert "segmentation fault" in found["crash 0"]["error"]
    rest = drive.pending(everything, results)
    assert sorted(each.id for each in rest) == ["crash 0", "crash 1", "crash 2", "fail"]


@posix_only
@pytest.mark.parametrize(("work", "there"), [("crash", ["r.jsonl"]), ("crash-once", ["a.usda", "r.jsonl"])])
def test_what_a_dead_child_has_left_beside_its_output_is_removed(tmp_path, work, there):
    """Also where the next attempt comes to an end."""
    output = tmp_path / "a.usda"
    left = tmp_path / f"{worker_prefix(output)}half.usda"
    left.write_text("half")
    todo = [job("a", work, *([str(output)] if work == "crash-once" else []), outputs=(str(output),))]
    with executors.local(settings(retries=1), 1) as crew:
        drive.run(todo, crew, tmp_path / "r.jsonl", lambda *_: None)
    assert sorted(path.name for path in tmp_path.iterdir()) == there


def worker_prefix(output: Path) -> str:
    """Beginning of the names of temporary files for an output."""
    from usdphys_ext.usdphys_addon.system import files

    with files.scratch_file(output) as scratch:
        return scratch.name.rsplit("-", 1)[0] + "-"


def test_an_interrupt_ends_the_children_and_keeps_what_is_done(tmp_path):
    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), executors.local(settings(), 1) as crew:
        drive.run([job(str(number), "ok") for number in range(20)], crew, tmp_path / "r.jsonl", stop)
    assert len(list(journal.results(tmp_path / "r.jsonl"))) == 1


def test_outputs_are_described_and_their_folders_made(make_workers, tmp_path):
    output = tmp_path / "new" / "a.txt"
    found = make_workers().run(job("a", "write", str(output), "text", outputs=(str(output),)).as_table())
    digest = "982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1"
    assert found["outputs"] == [{"path": str(output), "bytes": 4, "sha256": digest}]


def test_of_the_folder_of_an_input_only_what_it_names_is_fetched_itself_or_through_others(tmp_path):
    asset = tmp_path / "asset"
    (asset / "parts").mkdir(parents=True)
    crate = Sdf.Layer.CreateAnonymous(".usda")
    crate.ImportFromString(
        '#usda 1.0\ndef "A" (references = @./deep.usda@</A>) {\n    asset file = @./skin.<UDIM>.png@\n}\n'
    )
    crate.Export(str(asset / "parts" / "crate.usdc"))
    texts = {
        "whole.usda": "#usda 1.0\n(\n    subLayers = [@parts/crate.usdc@]\n)\n",
        "parts/deep.usda": "@a%20b.png@",
        "parts/a b.png": "",
        "parts/skin.1002.png": "",
        "other.usda": "@parts/crate.usdc@",
        "parts/other.png": "",
        "robot.urdf": '<mesh filename="package://robot/parts/arm.dae"/>',
        "parts/arm.dae": "<init_from>x.png</init_from>",
        "parts/x.png": "",
        "torn.blend": "no blend",
        "torn.usdc": "PXR-USDC",
    }
    for name, text in texts.items():
        (asset / name).write_text(text)
    names = {path.relative_to(asset).as_posix() for path in asset.rglob("*") if path.is_file()}

    def fetched(main):
        got = []
        remote.fetch(main, names, lambda name: got.append(name) or asset / name)
        assert len(got) == len(set(got))
        return set(got)

    parts = {"parts/crate.usdc", "parts/deep.usda", "parts/a b.png", "parts/skin.1002.png"}
    assert fetched("whole.usda") == {"whole.usda", *parts}
    assert fetched("robot.urdf") == {"robot.urdf", "parts/arm.dae", "parts/x.png"}
    assert fetched("torn.usdc") == names


def crate_with(name):
    layer = Sdf.Layer.CreateAnonymous(".usda")
    layer.ImportFromString(f"#usda 1.0\n(\n    subLayers = [@{name}@]\n)\n")
    return layer


#: A document of JSON in a .glb, whose name of an image is written with an escape.
IMAGES = b'{"images": [{"uri": "\\u00e4.png"}]}'
GLB = b"glTF" + bytes(8) + len(IMAGES).to_bytes(4, "little") + b"JSON" + IMAGES + b"\0\xffBIN"


@pytest.mark.parametrize(
    ("name", "content", "wanted"),
    [
        ("arm.urdf", b'<mesh filename="a&amp;b&#x2e;stl"/>', {"a&b.stl"}),
        ("arm.dae", "<init_from>\u00e4.png</init_from>".encode(), {"\u00e4.png"}),
        ("scene.glb", GLB, {"\u00e4.png"}),
        ("utf16.urdf", '<mesh filename="other.stl"/>'.encode("utf-16"), None),
        ("utf16.dae", '<mesh filename="other.stl"/>'.encode("utf-16-le"), None),
        ("latin.urdf", "<?xml version='1.0' encoding='latin-1'?><mesh filename='\u00e4.png'/>".encode("latin-1"), None),
        ("macro.urdf", b'<mesh filename="${side}.stl"/>', None),
        ("found.urdf", b'<mesh filename="$(arg side).stl"/>', None),
        ("plain.usda", b"#usda 1.0\n# `not` an expression\n", set()),
        ("chosen.usda", b'#usda 1.0\n(\n subLayers = [@`"./${SIDE}.usda"`@]\n)\n', None),
        ("chosen.usdc", '`"./${SIDE}.usda"`', None),
        ("plain.usdc", "./left.usda", {"left.usda"}),
    ],
)  # fmt: skip
def test_names_are_found_however_they_are_written_or_all_files_are_fetched(tmp_path, name, content, wanted):
    if isinstance(content, str):
        crate_with(content).Export(str(tmp_path / name))
    else:
        (tmp_path / name).write_bytes(content)
    names = {"a&b.stl", "\u00e4.png", "other.stl", "left.usda"}
    assert set(remote.named(tmp_path / name, names)) == (names if wanted is None else wanted)


def test_a_url_without_its_package_is_said(make_workers, monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec", None)
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    one = Job("a", "inspect", "s3://b/f/a.usda", ("ok", "s3://b/f/a.usda"), ("s3://b/f/a.usda",), (), "")
    found = make_workers().run(one.as_table())
    assert found["status"] == "failed" and "fsspec" in found["error"]


def test_dask_that_is_missing_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingDependencyError, match="distributed"), executors.dask(settings(), "tcp://x:1"):
        pass


# --------------------------------------------------------------------------- progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_bar_shows_what_is_done_how_fast_and_how_long_it_takes(clock):
    shown = progress.Progress(240, Terminal())
    for number in range(60):
        clock.advance(0.5)
        shown.told(job(str(number), "ok"), {"status": "ok"})
    assert shown.line() == "[######                  ] 60/240, 2 a second, 1:30 left"
    shown.told(job("x", "crash"), {"status": "crashed", "error": "Why."})
    assert "61/240, 1 not ok, " in shown.line()


def test_without_a_terminal_each_job_is_a_line(capsys):
    shown = progress.Progress(2, io.StringIO())
    shown.told(job("a", "ok"), {"status": "ok", "seconds": 0.25})
    shown.told(job("b", "crash"), {"status": "crashed", "seconds": None, "error": "Why."})
    shown.end()
    assert capsys.readouterr().err.splitlines() == ["1/2 ok a (0.25 s)", "2/2 crashed b: Why."]


def test_on_a_terminal_only_bad_jobs_are_lines_and_the_bar_is_taken_away(clock, capsys):
    stream = Terminal()
    shown = progress.Progress(2, stream)
    shown.told(job("a", "ok"), {"status": "ok"})
    clock.advance(1.0)
    shown.told(job("b", "fail"), {"status": "failed", "error": "Why."})
    shown.end()
    assert capsys.readouterr().err.splitlines() == ["2/2 failed b: Why."]
    assert stream.getvalue().endswith(" \r") and "[########################] 2/2" in stream.getvalue()


@pytest.mark.parametrize(("seconds", "text"), [(0, "0:00"), (65.4, "1:05"), (3599.6, "1:00:00"), (7384, "2:03:04")])
def test_durations(seconds, text):
    assert progress.duration(seconds) == text


# --------------------------------------------------------------------------- the command


CRATE = """#usda 1.0
(
    metersPerUnit = 1
    upAxis = "Z"
)
def Cube "Crate" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"])
{
    double size = 1
}
"""


@pytest.fixture
def jobs_file(tmp_path) -> Path:
    stage = tmp_path / "crate.usda"
    stage.write_text(CRATE)
    file = tmp_path / "jobs.jsonl"
    lines = [{"op": "inspect", "in": str(stage), "id": str(number)} for number in range(4)]
    file.write_text("\n".join(map(json.dumps, lines)))
    return file


@pytest.mark.slow
def test_the_command_does_the_jobs_and_does_them_once(jobs_file, capfd):
    assert cli.main(["batch", str(jobs_file), "--workers", "2"]) == 0
    results = jobs_file.with_name("jobs.results.jsonl")
    assert capfd.readouterr().out == f"{results}: 4 jobs: 4 ok\n"
    before = results.read_bytes()
    table = journal.done(results)["0"]["table"]
    assert table["units"]["upAxis"] == "Z"
    assert cli.main(["batch", str(jobs_file)]) == 0
    assert capfd.readouterr().out == f"{results}: 4 jobs: 4 done before\n"
    assert results.read_bytes() == before


@pytest.mark.slow
def test_a_job_that_fails_is_named_and_ends_the_command_with_status_1(jobs_file, capfd):
    lines = '{"op": "inspect", "in": "/none.usda"}', '{"op": "inspect", "in": "/a.usda", "options": {"x": 1}}'
    jobs_file.write_text("\n".join(lines))
    assert cli.main(["batch", str(jobs_file), "--shard", "1/2"]) == 1
    assert cli.main(["batch", str(jobs_file), "--shard", "2/2"]) == 1
    printed = capfd.readouterr()
    assert "1/1 failed inspect /none.usda" in printed.err and "check the name" in printed.err
    assert "jobs.results.2-of-2.jsonl: 1 job: 1 failed" in printed.out
    (found,) = journal.results(jobs_file.with_name("jobs.results.2-of-2.jsonl"))
    assert (found["exit"], found["error"]) == (2, "unrecognized arguments: --x=1")


def test_a_check_that_fails_says_how_often_and_why(tmp_path):
    stage = tmp_path / "crate.usda"
    stage.write_text(
        CRATE.replace("double size = 1", "float physics:mass = -1").replace('I"])', 'I", "PhysicsMassAPI"])')
    )
    found = cli.perform(["validate", str(stage)])
    first = next(issue for issue in found["issues"] if issue["severity"] == "error")
    assert (found["exit"], found["error"]) == (1, f"The checks find 1 error, such as: {first['message']}")
    assert "error" not in cli.perform(["inspect", str(stage)])


@pytest.mark.parametrize(
    ("arguments", "status", "word"),
    [
        (["none.jsonl"], 1, "none.jsonl"), (["J", "--shard", "3/2"], 2, "--shard"),
        (["J", "--workers", "0"], 2, "workers"),
        (["J", "--dask", "tcp://x:1", "--workers", "2"], 2, "--workers"), (["J", "--timeout", "0"], 2, "timeout"),
        (["J", "--retries", "-1"], 2, "retries"), (["J", "--out", "J"], 1, "is the input itself"),
        (["J", "--timeout", "1e300"], 2, "timeout"), (["J", "--out", "C"], 2, "of the jobs themselves"),
        (["J", "--tim", "9"], 2, "--tim"), (["J", "--shard", "1/0"], 2, "at least 1"),
        (["s3://bucket/jobs.jsonl"], 2, "is a URL"),
    ],
)  # fmt: skip
def test_wrong_use_is_one_sentence_before_any_job(jobs_file, capfd, arguments, status, word):
    names = {"J": str(jobs_file), "C": str(jobs_file.with_name("crate.usda"))}
    assert cli.main(["batch", *(names.get(each, each) for each in arguments)]) == status
    printed = capfd.readouterr()
    assert word in printed.err and not printed.out
    assert sorted(path.name for path in jobs_file.parent.iterdir()) == ["crate.usda", "jobs.jsonl"]


@pytest.mark.parametrize("option", ["h", "hel", "ou", "js", "isol"])
def test_a_job_has_no_option_by_the_beginning_of_its_name(jobs_file, option):
    """The option "ou" would write a file that the batch does not know, and "h" would succeed without doing anything."""
    line = {"op": "simulate", "in": str(jobs_file.with_name("crate.usda")), "options": {"seconds": 0.1, option: True}}
    assert cli.main(batch_jobs.job_of(line).arguments) == 2


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A Blender that works offline, as it does unless the user allows more."""
    app = SimpleNamespace(module=False, online_access=False, binary_path="")
    monkeypatch.setitem(sys.modules, "bpy", SimpleNamespace(app=app))
    return app


@pytest.mark.parametrize(
    ("line", "options", "what"),
    [({"op": "validate", "in": "memory://bucket/a.usda"}, [], "'memory://bucket/a.usda'"),
     ({"op": "convert", "in": "crate.usda", "out": "s3://bucket/b.usda"}, [], "'s3://bucket/b.usda'"),
     ({"op": "validate", "in": "crate.usda"}, ["--dask", "tcp://127.0.0.1:9"], "'tcp://127.0.0.1:9'")],
)  # fmt: skip
def test_a_blender_that_works_offline_opens_no_url_and_no_scheduler(line, options, what, jobs_file, offline, capfd):
    line["in"] = line["in"] if "://" in line["in"] else str(jobs_file.with_name("crate.usda"))
    jobs_file.write_text(json.dumps(line))
    assert cli.main(["batch", str(jobs_file), *options]) == 1
    said = capfd.readouterr().err
    assert said.count("\n") == 1 and what in said and "--online-mode" in said, said
    assert sorted(path.name for path in jobs_file.parent.iterdir()) == ["crate.usda", "jobs.jsonl"]


def test_online_access_is_asked_of_blender_alone_and_for_what_is_elsewhere(offline):
    many.require_network(None, ["a.usda", "file:///tmp/a.usda"])
    offline.online_access = True
    many.require_network("tcp://127.0.0.1:9", ["s3://bucket/a.usda"])
    # bpy as a module of Python has no preferences of a user.
    offline.online_access, offline.module = False, True
    many.require_network("tcp://127.0.0.1:9", ["s3://bucket/a.usda"])


def test_the_files_for_farms_use_options_that_there_are(capfd):
    assert cli.main(["batch", "--help"]) == 0
    known = set(re.findall(r"--[a-z-]+", capfd.readouterr().out))
    for name in ("usdphys_batch.js", "slurm_batch.sh", "deadline_batch.sh", "opencue_batch.py"):
        text = (FARM / name).read_text(encoding="utf-8")
        used = set(re.findall(r"--[a-z-]+", text[text.index("usdphys batch" if "sh" in name[-2:] else '"batch"') :]))
        assert {"--shard", "--workers"} <= used <= known, name


@posix_only
@pytest.mark.parametrize(
    ("array", "arguments", "shard"),
    [
        # number, least, largest, count, as Slurm sets them
        (("2", "1", "8", "8"), [], "2/8"),
        (("1", "1", "1", "1"), [], "1/1"),
        (("4", "4", "4", "1"), ["8"], "4/8"),
        (("4", "4", "6", "2"), ["8"], "4/8"),
        (("4", "4", "4", "1"), [], None),
        (("1", "1", "4", "2"), [], None),
        (("2", "0", "7", "8"), [], None),
    ],
)
def test_single_parts_on_slurm_are_parts_of_the_whole(array, arguments, shard):
    """With --array=1,4 Slurm counts two parts: the first of them would be half of all jobs, done a second time."""
    names = ("ID", "MIN", "MAX", "COUNT")
    environment = {f"SLURM_ARRAY_TASK_{name}": value for name, value in zip(names, array, strict=True)}
    script = FARM / "slurm_batch.sh"
    done = subprocess.run(
        ["/bin/sh", script, "jobs.jsonl", *arguments],
        env={**os.environ, **environment, "BLENDER": "echo"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if shard is None:
        assert done.returncode == 2 and "only some parts" in done.stderr and not done.stdout
    else:
        assert done.stdout.split()[:6] == ["--command", "usdphys", "batch", "jobs.jsonl", "--shard", shard]


@posix_only
def test_deadline_gets_a_task_for_each_part(tmp_path):
    (tmp_path / "deadlinecommand").write_text('#!/bin/sh\nfor each; do echo "$each"; done\n')
    (tmp_path / "deadlinecommand").chmod(0o755)
    done = subprocess.run(
        ["/bin/sh", FARM / "deadline_batch.sh", "/a b/jobs.jsonl", "12"],
        env={**os.environ, "DEADLINE_PATH": str(tmp_path)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    words = done.stdout.splitlines()
    assert words[words.index("-frames") + 1] == "1-12"
    line = words[words.index("-arguments") + 1]
    assert line.startswith("--command usdphys batch <QUOTE>/a b/jobs.jsonl<QUOTE> --shard <STARTFRAME>/12 ")


HOOKS = """
import os, pathlib, signal
def write_text(self, *arguments, **options):
    if "deadly" in self.name and not (mark := self.parent / "killed").exists():
        mark.touch()
        self.write_bytes(b"half")
        os.kill(os.getppid(), signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGKILL)
    return plain(self, *arguments, **options)
if "USDPHYS_FAULT_LOG" in os.environ:
    plain, pathlib.Path.write_text = pathlib.Path.write_text, write_text
"""


@pytest.mark.slow
@posix_only
def test_after_a_kill_of_all_at_the_worst_moment_the_same_command_completes(tmp_path):
    """The driver and the child die while the child writes: nothing is torn, and a rerun does the rest."""
    (hooks := tmp_path / "hooks").mkdir()
    hooks.joinpath("sitecustomize.py").write_text(HOOKS)
    stage = tmp_path / "crate.usda"
    stage.write_text(CRATE)
    lines = [
        {
            "op": "simulate",
            "in": str(stage),
            "json": str(tmp_path / "out" / f"{name}.json"),
            "options": {"seconds": 0.1},
        }
        for name in ("a", "b", "deadly", "d", "e")
    ]
    (tmp_path / "jobs.jsonl").write_text("\n".join(map(json.dumps, lines)))
    root = Path(__file__).resolve().parents[2]
    command = [
        sys.executable,
        "-m",
        "usdphys_addon",
        "batch",
        tmp_path / "jobs.jsonl",
        "--workers",
        "1",
        "--retries",
        "0",
    ]
    environment = {**os.environ, "PYTHONPATH": f"{hooks}{os.pathsep}{root}"}

    def run() -> int:
        return subprocess.run(command, env=environment, capture_output=True, timeout=900, check=False).returncode

    assert run() == -9
    # The two that were done are known, even if the driver died before it wrote the second one down.
    assert len(list(journal.results(tmp_path / "jobs.results.jsonl"))) in (1, 2)
    assert run() == 0
    assert len(journal.done(tmp_path / "jobs.results.jsonl")) == 5
    written = sorted(path for path in (tmp_path / "out").glob("*.json") if not path.name.startswith("."))
    poses = {json.dumps(json.loads(path.read_text())) for path in written}
    assert [path.stem for path in written] == ["a", "b", "d", "deadly", "e"] and len(poses) == 1


def test_children_are_not_offered_as_a_command(capfd):
    assert cli.main(["--help"]) == 0
    printed = capfd.readouterr().out
    assert "batch " in printed and "serve" not in printed


@pytest.mark.skipif(sys.platform != "linux", reason="Linux says what a process takes")
def test_a_job_that_takes_too_much_memory_is_ended_once_and_says_so(make_workers, tmp_path):
    workers = make_workers(memory=0.25, retries=3)
    found = workers.run(job("grow.usda", "grow").as_table())
    assert (found["status"], found["exit"], found["attempts"]) == ("failed", 1, 1)
    assert "more than 0.25 GB of memory" in found["exceeded"]
    assert workers.run(job("x", "noise").as_table())["status"] == "ok"
    crew = executors.Crew(executors.ThreadPoolExecutor(1), workers.run, workers.close)
    drive.run([job("grow.usda", "grow")], crew, tmp_path / "r.jsonl", lambda *_: None)
    (line,) = journal.results(tmp_path / "r.jsonl")
    assert "grow.usda" in line["error"]
    assert "--memory" in line["error"]
    assert "exceeded" not in line


@pytest.mark.parametrize("name", ["engine-python", "engine_python"])
def test_a_job_names_no_program(name):
    line = {"op": "simulate", "in": "a.usda", "options": {"engine": "newton", name: "/tmp/evil"}}
    with pytest.raises(InputError, match="USDPHYS_NEWTON_PYTHON"):
        batch_jobs.job_of(line)


@posix_only
def test_the_folders_of_children_of_a_killed_batch_are_deleted_and_those_of_living_ones_are_not(
    make_workers, tmp_path, monkeypatch
):
    monkeypatch.setattr(worker.tempfile, "tempdir", str(tmp_path))
    workers = make_workers()
    workers.run(job("x", "noise").as_table())
    (alive,) = tmp_path.iterdir()
    dead, empty, strange = (tmp_path / f"{worker.FOLDER}{name}" for name in ("dead", "empty", "link"))
    for folder in (dead, empty):
        folder.mkdir()
    (dead / "log.txt").write_text("")
    strange.symlink_to(tmp_path)
    make_workers()
    assert dead.exists()  # its child may be about to lock it
    for folder in (alive, dead, empty):
        os.utime(folder, (1e9, 1e9))
    make_workers()
    assert {path.name for path in tmp_path.iterdir()} == {alive.name, strange.name}
    assert workers.run(job("x", "noise").as_table())["status"] == "ok"


def test_failed_lists_the_jobs_whose_last_result_is_bad(tmp_path, capsys):
    one, other = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    lines = [{"id": "repaired", "status": "failed", "error": "Old."}, {"id": "bad", "status": "ok"},
             {"id": "repaired", "status": "ok"}, {"id": "bad", "status": "crashed", "error": "Why."}]  # fmt: skip
    one.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    other.write_text('{"id": "late", "status": "timeout"}\n{"id": "torn"')
    assert cli.main(["batch", "--failed", str(one), str(other)]) == 1
    captured = capsys.readouterr()
    assert captured.out.splitlines()[:2] == ["crashed bad: Why.", "timeout late"]
    assert "2 of 3 jobs not ok" in captured.out + captured.err
    one.write_text('{"id": "bad", "status": "ok"}\n')
    assert cli.main(["batch", "--failed", str(one)]) == 0
    assert cli.main(["batch", "--failed", str(tmp_path / "none")]) == 1
    assert cli.main(["batch", "jobs.jsonl", "--failed", str(one)]) == 2
    for option in (["--retries", "0"], ["--timeout", "9"], ["--memory", "1"], ["--workers", "2"], ["--dry-run"]):
        assert cli.main(["batch", "--failed", str(one), *option]) == 2
    assert cli.main(["batch"]) == 2


def test_a_dry_run_names_the_jobs_that_are_left_and_does_none(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("jobs.jsonl").write_text('{"op": "inspect", "in": "a.usda", "id": "a"}\n{"op": "inspect", "in": "b.usda"}\n')
    first = batch_jobs.read(Path("jobs.jsonl"))[0]
    line = {"id": "a", "status": "ok", "job": first.digest, "input": first.stamp()}
    Path("jobs.results.jsonl").write_text(json.dumps(line) + "\n")
    assert cli.main(["batch", "jobs.jsonl", "--dry-run"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == f"inspect {tmp_path / 'b.usda'}"
    assert json.loads(Path("jobs.results.jsonl").read_text()) == line
    assert cli.main(["batch", "jobs.jsonl", "--dry-run", "--out", "new/r.jsonl"]) == 0
    assert len(capsys.readouterr().out.splitlines()) >= 2
    assert not Path("new").exists()
