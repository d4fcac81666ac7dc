import type { EnrollmentStep } from "../../api/schema";
import { equals, type Tests } from "../../base/testing";
import { diamond, step } from "./graph.test";
import { nameOfStep, passedOf, reasonOfStep, wayOfStep } from "./stepReasons";
import type { Names } from "./steps";

const names: Names = {
	messages: new Map(),
	types: new Map(),
	segments: new Map(),
	stages: new Map(),
	sequences: new Map(),
	forms: new Map(),
	fields: [],
};

const why = (code: string, part = {}) => ({
	code,
	reason_code: null,
	until: null,
	definition: null,
	message_id: null,
	request: null,
	...part,
});

const visit = (number: number, node_id: string, code: string, part: object = {}): EnrollmentStep =>
	({
		number,
		node_id,
		type: "tag",
		node_changed: false,
		entered_at: "2026-03-01T12:00:00Z",
		left_at: "2026-03-01T12:00:00Z",
		branch_label: null,
		next_node_id: null,
		why: why(code),
		...part,
	}) as EnrollmentStep;

const tests: Tests = {
	"a reason is a sentence"() {
		const text = (code: string, part = {}) => reasonOfStep(visit(1, "a", code, { why: why(code, part) }), names);
		equals(text("carried_out"), "Done.");
		equals(text("mail_refused", { reason_code: "pending" }), "No email: the contact has not confirmed.");
		equals(text("mail_refused", { reason_code: "unheard_of" }), "No email: this person may not get it.");
		equals(
			text("not_carried_out", { reason_code: "duplicate" }),
			"Not done: the contact is or was in the other sequence.",
		);
		equals(text("not_carried_out", { reason_code: "UNHEARD_OF" }), "Not done.");
		equals(text("exited", { reason_code: "manual" }), "Left the sequence: Removed manually.");
		const definition = { logic: "and", conditions: [{ field: "country", operator: "equals", value: "DE" }] };
		equals(text("condition_met", { definition }), "The rule matched: country is DE.");
	},
	"a step that is gone has the name of its kind"() {
		const graph = diamond();
		equals(nameOfStep(visit(1, "gone", "carried_out"), graph, names), "Change tags (removed since)");
		equals(nameOfStep(visit(1, "gone", "carried_out", { type: null }), graph, names), "A step that was removed since");
		equals(wayOfStep(visit(1, "if", "condition_met", { branch_label: "true" }), graph), "Path: Yes.");
		equals(wayOfStep(visit(1, "if", "carried_out"), graph), "");
	},
	"the way through a graph has the steps and the edges that were taken"() {
		const graph = { entry: "a", steps: [step("a"), step("b"), step("c")], edges: [] };
		const passed = passedOf(
			[
				visit(1, "a", "carried_out"),
				visit(2, "b", "condition_met", { branch_label: "true" }),
				visit(3, "a", "goal_reached"),
				visit(4, "c", "waiting", { left_at: null }),
			],
			graph,
		);
		equals(
			[...passed.steps],
			[
				["a", 2],
				["b", 1],
				["c", 1],
			],
		);
		equals([...passed.edges], ["a ", "b true", " "]);
	},
};

export default tests;
