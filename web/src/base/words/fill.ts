// Messages whose places are filled with other things than texts, such as buttons: the message decides their order.

/** What stands around the number of a place while its message is written: characters that no text has. */
const [open, close] = ["\uE000", "\uE001"];
const marks = new RegExp(`${open}(\\d+)${close}`);

/** Collected writes marks for things, and puts the things back in their places. */
class Collected<T> {
	private readonly things: (readonly (string | T)[])[] = [];

	mark = (things: readonly (string | T)[]) => `${open}${this.things.push(things) - 1}${close}`;

	in = (text: string): (string | T)[] =>
		text.split(marks).flatMap((part, i) => (i % 2 === 1 ? (this.things[Number(part)] ?? []) : part ? [part] : []));
}

type Places<T, V> = { readonly [P in keyof V]: readonly (string | T)[] | (V[P] & (string | number | boolean)) };

/**
 * fill writes a message with things in its places, and returns its texts and these things in the order of the message. A
 * value that is no list is written as a text, or chooses a form of the message.
 */
export function fill<T, V extends { [place: string]: unknown }>(
	message: (values: V) => string,
	places: Places<T, V>,
): (string | T)[] {
	const collected = new Collected<T>();
	const values = Object.fromEntries(
		Object.entries(places).map(([name, value]) => [name, Array.isArray(value) ? collected.mark(value) : value]),
	);
	return collected.in(message(values as V));
}

/** joinAs joins lists of things as a function joins texts: "a, b and c". */
export function joinAs<T>(
	join: (texts: readonly string[]) => string,
	lists: readonly (readonly (string | T)[])[],
): (string | T)[] {
	const collected = new Collected<T>();
	return collected.in(join(lists.map(collected.mark)));
}

/**
 * tidy joins texts that follow each other, and takes away the spaces of places that were left empty: two in a row, those
 * at the ends, and those before a comma.
 */
export function tidy<T>(pieces: readonly (string | T)[]): (string | T)[] {
	const joined: (string | T)[] = [];
	for (const piece of pieces) {
		const last = joined.at(-1);
		if (typeof piece === "string" && typeof last === "string") joined[joined.length - 1] = last + piece;
		else joined.push(piece);
	}
	return joined
		.map((piece, i) => {
			if (typeof piece !== "string") return piece;
			const text = piece.replace(/ +/g, " ").replace(/ ([,;:.)])/g, "$1");
			return i === 0 ? text.trimStart() : i === joined.length - 1 ? text.trimEnd() : text;
		})
		.filter((piece) => piece !== "");
}
