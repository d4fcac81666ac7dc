// The records that were opened last in each workspace. They are held in memory alone, since names of
// contacts are among them.

export type Recent = { to: string; title: string };

const maxRecords = 8;
const recentByWorkspace = new Map<string, Recent[]>();

/** recent returns the records that were opened last in a workspace, the last one first. */
export const recent = (workspace: string): Recent[] => recentByWorkspace.get(workspace) ?? [];

/** addRecent puts the record of a page first, or takes it out if it has no title. Pages of records have at least two parts in their address. */
export function addRecent(workspace: string, to: string, title: string | null) {
	if (!/^\/.+\/[^/]/.test(to) || /\/(new|import)$/.test(to)) return;
	const path = to.replace(/\/(edit|report)$/, "");
	const others = recent(workspace).filter((recent) => recent.to !== path);
	recentByWorkspace.set(workspace, title === null ? others : [{ to: path, title }, ...others].slice(0, maxRecords));
}
