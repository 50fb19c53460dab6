"""Each real file is recognised by its own connector and by no other of these."""

import gzip
from pathlib import Path

import pytest

from iosonde.connectors.source import head_of
from iosonde.connectors.sources import MODULES, every
from tests.kit.records import disk_texts
from tests.kit.records.connected import take
from tests.kit.samples.latencies import real

EVERY = dict(zip(MODULES, every(), strict=True))
FILES = {
    "umami/gpfs/mmpmon_mmpmonStdout.txt": "gpfs.mmpmon",
    "nfs/gpfs_mmpmon_fs_io_s_SYNTHETIC.txt": "gpfs.mmpmon",
    "umami/gpfs/mmperfmon-usage.txt.gz": "gpfs.mmperfmon",
    "umami/gpfs/mmperfmon.tgz": "gpfs.mmperfmon",
    "umami/gpfs/mmdf_mmdfStdout.txt": "gpfs.mmdf",
    "umami/gpfs/mmdf_mmlsfsStdout.txt": None,
    "umami/slurm/edison_4478544_sacct.json": "scheduler.sacct_json",
    "umami/slurm/edison_jobsdb_2017-03-20.sqlite3": "scheduler.job_table",
    "umami/topology/edison.xtdb2proc.gz": "scheduler.xtdb2proc",
    "umami/prometheus/gpfs_exporter_mmdf_expected.prom": "prometheus.text",
    "umami/prometheus/lustre_exporter_hpe_procsys.tar.gz": "lustre.proc",
    "umami/lmt/lustre_proc_1.8.3.tar.gz": "lustre.proc",
    "umami/lmt/snx11025_2018-01-28.sqlite3": "lustre.lmt.sql",
    "umami/lmt/snx11025_2018-01-28.h5lmt": "lustre.h5lmt",
    "umami/lmt/snx11025_2018-01-28.hdf5": "lustre.tokio_timeseries",
    "umami/lustre_health/sample_ost-fullness.txt.gz": "lustre.lfs_df",
    "umami/lustre_health/sample_ost-map.txt.gz": "lustre.lctl_dl",
    "umami/tables/year_edison.csv.gz": None,
    "umami/tables/pdsw17_mira_mmdf.csv": None,
    "umami/wan/collectdes_cpuloads.json.gz": None,
    "umami/darshan/treddy_mpi-io-test_id4373053_6-2-60198-9815401321915095332_1.darshan": "darshan.log",
    "nfs/collectl_P_scdnf.txt": "client.collectl",
    "nfs/collectl_vmnode01.raw.gz": "client.raw_collectl",
    "nfs/collectl_verbose_sf.txt": None,
    "nfs/proc_net_rpc_nfs.txt": "client.proc_net_rpc",
    "nfs/proc_net_rpc_nfsd.txt": None,
    "nfs/mountstats_snap1.txt": "client.mountstats",
    "nfs/nfsiostat.txt": "client.nfsiostat",
    "nfs/nfsstat_m.txt": None,
    "nfs/node_exporter_nfs.prom": "prometheus.text",
    "nfs/lustre_job_stats_SYNTHETIC.yaml": "lustre.job_stats",
    "nfs/queue_server_curve.csv": None,
    "nfs/sacct_P_steps_D.txt": "scheduler.sacct",
    "nfs/sacct_json_v0.0.38.json": "scheduler.sacct_json",
    "nfs/squeue.txt": "scheduler.squeue",
    "measuring/ior/ior-vvv-F-D3-write.txt": None,
    "measuring/ior/ior.json": None,
    "measuring/ior/ior.csv": None,
    "measuring/ior/ior-rank-w.csv": None,
    "measuring/ior/ior-op-w-0-00000.csv": None,
    "measuring/io500/result.txt": None,
    "measuring/io500/config.ini": None,
    "measuring/data/io500-helios-lustre-640ranks-find.csv.gz": None,
}


@pytest.mark.parametrize(("place", "name"), FILES.items())
def test_recognised_once(place: str, name: str | None) -> None:
    head = head_of(real(place))
    found = [other for other, module in EVERY.items() if module.recognises(head)]
    assert found == ([name] if name else [])


MADE = {
    disk_texts.IOSTAT_C: "disks.iostat",
    disk_texts.IOSTAT_11: "disks.iostat",
    disk_texts.IOSTAT_JSON: "disks.iostat_json",
    disk_texts.DISKSTATS: "disks.diskstats",
    disk_texts.PROM_1: "prometheus.text",
}


@pytest.mark.parametrize(("text", "name"), MADE.items(), ids=list(MADE.values()))
def test_recognised_once_here(text: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text(text)
    found = [other for other, module in EVERY.items() if module.recognises(head_of(path))]
    assert found == [name]


def test_kinds_are_different() -> None:
    assert len({module.KIND for module in EVERY.values()}) == len(EVERY)


PACKED = {
    "umami/gpfs/mmdf_mmdfStdout.txt": "gpfs.mmdf",
    "umami/gpfs/mmperfmon-gpfsNumberOperations.txt.gz": "gpfs.mmperfmon",
    "nfs/collectl_P_scdnf.txt": "client.collectl",
    "nfs/sacct_P_steps_D.txt": "scheduler.sacct",
    "nfs/sacct_json_v0.0.38.json": "scheduler.sacct_json",
    "umami/topology/edison.xtdb2proc.gz": "scheduler.xtdb2proc",
    "umami/prometheus/gpfs_exporter_mmdf_expected.prom": "prometheus.text",
}


@pytest.mark.parametrize(("place", "name"), PACKED.items())
def test_what_is_before_the_break_of_a_packed_file_counts(
    place: str, name: str, tmp_path: Path
) -> None:
    data = real(place).read_bytes()
    plain = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    # Stored, so that everything before the break can be had.
    path = tmp_path / "cut.gz"
    path.write_bytes(gzip.compress(plain, compresslevel=0)[: max(len(plain) * 9 // 10, 600)])
    assert EVERY[name].recognises(head_of(path))
    out = take(EVERY[name], path)
    assert out.items
    assert "gzip" in str(out.ended)


def test_a_file_that_breaks_does_not_take_others_with_it(tmp_path: Path) -> None:
    good = tmp_path / "n1"
    good.write_text("#UTC [NFS]ReadsC\n1700000000 1\n1700000005 2\n")
    out = take(EVERY["client.collectl"], [tmp_path / "none", good])
    assert out.values("read_ops", "n1") == [5, 10]
    assert "cannot read" in out.told[0]
    assert out.ended is None
