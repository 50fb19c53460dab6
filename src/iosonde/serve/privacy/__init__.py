"""Privacy: the site's policy on names, and aliases for hidden ones."""
