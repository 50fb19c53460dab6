"""A store over years and hosts: small files merged, old ones removed, sealed ones shipped."""
