import type { SavedFilterRow } from "../../api/schema";
import type { Filter } from "../rules/filters";

/** View is what the table of contacts shows, and how. */
export type View = { search: string; filters: Filter[]; sort: string; dir: string; columns: string[] };

/** canonical writes a value as JSON with the names of objects in order, since PostgreSQL keeps them in its own. */
const canonical = (value: unknown) =>
	JSON.stringify(value, (_, member: unknown) =>
		member && typeof member === "object" && !Array.isArray(member)
			? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
			: member,
	);

/** isSavedView reports whether a view is that of a saved filter. One without columns leaves them as they are. */
export const isSavedView = (
	view: View,
	saved: Pick<SavedFilterRow, "search" | "filters" | "sort" | "dir" | "columns">,
) =>
	(saved.search ?? "") === view.search &&
	canonical(saved.filters) === canonical(view.filters) &&
	saved.sort === view.sort &&
	saved.dir === view.dir &&
	(saved.columns.length === 0 || saved.columns.join() === view.columns.join());
