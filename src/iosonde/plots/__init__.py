"""Figures: ``figure`` holds what is to be drawn as data (tested), ``render_matplotlib`` draws
it."""
