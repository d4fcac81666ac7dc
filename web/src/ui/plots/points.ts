// Where the points of a plot are, and which of them a key or the pointer leads to.

/** tickEvery returns after how many points one is named on the axis, so that two to six names fit into a width. */
export function tickEvery(count: number, width: number, nameWidth: number): number {
	const names = Math.max(2, Math.min(6, Math.floor(width / nameWidth)));
	return Math.max(1, Math.ceil(count / names));
}

const clamp = (index: number, count: number) => Math.max(0, Math.min(count - 1, index));

const steps = new Map([
	["ArrowRight", 1],
	["ArrowLeft", -1],
	["Home", Number.NEGATIVE_INFINITY],
	["End", Number.POSITIVE_INFINITY],
]);

/** isStep reports whether a key leads to another point. */
export const isStep = (key: string) => steps.has(key);

/** stepped returns the point that a key leads to from another, or from outside of the plot. */
export function stepped(key: string, from: number | null, count: number): number {
	const step = steps.get(key) ?? 0;
	return clamp((from ?? (step > 0 ? -1 : count)) + step, count);
}

/** nearest returns the point that is nearest to a place, counted from the first of points at equal distances. */
export const nearest = (place: number, width: number, count: number): number =>
	clamp(Math.round(place / (width / Math.max(1, count - 1))), count);

/** apart moves heights up as far as two of them are nearer than a distance. */
export function apart(heights: number[], distance: number): number[] {
	const out = [...heights];
	const lowestFirst = heights.map((_, i) => i).sort((a, b) => (heights[b] ?? 0) - (heights[a] ?? 0));
	let below = Number.POSITIVE_INFINITY;
	for (const i of lowestFirst) {
		below = Math.min(heights[i] ?? 0, below - distance);
		out[i] = below;
	}
	return out;
}
