// The theme: that of the system, or the one chosen on this device.

export type Theme = "system" | "light" | "dark";

const key = "packetboat-theme";

/** theme returns the theme chosen on this device. */
export function theme(): Theme {
	try {
		const saved = localStorage.getItem(key);
		return saved === "light" || saved === "dark" ? saved : "system";
	} catch {
		return "system";
	}
}

/** applyTheme shows a theme, and stores it if it was chosen. */
export function applyTheme(theme: Theme, store = true) {
	if (theme === "system") document.documentElement.removeAttribute("data-theme");
	else document.documentElement.dataset.theme = theme;
	if (!store) return;
	try {
		if (theme === "system") localStorage.removeItem(key);
		else localStorage.setItem(key, theme);
	} catch {
		// Storage is off: the theme lasts until the page is closed.
	}
}
