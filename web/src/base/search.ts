/** changedSearch returns the search of an address ("?tab=links") with some of its parameters changed, or removed by null or "". */
export function changedSearch(search: string, changes: { [name: string]: string | null }): string {
	const params = new URLSearchParams(search);
	for (const [name, value] of Object.entries(changes)) {
		if (value === null || value === "") params.delete(name);
		else params.set(name, value);
	}
	const text = params.toString();
	return text ? `?${text}` : "";
}
