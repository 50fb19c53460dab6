"""Mount tables and options: what the doctor reads in them, and what they mean."""

from __future__ import annotations

import pytest

from iosonde.doctor.finding import Findings
from iosonde.doctor.judge.options import judge_options
from iosonde.doctor.judge.target import judge_mount
from iosonde.host.mounts import missing_mount, mount_of, parse_mountinfo
from tests.kit.host import recorded
from tests.kit.host.doctor_makers import MOUNTS, faults, levels, said


def options_of(path):
    found = Findings("target")
    judge_options(found, mount_of(MOUNTS, path))
    return found


def test_the_mount_table_is_read_as_it_is_written():
    by_point = {mount.point: mount for mount in MOUNTS}
    assert len(MOUNTS) == len(recorded.TABLE.splitlines())
    assert by_point["/with space"].source == "/dev/disk one"
    assert by_point["/bound"].root == "/srv/data"
    assert by_point["/home"].options["vers"] == "4.2"
    assert by_point["/home"].number("timeo") == 600
    assert by_point["/home"].number("vers") is None
    assert "rw" not in by_point["/broken"].options
    assert parse_mountinfo("nonsense\n1 2 3\n\x00\n27 1 254:0 / / rw -\n") == []


def test_a_path_lies_on_the_longest_mount_above_it_and_on_the_latest_of_equals():
    assert mount_of(MOUNTS, "/work/project").kind == "lustre"
    assert mount_of(MOUNTS, "/workshop").point == "/"
    over = parse_mountinfo(recorded.LUSTRE + "\n" + recorded.TMPFS.replace("/fast", "/work"))
    assert mount_of(over, "/work").kind == "tmpfs"
    assert mount_of([], "/") is None


def test_a_mount_that_fstab_promises_and_the_table_lacks_is_a_problem():
    fstab = (
        "# comment\n/dev/vda / ext4 defaults\nfiler:/gone /gone nfs defaults 0 0\nx none swap sw\n"
    )
    assert missing_mount(fstab, MOUNTS, "/gone/project") == "/gone"
    assert missing_mount(fstab, MOUNTS, "/gonewith") is None
    assert missing_mount(fstab, MOUNTS, "/home") is None
    found = Findings("t")
    root = mount_of(MOUNTS, "/")
    judge_mount(found, "/gone", root, root, "/gone")
    assert levels(found)["target-mount"] == "problem"


@pytest.mark.parametrize(
    ("path", "level"),
    [("/tmp", "warning"), ("/bound/x", "warning"), ("/work/x", "ok"), ("/", "ok")],
)
def test_the_root_file_system_is_named(path, level):
    found = Findings("t")
    judge_mount(found, path, mount_of(MOUNTS, path), mount_of(MOUNTS, "/"), None)
    assert levels(found)["target-mount"] == level


@pytest.mark.parametrize(
    ("path", "level"),
    [
        ("/work", "ok"),
        ("/fast", "problem"),
        ("/merged", "warning"),
        ("/net", "warning"),
        ("/ssh", "ok"),
    ],
)
def test_what_is_no_storage_is_named(path, level):
    found = Findings("t")
    judge_mount(found, path, mount_of(MOUNTS, path), mount_of(MOUNTS, "/"), None)
    assert levels(found)["target-file-system"] == level
    assert levels(found)["target-read-only"] == "ok"


def test_a_file_system_that_turned_read_only_is_a_problem():
    found = Findings("t")
    judge_mount(found, "/broken", mount_of(MOUNTS, "/broken"), mount_of(MOUNTS, "/"), None)
    assert levels(found)["target-read-only"] == "problem"


def test_nfs_as_most_have_it_is_well():
    found = options_of("/home")
    assert set(levels(found).values()) == {"ok"}
    assert said(found, "nfs-hard").found["gives_up_s"] == 180
    assert said(found, "nfs-connections").found["connections"] == 4
    assert said(found, "nfs-attributes").found["believed_max_s"] == 60


def test_nfs_soft_over_udp_with_a_local_cache():
    found = options_of("/old")
    bad = faults(found)
    assert bad == {
        "nfs-hard": "warning",
        "nfs-version": "warning",
        "nfs-attributes": "note",
        "fs-cache": "warning",
    }
    assert said(found, "nfs-hard").found["gives_up_s"] == pytest.approx(4.4)
    assert "lookupcache=positive" in said(found, "nfs-attributes").says


def test_nfs_without_an_attribute_cache():
    found = options_of("/exact")
    assert "every stat asks the server" in said(found, "nfs-attributes").says
    assert levels(found)["mount-sync"] == "note"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/work", {"lustre-locks": "ok", "lustre-statfs": "ok", "parallel-servers": "note"}),
        ("/lfs2", {"lustre-locks": "note", "lustre-statfs": "warning"}),
        ("/gpfs", {"parallel-servers": "note", "mount-atime": "ok"}),
        ("/ceph", {"ceph-async": "note", "fs-cache": "ok"}),
        ("/share", {"smb-cache": "warning"}),
        ("/ssh", {"fuse-daemon": "note"}),
        ("/scratch", {"local-barriers": "ok", "mount-atime": "ok"}),
        ("/broken", {"local-barriers": "warning"}),
        ("/strict", {"mount-atime": "note", "mount-sync": "note", "local-barriers": "ok"}),
    ],
)
def test_other_types(path, expected):
    found = levels(options_of(path))
    assert {id: found.get(id) for id in expected} == expected
    assert not any(id.startswith("nfs-h") for id in found)


def test_small_reads_of_a_fuse_daemon_are_named():
    assert "64 KiB" in said(options_of("/ssh"), "fuse-daemon").says.replace("64.0", "64")
