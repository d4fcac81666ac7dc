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

function show(chosen: Density) {
	if (chosen === "compact") document.documentElement.dataset.density = chosen;
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
export function setDensity(chosen: Density) {
	show(chosen);
	try {
		if (chosen === "compact") localStorage.setItem(prefix + person, chosen);
		else localStorage.removeItem(prefix + person);
	} catch {
		// Storage is off: the density lasts until the page is closed.
	}
}
