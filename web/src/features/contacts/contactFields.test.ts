import type { Contact } from "../../api/schema";
import { equals, type Tests } from "../../base/testing";
import { exportOf, fieldOf, nameOf, parseWidths } from "./contactFields";

const contact = (parts: object) =>
	({
		email: "ann@example.com",
		full_name: null,
		first_name: null,
		last_name: null,
		custom_fields: {},
		...parts,
	}) as unknown as Contact;

const tests: Tests = {
	"a contact is called by its name, or else by its address"() {
		equals(nameOf(contact({ full_name: "Ann Lee", first_name: "Anna" })), "Ann Lee");
		equals(nameOf(contact({ first_name: "Ann", last_name: "Lee" })), "Ann Lee");
		equals(nameOf(contact({ last_name: "Lee" })), "Lee");
		equals(nameOf(contact({ full_name: "" })), "ann@example.com");
	},
	"a field is one of all contacts, or of the workspace"() {
		const c = contact({ company: "Acme", custom_fields: { size: 3, "a.b": 4 } });
		equals(
			["company", "custom_fields.size", "custom_fields.a.b", "custom_fields.company"].map(
				(field) => fieldOf(c, field) ?? null,
			),
			["Acme", 3, 4, null],
		);
	},
	"an export has the address and the names, and each column once"() {
		equals(exportOf([]), ["email", "first_name", "last_name", "full_name"]);
		equals(exportOf(["company", "email", "email_domain", "stage", "custom_fields.size"]), [
			"email",
			"first_name",
			"last_name",
			"full_name",
			"company",
			"stage_id",
			"custom_fields.size",
		]);
	},
	"widths of columns are read from the address, if a column can be that wide"() {
		const texts: [text: string | null, want: object][] = [
			[null, {}],
			["", {}],
			["company:220,country:96", { company: 220, country: 96 }],
			["company:64,country:800", { company: 64, country: 800 }],
			["company:63,country:801,tags:x,stage", {}],
		];
		for (const [text, expected] of texts) equals(parseWidths(text), expected, String(text));
	},
};

export default tests;
