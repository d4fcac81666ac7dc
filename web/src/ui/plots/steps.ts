/**
 * withSteps returns a series with the steps that it leaves out because nothing happened in them, so that a plot shows time
 * as it passes. Times are in milliseconds and in order. A step may differ by less than half, as where clocks are changed.
 */
export function withSteps<T>(series: T[], time: (p: T) => number, step: number, none: (time: number) => T): T[] {
	const out: T[] = [];
	let last: number | null = null;
	for (const p of series) {
		const at = time(p);
		if (last !== null) for (let t = last + step; at - t >= step / 2 && out.length < most; t += step) out.push(none(t));
		out.push(p);
		last = at;
	}
	return out;
}

/** A plot of more points shows no more. */
const most = 20_000;
