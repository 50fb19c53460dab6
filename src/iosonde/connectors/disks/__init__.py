"""Readers for counters of local disks: /proc/diskstats, iostat."""
