"""A real Prometheus scrapes the real agent."""

import json
import subprocess
import urllib.parse
import urllib.request
from pathlib import Path

import pytest

from tests.kit import harness
from tests.kit.servers.scraping import scraping

pytestmark = pytest.mark.service


def test_promtool_accepts_metrics(tmp_path: Path) -> None:
    with harness.running(tmp_path, harness.target(tmp_path)) as agent:
        harness.wait_for("rows", lambda: agent.metric("iosonde_ops_total", result="ok"))
        page = agent.get("/metrics")[1]
    done = subprocess.run(
        ["promtool", "check", "metrics"], input=page, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_prometheus_scrapes_and_answers(tmp_path: Path) -> None:
    with harness.running(tmp_path, harness.target(tmp_path)) as agent:
        config = tmp_path / "prometheus.yml"
        config.write_text(
            "global: {scrape_interval: 1s}\nscrape_configs:\n"
            f"- {{job_name: iosonde, static_configs: [{{targets: ['{agent.address}']}}]}}\n"
        )
        port = free_port()
        command = [
            "prometheus",
            f"--config.file={config}",
            f"--storage.tsdb.path={tmp_path / 'tsdb'}",
            f"--web.listen-address=127.0.0.1:{port}",
        ]
        with (tmp_path / "prometheus.log").open("wb") as log:
            server = subprocess.Popen(command, stderr=log)
        try:

            def ask(query: str) -> list[dict[str, object]]:
                url = f"http://127.0.0.1:{port}/api/v1/query?query={urllib.parse.quote(query)}"
                try:
                    with urllib.request.urlopen(url, timeout=5) as reply:
                        return json.load(reply)["data"]["result"]
                except OSError:
                    return []

            harness.wait_for("a scrape", lambda: ask("up == 1"), 60)
            quantile = "histogram_quantile(0.9, sum by (le, op) (rate(iosonde_op_duration_seconds_bucket[10s]))) > 0"
            found = harness.wait_for(
                "quantiles of six ops", lambda: ask(quantile)[5:] and ask(quantile), 60
            )
            assert len(found) == 6
            assert ask('iosonde_state{state="hung"} == 0')
        finally:
            server.terminate()
            server.wait(20)


@pytest.mark.parametrize("native", [True, False])
def test_native_histograms_for_those_who_ask(tmp_path: Path, native: bool) -> None:
    config = f"native_histograms = {str(native).lower()}\n{harness.target(tmp_path)}"
    name = "iosonde_op_service_duration_seconds"
    with harness.running(tmp_path, config) as agent:
        assert f'{name}_bucket{{target="' in agent.get("/metrics")[1], "text for who asks for none"
        flags = ("--enable-feature=native-histograms",)
        with scraping(tmp_path, agent.address, flags=flags) as prometheus:

            def seen() -> int:
                return len(prometheus.query(f"histogram_count({name}) > 100"))

            if not native:
                buckets = f"{name}_bucket"
                harness.wait_for("classic ones", lambda: prometheus.query(buckets), 60)
                assert not prometheus.query(f"histogram_count({name})")
                return
            harness.wait_for("native ones of six ops", lambda: seen() == 6, 60)
            medians = prometheus.query(f"histogram_quantile(0.5, {name})")
            assert prometheus.query("iosonde_ops_total")
            assert prometheus.query("iosonde_state == 1")
        store = agent.store
    rows = harness.samples(store).execute(
        "SELECT op, quantile_disc(ended_ns - began_ns, [0.3, 0.7]) FROM samples "
        "WHERE outcome = 'ok' GROUP BY op"
    )
    exact = {op: [ns / 1e9 for ns in found] for op, found in rows.fetchall()}
    assert len(exact) == len(medians) == 6
    for one in medians:
        low, high = exact[one["metric"]["op"]]
        assert low / 1.1 < float(one["value"][1]) < high * 1.1, (one, low, high)
