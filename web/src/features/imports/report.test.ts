import { equals, type Tests } from "../../base/testing";
import type { FieldInfo } from "../rules/fields";
import { type ColumnReport, columnOf, shownChoices, suggestionsFor, within } from "./report";

const column = (name: string, target: string | null = null, more: Partial<ColumnReport> = {}): ColumnReport => ({
	name,
	key: name,
	target,
	samples: [],
	...(target && { by: "name" }),
	...more,
});

const fields = ["email", "last_name", "tags", "custom_fields.plan"].map(
	(field): FieldInfo => ({ field, name: field, group: "", kind: "text" }),
);

const tests: Tests = {
	"columns that nothing knows are suggested by usual names, if no other column is about the field"() {
		const columns = [
			column("Mail"),
			column("Surname"),
			column("Family name"),
			column("Tag"),
			column("Labels"),
			column("Colour"),
		];
		equals(suggestionsFor(columns, fields), { Mail: "email", Surname: "last_name", Tag: "tags", Labels: "tags" });
		equals(suggestionsFor([column("Mail"), column("email", "email")], fields), {});
		equals(suggestionsFor([column("Mail", null, { key: "#1" }), column("Mail", null, { key: "#2" })], fields), {
			"#1": "email",
		});
		equals(suggestionsFor([column("Surname", null, { by: "mapping" })], fields), {});
	},

	"choices are sent for columns that the file has"() {
		const choices = { mapping: { a: null, b: "email" }, forms: { a: "DD.MM.YYYY", c: "ja/nein" } };
		equals(within(choices, [column("a"), column("c")]), {
			mapping: { a: null },
			forms: { a: "DD.MM.YYYY", c: "ja/nein" },
		});
	},

	"an import does what is shown, with the dates and numbers of the file but with any words for yes and no"() {
		const columns = [
			column("Mail", "email"),
			column("Born", "custom_fields.born", { key: "#2", form: "MM/DD/YYYY" }),
			column("Born", null, { key: "#3", by: "mapping" }),
			column("Vip", "custom_fields.vip", { form: "ja/nein" }),
			column("Unknown"),
		];
		equals(shownChoices(columns), {
			mapping: { Mail: "email", "#2": "custom_fields.born", "#3": null, Vip: "custom_fields.vip" },
			forms: { "#2": "MM/DD/YYYY" },
		});
	},

	"a problem of the options is at its column"() {
		const of = (path: string) => columnOf({ path, message: "" });
		equals(
			[of("options.mapping.First name"), of("options.forms.a.b"), of("options.mapping"), of("file")],
			["First name", "a.b", "", ""],
		);
	},
};

export default tests;
