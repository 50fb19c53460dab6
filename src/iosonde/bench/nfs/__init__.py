"""Reads of an NFS server while a client writes: how long do they wait."""
