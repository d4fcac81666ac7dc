// Mail with places that are filled for each reader, where it is only named.

/** readable writes text with its places named, or with their default: "‹headline›" for {{param:headline}}. */
export function readable(text: string): string {
	return text.replace(
		/\{\{([^{}|]*)(?:\|\s*default\s*:\s*(?:"([^"]*)"|'([^']*)'))?[^{}]*\}\}/g,
		(_match: string, path: string, a?: string, b?: string) => {
			const name = path.split(/[:.]/).at(-1)?.replaceAll("_", " ").trim();
			return a || b || (name ? `‹${name}›` : "");
		},
	);
}
