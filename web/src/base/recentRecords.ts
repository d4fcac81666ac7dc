// The records that were opened last in each workspace, by the person who is signed in. Those of contacts and their mail
// are held in memory alone, since their titles are names of people; the others also on this device, until the person
// signs out.

export type Recent = { to: string; title: string };

const maxRecords = 8;
const maxWorkspaces = 20; // whose records are kept on the device
const key = "packetboat-recent";
const recentByWorkspace = new Map<string, Recent[]>();

let person = ""; // whose records are kept on the device; empty: nobody's

/** Pages of records that are no people's. */
const mayBeKept =
	/^\/(segments|forms|templates|blocks|library|broadcasts|sequences|automations|sending\/[a-z-]+)\/[^/?]+$/;

/** recent returns the records that were opened last in a workspace, the last one first. */
export const recent = (workspace: string): Recent[] => recentByWorkspace.get(workspace) ?? [];

/** addRecent puts the record of a page first, or takes it out if it has no title. Pages of records have at least two parts in their address. */
export function addRecent(workspace: string, to: string, title: string | null) {
	if (!/^\/.+\/[^/]/.test(to) || /\/(new|import)$/.test(to)) return;
	const path = to.replace(/\/(edit|report)$/, "");
	const others = recent(workspace).filter((recent) => recent.to !== path);
	recentByWorkspace.delete(workspace); // so that it is the last one again
	recentByWorkspace.set(workspace, title === null ? others : [{ to: path, title }, ...others].slice(0, maxRecords));
	if (person) keep();
}

/** keptOnDevice returns what may be kept on the device: of the last workspaces, the records that are no people's. */
export const keptOnDevice = () =>
	[...recentByWorkspace]
		.slice(-maxWorkspaces)
		.map(([workspace, list]): [string, Recent[]] => [workspace, list.filter((recent) => mayBeKept.test(recent.to))]);

function keep() {
	try {
		localStorage.setItem(key, JSON.stringify({ person, records: keptOnDevice() }));
	} catch {
		// Storage is off or full: they are held in memory.
	}
}

/** openRecent brings back what a person opened before the page was loaded, and forgets what others did. */
export function openRecent(user: string) {
	if (user === person) return;
	person = user;
	try {
		const kept = JSON.parse(localStorage.getItem(key) ?? "null") as {
			person: string;
			records: [string, Recent[]][];
		} | null;
		if (kept?.person === user) {
			for (const [workspace, list] of kept.records) {
				const opened = recent(workspace);
				const older = list.filter((one) => !opened.some((other) => other.to === one.to));
				recentByWorkspace.set(workspace, [...opened, ...older].slice(0, maxRecords));
			}
		} else localStorage.removeItem(key);
	} catch {
		// Storage is off, or has something else: nothing is brought back.
	}
}

/** clearRecent forgets everything, when the person signs out. */
export function clearRecent() {
	person = "";
	recentByWorkspace.clear();
	try {
		localStorage.removeItem(key);
	} catch {
		// Storage is off: there is nothing to forget.
	}
}
