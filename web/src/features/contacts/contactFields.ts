import type { Contact } from "../../api/schema";

// What a contact has in its fields.

/** nameOf returns a contact's name, or else the address. */
export const nameOf = (c: Contact) => c.full_name || [c.first_name, c.last_name].filter(Boolean).join(" ") || c.email;

/** fieldOf returns the value of a contact in a field. */
export function fieldOf(c: Contact, field: string): unknown {
	return field.startsWith("custom_fields.")
		? c.custom_fields[field.slice("custom_fields.".length)]
		: (c as unknown as { [f: string]: unknown })[field];
}

/** exportOf returns the fields of an export of some columns: the address and the names, and then those of the columns. */
export const exportOf = (columns: string[]) => [
	...new Set([
		"email",
		"first_name",
		"last_name",
		"full_name",
		...columns.filter((c) => c !== "email_domain").map((c) => (c === "stage" ? "stage_id" : c)),
	]),
];

/** parseWidths reads the widths of columns from the address: "company:220,country:96". */
export function parseWidths(text: string | null): { [field: string]: number } {
	const pairs = (text ?? "").split(",").map((part) => part.split(":"));
	return Object.fromEntries(
		pairs
			.filter(([, width]) => Number(width) >= 64 && Number(width) <= 800)
			.map(([field, width]) => [field, Number(width)]),
	);
}
