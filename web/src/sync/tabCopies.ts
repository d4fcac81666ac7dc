// Whose copies of a record are whose: each tab has its own, which no other tab changes or deletes while it is open.
// The copies of a tab that was closed, reloaded or crashed belong to the next tab that opens the record.

/** Key is the place of a copy. */
export type Key = [user: string, workspace: string, kind: string, id: string, tab: string];

/** Row is what is known of a copy; its text is in as many chunks. */
export type Row = { key: Key; size: number; chunks: number; at: number };

export const tabOf = (row: Row) => row.key[4];

/** otherTabs returns the tabs besides one that have copies. */
export const otherTabs = (rows: Row[], tab: string) => [...new Set(rows.map(tabOf).filter((t) => t !== tab))];

/** readable returns the copies that a tab may take: its own and those of tabs that are gone, the earliest first. */
export const readable = (rows: Row[], tab: string, closedTabs: Set<string>) =>
	rows.filter((row) => tabOf(row) === tab || closedTabs.has(tabOf(row))).sort((a, b) => a.at - b.at);
