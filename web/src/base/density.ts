// The density of tables, as each person chose it on this device.

export type Density = "comfortable" | "compact";

const prefix = "packetboat-density-";
const listeners = new Set<() => void>();

let person = "";

/** density returns the density of tables on the screen. */
export const density = (): Density =>
	document.documentElement.dataset.density === "compact" ? "compact" : "comfortable";

/** subscribeDensity calls a function when the density changes; the answer ends that. */
export function subscribeDensity(listener: () => void) {
	listeners.add(listener);
	return () => {
		listeners.delete(listener);
	};
}

function show(density: Density) {
	if (density === "compact") document.documentElement.dataset.density = density;
	else document.documentElement.removeAttribute("data-density");
	for (const listener of listeners) listener();
}

/** showDensityOf shows the density that a person chose. */
export function showDensityOf(user: string) {
	if (user === person) return;
	person = user;
	let saved: string | null = null;
	try {
		saved = localStorage.getItem(prefix + user);
	} catch {
		// Storage is off.
	}
	show(saved === "compact" ? "compact" : "comfortable");
}

/** setDensity shows a density, and stores it for the signed-in person. */
export function setDensity(density: Density) {
	show(density);
	try {
		if (density === "compact") localStorage.setItem(prefix + person, density);
		else localStorage.removeItem(prefix + person);
	} catch {
		// Storage is off: the density lasts until the page is closed.
	}
}
