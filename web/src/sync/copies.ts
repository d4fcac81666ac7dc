// Whose copies of a record are whose: each tab has its own, which no other tab changes or deletes while it is open.
// What a tab left when it was closed, loaded again or broke off belongs to whoever opens the record next.

/** Key is the place of a copy. */
export type Key = [user: string, workspace: string, kind: string, id: string, tab: string];

/** Row is what is known of a copy; its text is in as many chunks. */
export type Row = { key: Key; size: number; chunks: number; at: number };

export const tabOf = (row: Row) => row.key[4];

/** othersOf returns the tabs besides one that have copies. */
export const othersOf = (rows: Row[], tab: string) => [...new Set(rows.map(tabOf).filter((t) => t !== tab))];

/** readable returns the copies that a tab may take: its own and those of tabs that are gone, the earliest first. */
export const readable = (rows: Row[], tab: string, gone: Set<string>) =>
	rows.filter((row) => tabOf(row) === tab || gone.has(tabOf(row))).sort((a, b) => a.at - b.at);
