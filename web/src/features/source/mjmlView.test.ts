import { equals, type Tests } from "../../base/testing";
import { viewOf } from "./mjmlView";

const tests: Tests = {
	"MJML is shown as the address says, else as it was chosen last, else as a design"() {
		equals([viewOf("code", null), viewOf("design", "code")], ["code", "design"]);
		equals([viewOf(null, "code"), viewOf("preview", "code")], ["code", "code"]);
		equals([viewOf(null, null), viewOf("preview", null), viewOf("tree", "tree")], ["design", "design", "design"]);
	},
};

export default tests;
