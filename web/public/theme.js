// Before the first paint, so that a chosen theme does not flash. The rest is in components/theme.ts.
try {
  const theme = localStorage.getItem("iosonde-theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch (error) {
  // Storage is forbidden: the system's theme is used.
}
