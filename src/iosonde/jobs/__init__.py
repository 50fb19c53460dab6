"""Explanations of slow jobs and of changes: tables of jobs, their servers, history and climate."""
