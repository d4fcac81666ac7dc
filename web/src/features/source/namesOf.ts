import type { Name } from "../../ui/Code";
import type { FieldInfo } from "../rules/fields";
import type { Schema } from "./draft";

/** namesOf returns what code may name: what is declared beside it, and fields of contacts that have a value of their own. */
export const namesOf = (schema: Schema | undefined, fields: FieldInfo[]): Name[] => [
	...(schema?.parameters_schema ?? []).map(
		(p): Name => ({ kind: "parameter", name: p.name, label: p.label, help: p.help_text }),
	),
	...(schema?.sections_schema ?? []).flatMap((s): Name[] => [
		{ kind: "section", name: s.name, label: s.label, help: s.help_text },
		...(s.item_schema ?? []).map(
			(i): Name => ({ kind: "item", name: i.name, label: i.label, help: i.help_text, of: s.name }),
		),
	]),
	...(schema?.slots_schema ?? []).map((s): Name => ({ kind: "slot", name: s.name, label: s.label, help: s.help_text })),
	...fields
		.filter((f) => f.kind !== "list" && f.field !== "email_domain")
		.map((f): Name => ({ kind: "field", name: f.field, label: f.name })),
];
