"""Figures: ``figure`` holds what is to be drawn as data, ``render_matplotlib`` draws it."""
