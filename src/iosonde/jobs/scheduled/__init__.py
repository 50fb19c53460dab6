"""What storage was like while a job ran of which only the scheduler knows."""
