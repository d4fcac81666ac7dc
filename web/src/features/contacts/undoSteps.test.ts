import type { Contact } from "../../api/schema";
import { equals, Random, type Tests } from "../../base/testing";
import { type BulkAction, undoSteps } from "./undoSteps";

type State = Pick<Contact, "id" | "global_status" | "do_not_contact" | "tags" | "stage_id" | "custom_fields"> & {
	company: string | null;
};

const contact = (id: string, parts: Partial<State> = {}): Contact =>
	({
		id,
		global_status: "active",
		do_not_contact: false,
		tags: [],
		stage_id: null,
		company: null,
		custom_fields: {},
		...parts,
	}) as unknown as Contact;

type Params = { [name: string]: unknown };

/** changed returns a contact after an action, as the server changes it. */
function changed(contact: Contact, action: BulkAction, params: Params): Contact {
	const tags = (params.tags ?? []) as string[];
	switch (action) {
		case "delete":
			return { ...contact, global_status: "suppressed" };
		case "restore":
			return { ...contact, global_status: "active" };
		case "add_tags":
			return { ...contact, tags: [...new Set([...contact.tags, ...tags])].sort() };
		case "remove_tags":
			return { ...contact, tags: contact.tags.filter((tag) => !tags.includes(tag)) };
		case "set_do_not_contact":
			return { ...contact, do_not_contact: Boolean(params.value) };
		case "set_stage":
			return { ...contact, stage_id: params.stage_id as Contact["stage_id"] };
		case "set_field": {
			const field = String(params.field);
			return field.startsWith("custom_fields.")
				? { ...contact, custom_fields: { ...contact.custom_fields, [field.slice(14)]: params.value } }
				: { ...contact, [field]: params.value };
		}
		default:
			return contact;
	}
}

const actions: [action: BulkAction, params: Params][] = [
	["delete", {}],
	["restore", {}],
	["add_tags", { tags: ["a", "b"] }],
	["remove_tags", { tags: ["a", "b"] }],
	["set_do_not_contact", { value: true }],
	["set_do_not_contact", { value: false }],
	["set_stage", { stage_id: "stg_1" }],
	["set_field", { field: "company", value: "Acme" }],
	["set_field", { field: "custom_fields.size", value: 3 }],
];

const tests: Tests = {
	"only those who were otherwise are changed back"() {
		const people = [contact("1", { tags: ["a"] }), contact("2"), contact("3", { tags: ["a", "b"] })];
		equals(undoSteps("add_tags", people, { tags: ["a", "b"] }), [
			{ action: "remove_tags", params: { tags: ["a"] }, ids: ["2"] },
			{ action: "remove_tags", params: { tags: ["b"] }, ids: ["1", "2"] },
		]);
		equals(undoSteps("remove_tags", people, { tags: ["b"] }), [
			{ action: "add_tags", params: { tags: ["b"] }, ids: ["3"] },
		]);
		const deleted = [contact("1", { global_status: "suppressed" }), contact("2")];
		equals(undoSteps("delete", deleted), [{ action: "restore", ids: ["2"] }]);
		equals(undoSteps("restore", deleted), [{ action: "delete", ids: ["1"] }]);
	},
	"each goes back to what it had"() {
		const people = [
			contact("1", { company: "Acme" }),
			contact("2", { company: "Bolt" }),
			contact("3"),
			contact("4", { company: "Bolt" }),
		];
		equals(undoSteps("set_field", people, { field: "company", value: "Acme" }), [
			{ action: "set_field", params: { field: "company", value: "Bolt" }, ids: ["2", "4"] },
			{ action: "set_field", params: { field: "company", value: null }, ids: ["3"] },
		]);
	},
	"what is done and undone leaves all contacts as they were"() {
		const random = new Random(3);
		for (let round = 0; round < 300; round++) {
			const people = Array.from({ length: 1 + random.below(5) }, (_, i) =>
				contact(String(i), {
					global_status: random.of(["active", "suppressed"] as const),
					do_not_contact: random.below(2) === 0,
					tags: ["a", "b", "c"].filter(() => random.below(2) === 0),
					stage_id: random.of([null, "stg_1", "stg_2"]) as Contact["stage_id"],
					company: random.of([null, "Acme", "Bolt"]),
					custom_fields: { size: random.of([null, 3, "3"]) },
				}),
			);
			const [action, params] = random.of(actions);
			let now = people.map((contact) => changed(contact, action, params));
			for (const undoStep of undoSteps(action, people, params))
				now = now.map((contact) =>
					undoStep.ids.includes(contact.id) ? changed(contact, undoStep.action, undoStep.params ?? {}) : contact,
				);
			equals(now, people, `${action} ${JSON.stringify(params)}`);
		}
	},
	"an action that erases cannot be undone"() {
		for (const action of ["anonymize", "reset_status"] as BulkAction[])
			equals(undoSteps(action, [contact("1")]), [], action);
		equals(undoSteps("add_tags", [contact("1")]), [], "without tags");
	},
};

export default tests;
