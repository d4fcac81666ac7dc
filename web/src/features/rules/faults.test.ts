import { equals, type Tests } from "../../base/testing";
import { type Fault, groupProblem, problemsIn } from "./faults";

const problem = (path: string) => ({ path, message: `at ${path}`, fullMessage: `whole ${path}` });
const fault: Fault = {
	...problem("definition.conditions[1].first.filters[0].value"),
	others: [
		problem("definition.conditions[10]"),
		problem("conditions[2].logic"),
		problem("definition.conditions[2].conditions[0]"),
	],
};

const tests: Tests = {
	"the problems of a condition have their paths within it"() {
		equals(problemsIn(fault, "conditions[1]"), [
			{ path: "first.filters[0].value", message: "at definition.conditions[1].first.filters[0].value" },
		]);
		equals(problemsIn(fault, "conditions[10]"), [{ path: "", message: "at definition.conditions[10]" }]);
		equals(problemsIn(fault, "conditions[0]"), []);
		equals(problemsIn(null, "conditions[0]"), []);
	},
	"a problem of a group is none of its conditions"() {
		equals(groupProblem(fault, "conditions[2]"), "at conditions[2].logic");
		equals(groupProblem(fault, "conditions[1]"), undefined);
		equals(groupProblem(problem("definition"), ""), "at definition");
		equals(groupProblem(problem("definition.conditions"), ""), "at definition.conditions");
		equals(groupProblem(problem("definition.conditions[0].value"), ""), undefined);
	},
};

export default tests;
