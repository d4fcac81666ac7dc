/** slugOf derives the address of a workspace from its name. */
export const slugOf = (name: string) =>
	name
		.normalize("NFKD")
		.replace(/\p{M}/gu, "")
		.toLowerCase()
		.replaceAll("ß", "ss")
		.replace(/[^a-z0-9]+/g, "-")
		.slice(0, 40)
		.replace(/^-+|-+$/g, "");
