"""Readers for records of Lustre sites: LMT, TOKIO, /proc, job_stats, lfs df, lctl dl."""
