import type { FieldInfo } from "../rules/fields";

/** fieldValue returns what was typed as a value of a field's kind. */
export function fieldValue(fields: FieldInfo[], field: string, text: string): unknown {
	const kind = fields.find((f) => f.field === field)?.kind;
	// Not yet a number is what would be written otherwise, such as "1." on the way to "1.5".
	if (kind === "number" && String(Number(text)) === text) return Number(text);
	if (kind === "boolean" && (text === "true" || text === "false")) return text === "true";
	return text;
}
