// What tests of modules without a page use. A test file (*.test.ts) exports an object of functions by what they
// claim; TestModules in tools/web runs each of them in an interpreter.

/** Tests are functions that throw, or reject, if what their name says is not so. */
export type Tests = { [name: string]: () => void | Promise<void> };

/** JSON has no sets and maps: they are written as the lists of what they have. */
const json = (value: unknown) =>
	JSON.stringify(value, (_, member: unknown) =>
		member instanceof Set || member instanceof Map ? [...member] : member,
	);

/** equals fails unless two values are the same in JSON. */
export function equals(actual: unknown, expected: unknown, description = "value") {
	const [a, b] = [json(actual), json(expected)];
	if (a !== b) throw new Error(`${description} is ${a}; want ${b}`);
}

/** holds fails unless something is so. */
export function holds(condition: boolean, description: string) {
	if (!condition) throw new Error(description);
}

/** Random has numbers that look random and are the same each time. */
export class Random {
	private state: number;
	constructor(seed: number) {
		this.state = seed >>> 0;
	}
	/** Returns an integer from 0 to below n. */
	below(n: number): number {
		// mulberry32
		this.state = (this.state + 0x6d2b79f5) >>> 0;
		let x = this.state;
		x = Math.imul(x ^ (x >>> 15), x | 1);
		x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
		return ((x ^ (x >>> 14)) >>> 0) % n;
	}
	/** Returns one of some values. */
	of<T>(all: readonly T[]): T {
		return all[this.below(all.length)] as T;
	}
	/** Returns a list of fewer than some values. */
	list<T>(fewerThan: number, make: (index: number) => T): T[] {
		return Array.from({ length: this.below(fewerThan) }, (_, i) => make(i));
	}
}
