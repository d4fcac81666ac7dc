import { equals, holds, Random, type Tests } from "../../base/testing";
import { spread, isStep, nearest, indexAfterKey, tickEvery } from "./points";

const tests: Tests = {
	"two to six points are named, as many as have room"() {
		const plots: [count: number, width: number, nameWidth: number, want: number][] = [
			[30, 600, 64, 5],
			[30, 300, 64, 8],
			[30, 100, 64, 15],
			[6, 600, 64, 1],
			[7, 600, 64, 2],
			[1, 600, 64, 1],
			[0, 600, 64, 1],
			[400, 600, 100, 67],
		];
		for (const [count, width, nameWidth, expected] of plots)
			equals(tickEvery(count, width, nameWidth), expected, `${count} in ${width}`);
		const random = new Random(1);
		for (let round = 0; round < 300; round++) {
			const [count, width, nameWidth] = [1 + random.below(500), 140 + random.below(900), 40 + random.below(60)];
			const labelCount = Math.ceil(count / tickEvery(count, width, nameWidth));
			holds(
				labelCount <= Math.max(2, Math.min(6, width / nameWidth)),
				`${labelCount} names of ${nameWidth} in ${width}`,
			);
		}
	},
	"keys walk along the points, and begin at the end they come from"() {
		const keyCases: [key: string, from: number | null, want: number][] = [
			["ArrowRight", null, 0],
			["ArrowRight", 0, 1],
			["ArrowRight", 9, 9],
			["ArrowLeft", null, 9],
			["ArrowLeft", 9, 8],
			["ArrowLeft", 0, 0],
			["Home", null, 0],
			["Home", 7, 0],
			["End", null, 9],
			["End", 0, 9],
		];
		for (const [key, from, expected] of keyCases) {
			equals(indexAfterKey(key, from, 10), expected, `${key} from ${from}`);
			equals(isStep(key), true, key);
		}
		for (const key of ["ArrowUp", "Enter", "a"]) equals(isStep(key), false, key);
		equals(indexAfterKey("End", null, 1), 0, "of one point");
	},
	"the pointer is at the nearest point"() {
		const positions: [place: number, want: number][] = [
			[0, 0],
			[-50, 0],
			[24, 0],
			[26, 1],
			[50, 1],
			[124, 2],
			[450, 9],
			[900, 9],
		];
		for (const [position, expected] of positions) equals(nearest(position, 450, 10), expected, String(position));
		equals(nearest(300, 450, 1), 0, "of one point");
	},
	"names of lines do not cover each other, and stay where they need not move"() {
		equals(spread([100, 50, 10], 15), [100, 50, 10]);
		equals(spread([100, 95, 90], 15), [100, 85, 70]);
		equals(spread([90, 100], 15), [85, 100]);
		equals(spread([50, 50], 15), [50, 35], "of two lines that end together");
		equals(spread([], 15), []);
		const random = new Random(2);
		for (let round = 0; round < 300; round++) {
			const heights = random.list(6, () => random.below(100));
			const moved = spread(heights, 15);
			const sorted = [...moved].sort((a, b) => a - b);
			for (const [i, height] of sorted.entries())
				if (i > 0) holds(height - (sorted[i - 1] ?? 0) >= 15, `${heights} become ${moved}`);
			for (const [i, height] of moved.entries())
				holds(height <= (heights[i] ?? 0), `${heights[i]} moved down to ${height}`);
		}
	},
};

export default tests;
