// Clauses of the server, such as "the account has no name", as sentences.

/** Words of the server that the pages have others for. */
const others: [RegExp, string][] = [
	[/\btenants\b/g, "workspaces"],
	[/\btenant\b/g, "workspace"],
	[/\bsending identities\b/g, "senders"],
	[/\bsending identity\b/g, "sender"],
	[/\bnodes\b/g, "steps"],
	[/\bnode\b/g, "step"],
	[/\bedge\b/g, "connection"],
	[/\bgraph\b/g, "flow"],
	[/\b(is|are|in) a dynamic segment\b/g, "$1 a segment by rule"],
];

// What an author wrote is shown as it is: placeholders, elements and what is quoted.
const written = /\{\{.*?\}\}|<[\w-]+>|"[^"]*"|“[^”]*”/g;

/** technical reports whether a text has names of the API or of programs in it, which are not for people. */
const technical = (text: string) => /\b[a-z]+_[a-z_]+\b|\w\[\d+\]|`/i.test(text.replace(written, ""));

/** capitalized returns a clause of the server as sentences. */
export const capitalized = (text: string) =>
	text
		.split(/; (?=[a-z])/)
		.map((part) => {
			const first = /^\S*[@.]\S/.test(part) ? part.charAt(0) : part.charAt(0).toUpperCase(); // domains stay as they are
			return first + part.slice(1) + (/[.!?…]$/.test(part) ? "" : ".");
		})
		.join(" ");

/** plainSentence returns a clause of the server as sentences, or null if it has names of programs in it. */
export function plainSentence(clause: string): string | null {
	if (clause === "" || technical(clause)) return null;
	return capitalized(others.reduce((text, [word, own]) => text.replace(word, own), clause));
}
