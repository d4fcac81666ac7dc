/** problemAt returns the problem of a field among messages that begin with its path. */
export const problemAt = (messages: string[]) => (path: string) => {
	const match = messages.find(
		(message) =>
			message === path ||
			message.startsWith(`${path}:`) ||
			message.startsWith(`${path}[`) ||
			message.startsWith(`${path}.`) ||
			(path.includes("[") && message.startsWith(`${path} `)),
	);
	return match?.replace(/^[\w.[\]-]+: /, "");
};
