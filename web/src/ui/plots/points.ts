// Where the points of a plot are, and which of them a key or the pointer leads to.

/** tickEvery returns after how many points one is named on the axis, so that two to six names fit into a width. */
export function tickEvery(count: number, width: number, nameWidth: number): number {
	const labelCount = Math.max(2, Math.min(6, Math.floor(width / nameWidth)));
	return Math.max(1, Math.ceil(count / labelCount));
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

/** indexAfterKey returns the point that a key leads to from another, or from outside of the plot. */
export function indexAfterKey(key: string, from: number | null, count: number): number {
	const step = steps.get(key) ?? 0;
	return clamp((from ?? (step > 0 ? -1 : count)) + step, count);
}

/** nearest returns the point that is nearest to a place, counted from the first of points at equal distances. */
export const nearest = (position: number, width: number, count: number): number =>
	clamp(Math.round(position / (width / Math.max(1, count - 1))), count);

/** spread moves heights up as far as two of them are nearer than a distance. */
export function spread(heights: number[], distance: number): number[] {
	const result = [...heights];
	const byHeight = heights.map((_, i) => i).sort((a, b) => (heights[b] ?? 0) - (heights[a] ?? 0));
	let limit = Number.POSITIVE_INFINITY;
	for (const i of byHeight) {
		limit = Math.min(heights[i] ?? 0, limit - distance);
		result[i] = limit;
	}
	return result;
}
