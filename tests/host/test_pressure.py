"""Pressure on the processors of this host, from texts as kernels write them and from a thread that has to wait."""

from __future__ import annotations

import os
import threading
import time

from iosonde.host.pressure import CpuPressure, PressureMeter, busy_seconds, stalled_s

PSI = "some avg10=97.70 avg60=98.31 avg300=96.52 total=7880513346\nfull avg10=0.00 total=5\n"
STAT = "cpu  100 20 30 400 50 5 6 7 0 0\ncpu0 1 2 3\n"


def test_texts_of_the_kernel_are_read():
    assert stalled_s(PSI) == 7880.513346
    assert stalled_s("") is None
    assert stalled_s("some avg10=x total=y") is None
    hertz = os.sysconf("SC_CLK_TCK")
    assert busy_seconds(STAT) == (168 / hertz, 618 / hertz)
    assert busy_seconds("cpu 1 2") is None
    assert busy_seconds("") is None


def test_what_is_not_known_is_no_zero():
    unknown = CpuPressure(1.0, None, None, None, None)
    assert unknown.shares(2) == {}
    known = CpuPressure(2.0, 1.0, 0.5, 3.0, 4.0)
    assert known.shares(2) == {
        "cpu_pressure": 0.5,
        "cpu_queue_share": 0.125,
        "host_cpu_share": 0.75,
    }
    assert known.plus(known) == CpuPressure(4.0, 2.0, 1.0, 6.0, 8.0)
    assert known.plus(unknown).queued_s is None


def test_threads_that_share_one_processor_wait_for_it():
    """Three threads of native work on one processor: together they wait twice as long as it lasts."""
    allowed = os.sched_getaffinity(0)
    begun = threading.Barrier(4)
    done = threading.Event()

    def work() -> None:
        import hashlib

        begun.wait()
        while not done.is_set():
            hashlib.sha256(bytes(1 << 22)).digest()  # releases the interpreter

    threads = [threading.Thread(target=work) for _ in range(3)]
    try:
        os.sched_setaffinity(0, {min(allowed)})
        for thread in threads:
            thread.start()
        meter = PressureMeter()
        begun.wait()
        time.sleep(0.5)
        found = meter.ended()
    finally:
        done.set()
        for thread in threads:
            thread.join()
        os.sched_setaffinity(0, allowed)
    if found.queued_s is not None:
        assert found.shares(3)["cpu_queue_share"] > 0.3
