"""Whose operations, when: every user, account, application, job and group of nodes, from a year to a record's length."""
