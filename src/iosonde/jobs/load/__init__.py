"""Whose operations, when: users, accounts, applications, jobs and groups of nodes, from a year to a record's length."""
