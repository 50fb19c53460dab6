"""Why a run was slow: candidate metrics, verdict, words."""
