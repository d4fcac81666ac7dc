import type { CustomFieldRow, EmailCategoryRow, EmailTypeRow, FormField } from "../../api/schema";
import { catalogue } from "../../base/words/catalogue";

// What fields of a form can be bound to, with names.

const words = catalogue("forms.bindings", {
	contact: "Contact",
	custom: "Custom field",
	consent: "Consent",
	hidden: "Hidden field",
	text: "Text between fields",
	category: "{name} (whole category)",
	columns: {
		email: "Email",
		first_name: "First name",
		last_name: "Last name",
		full_name: "Full name",
		title: "Job title",
		company: "Company",
		phone: "Phone",
		website: "Website",
		address_line1: "Address line 1",
		address_line2: "Address line 2",
		city: "City",
		state: "State or region",
		postal_code: "Postal code",
		country: "Country",
		timezone: "Time zone",
	},
	sentence: "Send me the {type}",
	sample: "Write what visitors should know.",
});

export type FieldType = FormField["type"];

/** Binding is one thing that a field can be bound to. Its key is what no two fields of a form may share. */
export type Binding = { key: string; type: FieldType; binding: string; name: string; group: string };

/** typeNames returns the names of the types of fields. */
export const typeNames = (): { [T in FieldType]: string } => ({
	contact: words.contact,
	custom_field: words.custom,
	consent: words.consent,
	hidden: words.hidden,
	text_block: words.text,
});

const isColumn = (binding: string) => Object.hasOwn(words.columns, binding);

/** keyOf returns what no other field of the form may be bound to; null for text. */
export const keyOf = (field: FormField): string | null =>
	field.type === "text_block" || !field.binding
		? null
		: field.type === "hidden"
			? `${isColumn(field.binding) ? "contact" : "custom_field"}:${field.binding}`
			: `${field.type}:${field.binding}`;

/** bindingsOf returns all that fields can be bound to: columns of contacts, the workspace's own fields, and consents. */
export function bindingsOf(
	custom: Pick<CustomFieldRow, "field_key" | "name" | "field_type">[],
	types: Pick<EmailTypeRow, "type_key" | "display_name" | "active">[],
	categories: Pick<EmailCategoryRow, "id" | "name">[],
): Binding[] {
	const groups = typeNames();
	const newBinding = (type: FieldType, binding: string, name: string): Binding => ({
		key: `${type}:${binding}`,
		type,
		binding,
		name,
		group: groups[type],
	});
	return [
		...Object.entries(words.columns).map(([binding, name]) => newBinding("contact", binding, name)),
		...custom
			.filter((field) => field.field_type !== "contact")
			.map((field) => newBinding("custom_field", field.field_key, field.name)),
		...types.filter((type) => type.active).map((type) => newBinding("consent", type.type_key, type.display_name)),
		...categories.map((category) =>
			newBinding("consent", `category:${category.id}`, words.category({ name: category.name })),
		),
	];
}

/** newField returns a field that is bound to something. Its id is new in the form. */
export function newField(binding: Binding, fields: FormField[], type: FieldType = binding.type): FormField {
	let n = fields.length + 1;
	while (fields.some((field) => field.id === `f${n}`)) n++;
	return {
		id: `f${n}`,
		type,
		binding: type === "text_block" ? null : binding.binding,
		label:
			type === "text_block" ? words.sample : type === "consent" ? words.sentence({ type: binding.name }) : binding.name,
		placeholder: null,
		help_text: null,
		required: type === "contact" && binding.binding === "email",
		input: null,
		options: null,
		default_value: null,
		param: null,
		sort_order: fields.length,
	};
}

const inputs: { [T in FieldType]: string[] } = {
	contact: ["text", "email", "tel", "url", "select", "radio", "textarea"],
	custom_field: ["text", "email", "tel", "url", "number", "date", "select", "radio", "checkbox", "textarea"],
	consent: ["checkbox"],
	hidden: ["hidden"],
	text_block: [],
};

/** inputsOf returns the controls by which a field may be filled in. */
export const inputsOf = (field: FormField) =>
	field.type === "contact" && field.binding === "email" ? ["email"] : inputs[field.type];
