"""Localisation of slow components of the storage: targets, servers, router groups, clients, or a span of time."""
