"""What keeps a store well."""
