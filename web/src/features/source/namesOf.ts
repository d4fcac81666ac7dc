import type { Name } from "../../ui/Code";
import type { FieldInfo } from "../rules/fields";
import type { Schema } from "./draft";

/** namesOf returns what code may name: what is declared beside it, and fields of contacts that have a value of their own. */
export const namesOf = (schema: Schema | undefined, fields: FieldInfo[]): Name[] => [
	...(schema?.parameters_schema ?? []).map(
		(parameter): Name => ({
			kind: "parameter",
			name: parameter.name,
			label: parameter.label,
			help: parameter.help_text,
		}),
	),
	...(schema?.sections_schema ?? []).flatMap((section): Name[] => [
		{ kind: "section", name: section.name, label: section.label, help: section.help_text },
		...(section.item_schema ?? []).map(
			(parameter): Name => ({
				kind: "item",
				name: parameter.name,
				label: parameter.label,
				help: parameter.help_text,
				section: section.name,
			}),
		),
	]),
	...(schema?.slots_schema ?? []).map(
		(slot): Name => ({ kind: "slot", name: slot.name, label: slot.label, help: slot.help_text }),
	),
	...fields
		.filter((field) => field.kind !== "list" && field.field !== "email_domain")
		.map((field): Name => ({ kind: "field", name: field.field, label: field.name })),
];
