/**
 * withSteps returns a series with the steps that it leaves out because nothing happened in them, so that a plot shows time
 * as it passes. Times are in milliseconds and in order. A step may differ by less than half, as where clocks are changed.
 */
export function withSteps<T>(series: T[], time: (point: T) => number, step: number, none: (time: number) => T): T[] {
	const result: T[] = [];
	let last: number | null = null;
	for (const point of series) {
		const current = time(point);
		if (last !== null)
			for (let time = last + step; current - time >= step / 2 && result.length < maxSteps; time += step)
				result.push(none(time));
		result.push(point);
		last = current;
	}
	return result;
}

/** A plot of more points shows no more. */
const maxSteps = 20_000;
