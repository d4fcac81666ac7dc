import { equals, type Tests } from "../../base/testing";
import type { FieldInfo } from "../rules/fields";
import { choicesOf, type ColumnReport, columnOf, shownMapping, suggestionsFor, within } from "./report";

const column = (name: string, target: string | null = null, more: Partial<ColumnReport> = {}): ColumnReport => ({
	name,
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
			column("error_message"),
		];
		equals(suggestionsFor(columns, fields), { Mail: "email", Surname: "last_name", Tag: "tags", Labels: "tags" });
		equals(suggestionsFor([column("Mail"), column("email", "email")], fields), {});
		equals(suggestionsFor([column("Surname", null, { by: "mapping" })], fields), {});
	},

	"choices are sent for columns that the file has"() {
		const choices = { mapping: { a: null, b: "email" }, forms: { a: "DD.MM.YYYY", c: "ja/nein" } };
		equals(within(choices, [column("a"), column("c")]), {
			mapping: { a: null },
			forms: { a: "DD.MM.YYYY", c: "ja/nein" },
		});
	},

	"an import names the target of each column that is known, but for those of the file of errors"() {
		const columns = [column("error_row"), column("a", "email"), column("b", null, { by: "mapping" }), column("c")];
		equals(shownMapping(columns), { a: "email", b: null });
	},

	"rows are imported again as they were, with their dates and numbers but with any words for yes and no"() {
		const columns = [
			column("Mail", "email"),
			column("Born", "custom_fields.born", { form: "MM/DD/YYYY" }),
			column("Vip", "custom_fields.vip", { form: "ja/nein" }),
			column("Note", null, { by: "mapping" }),
		];
		equals(choicesOf({ file: { encoding: "utf-8", separator: ",", quote: '"' }, columns, faults: [] }), {
			mapping: { Mail: "email", Born: "custom_fields.born", Vip: "custom_fields.vip", Note: null },
			forms: { Born: "MM/DD/YYYY" },
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
