"""Grafana dashboards, built from schema/metrics/agent.toml: ``python -m scripts.grafana``."""
