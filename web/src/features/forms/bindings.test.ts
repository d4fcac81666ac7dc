import type { FormField } from "../../api/schema";
import { equals, holds, type Tests } from "../../base/testing";
import { type Binding, bindingsOf, type FieldType, inputsOf, keyOf, newField, typeNames } from "./bindings";

const bindings = bindingsOf(
	[
		{ field_key: "size", name: "Size", field_type: "number" },
		{ field_key: "buyer", name: "Buyer", field_type: "contact" },
	],
	[
		{ type_key: "news", display_name: "News", active: true },
		{ type_key: "old", display_name: "Old", active: false },
	],
	[{ id: "cat_1" as never, name: "Marketing" }],
);

const bindingOf = (key: string) => bindings.find((binding) => binding.key === key) as Binding;
const field = (type: FieldType, binding: string | null) => ({ id: "f1", type, binding }) as FormField;

const tests: Tests = {
	"fields can be bound to columns, own fields and consents, each once"() {
		const keys = bindings.map((binding) => binding.key);
		equals(new Set(keys).size, keys.length);
		for (const key of ["contact:email", "custom_field:size", "consent:news", "consent:category:cat_1"])
			holds(keys.includes(key), `${key} is missing`);
		for (const key of ["custom_field:buyer", "consent:old"]) holds(!keys.includes(key), `${key} cannot be filled in`);
		for (const binding of bindings) equals(binding.group, typeNames()[binding.type], binding.key);
	},
	"what a field is bound to, no other may be, also if it is hidden"() {
		const fields: [field: FormField, want: string | null][] = [
			[field("contact", "email"), "contact:email"],
			[field("hidden", "company"), "contact:company"],
			[field("hidden", "size"), "custom_field:size"],
			[field("custom_field", "size"), "custom_field:size"],
			[field("consent", "news"), "consent:news"],
			[field("text_block", null), null],
			[field("contact", null), null],
			[field("hidden", "constructor"), "custom_field:constructor"],
		];
		for (const [field, expected] of fields) equals(keyOf(field), expected, JSON.stringify(field));
	},
	"a new field has the key of its binding, and an id that is new in the form"() {
		let fields: FormField[] = [{ ...field("contact", "email"), id: "f3" }];
		for (const binding of bindings) {
			const field = newField(binding, fields);
			equals(keyOf(field), binding.key);
			equals(field.sort_order, fields.length);
			fields = [...fields, field];
		}
		equals(new Set(fields.map((field) => field.id)).size, fields.length, "the number of different ids");
	},
	"only the address is required at first, and text is bound to nothing"() {
		equals(newField(bindingOf("contact:email"), []).required, true);
		equals(newField(bindingOf("contact:company"), []).required, false);
		equals(newField(bindingOf("custom_field:size"), []).label, "Size");
		holds(newField(bindingOf("consent:news"), []).label?.includes("News") ?? false, "a consent does not name its type");
		const text = newField(bindingOf("contact:email"), [], "text_block");
		equals([text.binding, text.required, keyOf(text)], [null, false, null]);
	},
	"a field is filled in by controls of its type"() {
		equals(inputsOf(field("contact", "email")), ["email"]);
		holds(inputsOf(field("contact", "company")).includes("text"), "a column has no text");
		holds(inputsOf(field("custom_field", "size")).includes("number"), "an own field has no number");
		equals(
			[inputsOf(field("consent", "news")), inputsOf(field("hidden", "x")), inputsOf(field("text_block", null))],
			[["checkbox"], ["hidden"], []],
		);
	},
};

export default tests;
