/** problemAt returns the problem of a field among messages that begin with its path. */
export const problemAt = (messages: string[]) => (path: string) => {
	const found = messages.find(
		(m) =>
			m === path ||
			m.startsWith(`${path}:`) ||
			m.startsWith(`${path}[`) ||
			m.startsWith(`${path}.`) ||
			(path.includes("[") && m.startsWith(`${path} `)),
	);
	return found?.replace(/^[\w.[\]-]+: /, "");
};
