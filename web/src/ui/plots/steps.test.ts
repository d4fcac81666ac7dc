import { equals, type Tests } from "../../base/testing";
import { withSteps } from "./steps";

const fill = (times: number[], step = 60) =>
	withSteps(
		times,
		(time) => time,
		step,
		(time) => -time,
	);

const tests: Tests = {
	"steps that are left out are put in"() {
		equals(fill([]), []);
		equals(fill([120]), [120]);
		equals(fill([0, 60, 120]), [0, 60, 120]);
		equals(
			fill([480, 720, 960, 1320]),
			[480, -540, -600, -660, 720, -780, -840, -900, 960, -1020, -1080, -1140, -1200, -1260, 1320],
		);
	},
	"a change of clocks is no gap, and adds none"() {
		equals(fill([0, 62, 122]), [0, 62, 122]);
		equals(fill([0, 118, 178]), [0, -60, 118, 178]);
	},
	"a gap is not without end"() {
		equals(fill([0, 60 * 1_000_000]).length, 20_001);
	},
};

export default tests;
