import type { Contact } from "../../api/schema";

// What a contact has in its fields.

/** nameOf returns a contact's name, or else the address. */
export const nameOf = (contact: Contact) =>
	contact.full_name || [contact.first_name, contact.last_name].filter(Boolean).join(" ") || contact.email;

/** fieldOf returns the value of a contact in a field. */
export function fieldOf(contact: Contact, field: string): unknown {
	return field.startsWith("custom_fields.")
		? contact.custom_fields[field.slice("custom_fields.".length)]
		: (contact as unknown as { [key: string]: unknown })[field];
}

/** exportOf returns the fields of an export of some columns: the address and the names, and then those of the columns. */
export const exportOf = (columns: string[]) => [
	...new Set([
		"email",
		"first_name",
		"last_name",
		"full_name",
		...columns
			.filter((column) => column !== "email_domain")
			.map((column) => (column === "stage" ? "stage_id" : column)),
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
