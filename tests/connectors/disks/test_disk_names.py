"""Disks of node_exporter: pages, and names of hosts."""

import os
from pathlib import Path

import pytest

from iosonde.connectors.prometheus import text as prometheus_text
from iosonde.connectors.prometheus.names import series
from iosonde.connectors.source import head_of
from tests.kit.records.connected import survives, take
from tests.kit.records.disk_texts import BEGIN_S, HOST, PROM_1, PROM_2

S = 1_000_000_000


def pages(folder: Path) -> list[Path]:
    paths = []
    for n, text in enumerate((PROM_1, PROM_2)):
        (folder / str(n)).mkdir()
        paths.append(folder / str(n) / f"{HOST}.prom")
        paths[-1].write_text(text)
        os.utime(paths[-1], ns=(0, (BEGIN_S + 15 * n) * S))
    return paths


def test_pages_of_node_exporter(tmp_path: Path) -> None:
    paths = pages(tmp_path)
    assert prometheus_text.recognises(head_of(paths[0]))
    out = take(prometheus_text, paths)
    vda = f"{HOST}/vda"
    assert out.series("read_ops", vda, level="device") == [(BEGIN_S * S, 15 * S, 323)]
    assert out.values("write_ops", vda) == [2041]
    assert out.values("read_execution_s", vda) == pytest.approx([0.088])
    assert out.values("write_execution_s", vda) == pytest.approx([1.152])
    assert out.values("io_time_s", vda) == pytest.approx([0.484])
    assert out.values("execution_s", vda) == pytest.approx([1.81])
    assert out.values("read_bytes", vda) == [19832832]
    assert out.values("in_flight_ops", vda) == [0, 0]


@pytest.mark.parametrize(
    ("labels", "component"),
    [
        ({"instance": "n1.site.org:9100"}, "n1.site.org/sda"),
        ({"instance": "[2001:db8::1]:9100"}, "[2001:db8::1]/sda"),
        ({"nodename": "n1", "instance": "10.0.0.1:9100"}, "n1/sda"),
        ({"instance": "n1"}, "n1/sda"),
        ({}, "n7/sda"),
    ],
)
def test_whose_disk_it_is(labels: dict[str, str], component: str) -> None:
    found = series("node_disk_reads_completed_total", {"device": "sda", **labels}, "", "n7")
    assert found is not None
    assert found[1].component == component
    assert series("node_disk_reads_completed_total", labels, "", "n7") is None


def test_a_slash_in_a_device() -> None:
    found = series("node_disk_io_now", {"device": "cciss/c0d0"}, "")
    assert found is not None
    assert found[1].component == "cciss!c0d0"


def test_fuzz(tmp_path: Path) -> None:
    survives(prometheus_text, tmp_path / "n1.prom", PROM_1.encode(), n=20)
