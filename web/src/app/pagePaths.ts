// The paths of pages, in which ":id" stands for any part.

/** pageAt returns the first of some pages whose path is that of an address. */
export function pageAt<P extends { path: string }>(pages: P[], address: string): P | undefined {
	const parts = address.split(/[?#]/)[0]?.split("/") ?? [];
	return pages.find(({ path }) => {
		const pattern = path.split("/");
		return (
			pattern.length === parts.length &&
			pattern.every((part, i) => (part.startsWith(":") ? parts[i] : part === parts[i]))
		);
	});
}

/** listOf returns the path of the page that lists what the page with a path shows one of, or else the path. */
export const listOf = (path: string) => path.replace(/\/:.*$/, "");
