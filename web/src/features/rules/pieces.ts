// A condition is a sentence: texts, and parts that can be changed.

/** Part is a piece of a sentence that can be changed. Its id is its path in the condition, such as filters[0].value. */
export type Part = {
	id: string;
	text: string;
	/** It has to be chosen yet: the text says what it is. */
	unset?: true;
	/** It says how the others belong together, and stands out less. */
	joins?: true;
};

export type Piece = string | Part;

/** part returns a part that names what was chosen, or else what has to be. */
export const part = (id: string, text: string | undefined, placeholder: string): Part[] => [
	text ? { id, text } : { id, text: placeholder, unset: true },
];

/** joint returns a part that says how the others belong together. */
export const joint = (id: string, text: string): Part[] => [{ id, text, joins: true }];

/** partsOf returns the parts of a sentence, in its order. */
export const partsOf = (pieces: readonly Piece[]): Part[] => pieces.filter((piece) => typeof piece !== "string");

/** firstUnset returns the first part that has to be chosen yet. */
export const firstUnset = (pieces: readonly Piece[]): string | undefined =>
	partsOf(pieces).find((part) => part.unset)?.id;

/** plain writes a sentence as a text. */
export const plain = (pieces: readonly Piece[]): string =>
	pieces.map((piece) => (typeof piece === "string" ? piece : piece.text)).join("");

/**
 * partAt returns the part that a problem is about, by the path of the problem in the condition: the part itself, the one
 * that holds it, the first one of what it names, or else the first that has to be chosen.
 */
export function partAt(pieces: readonly Piece[], path: string): string | undefined {
	const parts = partsOf(pieces).map((part) => part.id);
	const within = (inner: string, outer: string) =>
		inner.startsWith(outer) && /^(?:$|[.[])/.test(inner.slice(outer.length));
	const [holding] = parts.filter((id) => within(path, id)).sort((a, b) => b.length - a.length);
	return holding ?? (path === "" ? undefined : parts.find((id) => within(id, path))) ?? firstUnset(pieces) ?? parts[0];
}
