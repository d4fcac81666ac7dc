import { equals, type Tests } from "../../base/testing";
import { colorsIn, longOf } from "./colors";

const tests: Tests = {
	"the colours of some code are those of its attributes and styles, the usual ones first"() {
		const code = `<mj-text color="#ABC" container-background-color='#112233'>
			<a href="#fff" style="border-bottom:1px solid #112233; color:#445566">#999999</a></mj-text>
			<mj-divider border="1px solid #112233" color="{{ brand.colors.text }}" />`;
		equals(colorsIn(code), ["#112233", "#aabbcc", "#445566"]);
		equals(colorsIn(code, 1), ["#112233"]);
	},
	"a colour has six digits, or three"() {
		equals(
			[longOf("#FfF"), longOf("#ffffff"), longOf("red"), longOf("#ff")],
			["#ffffff", "#ffffff", undefined, undefined],
		);
	},
};

export default tests;
