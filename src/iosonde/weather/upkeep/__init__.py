"""Upkeep of a store over years and hosts: merging of small files, removal of old ones, shipping of sealed ones."""
