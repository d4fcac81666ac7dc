import { useMemo } from "react";
import { useFields } from "../rules/useFields";
import type { Name } from "../../ui/Code";
import type { Schema } from "./draft";

/** useNames returns what code may name: what is declared beside it, and the fields of contacts. */
export function useNames(schema?: Schema): Name[] {
	const fields = useFields();
	return useMemo(
		() => [
			...(schema?.parameters_schema ?? []).map(
				(p): Name => ({ kind: "parameter", name: p.name, label: p.label, help: p.help_text }),
			),
			...(schema?.sections_schema ?? []).flatMap((s): Name[] => [
				{ kind: "section", name: s.name, label: s.label, help: s.help_text },
				...(s.item_schema ?? []).map(
					(i): Name => ({ kind: "item", name: i.name, label: i.label, help: i.help_text, of: s.name }),
				),
			]),
			...(schema?.slots_schema ?? []).map(
				(s): Name => ({ kind: "slot", name: s.name, label: s.label, help: s.help_text }),
			),
			...fields
				.filter((f) => f.kind !== "list" && f.field !== "email_domain")
				.map((f): Name => ({ kind: "field", name: f.field, label: f.name })),
		],
		[schema, fields],
	);
}
