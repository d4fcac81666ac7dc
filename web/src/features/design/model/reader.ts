/** Fault says where a text cannot be read any further, and why. */
export class Fault extends Error {
	constructor(
		readonly at: number,
		readonly why: string,
	) {
		super(`${why} at ${at}`);
	}
}

/** Reader reads a text from its beginning. */
export class Reader {
	at = 0;

	constructor(readonly text: string) {}

	fail(at: number, why: string): never {
		throw new Fault(at, why);
	}

	/** peek returns the next character; "" at the end. */
	peek(): string {
		return this.text[this.at] ?? "";
	}

	/** skip moves past the next occurrence of a mark, and reports whether there is one. */
	skip(mark: string): boolean {
		const found = this.text.indexOf(mark, this.at);
		this.at = found < 0 ? this.text.length : found + mark.length;
		return found >= 0;
	}

	/** blanks moves past white space, and reports whether there was any. */
	blanks(): boolean {
		return this.match(space) !== "";
	}

	/** until returns the text before the next white space or one of some characters, and moves there. */
	until(marks: keyof typeof words): string {
		return this.match(words[marks]);
	}

	/** match moves past what a sticky pattern matches at the position, and returns it; "" if it does not match. */
	match(pattern: RegExp): string {
		pattern.lastIndex = this.at;
		const text = pattern.exec(this.text)?.[0] ?? "";
		this.at += text.length;
		return text;
	}
}

// Patterns, and not loops: an interpreter runs them ten times as fast.
const space = /[ \t\n\f\r]*/y;
const words = { "/>": /[^ \t\n\f\r/>]*/y, "=/>": /[^ \t\n\f\r=/>]*/y, ">": /[^ \t\n\f\r>]*/y };

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are looked for
const control = /[\x00-\x08\x0b\x0c\x0e-\x1f]/;

/** controlAt returns the position of the first control character that MJML may not have; -1 if there is none. */
export const controlAt = (text: string) => text.search(control);
