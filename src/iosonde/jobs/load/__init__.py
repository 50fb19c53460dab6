"""Load over time: operations of users, accounts, applications, jobs and groups of nodes, at any time scale."""
