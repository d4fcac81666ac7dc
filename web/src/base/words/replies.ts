/** replyOf writes a server's reply from its codes and its text, which often begins with them. */
export function replyOf(...parts: (string | number | null | undefined)[]): string {
	const texts = parts.map((p) => String(p ?? "")).filter(Boolean);
	const said = (texts.at(-1) ?? "").split(/[\s-]/, 2);
	return texts.filter((t, n) => n === texts.length - 1 || !said.includes(t)).join(" ");
}
