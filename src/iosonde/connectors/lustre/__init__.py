"""What Lustre sites record: LMT, TOKIO, /proc, job_stats, lfs df, lctl dl."""
