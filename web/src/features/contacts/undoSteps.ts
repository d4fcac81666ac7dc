import type { BulkContactsRequestBody, Contact } from "../../api/schema";
import { fieldOf } from "./contactFields";

export type BulkAction = BulkContactsRequestBody["action"];

/** One change that undoes a part of an action. */
export type UndoStep = { action: BulkAction; params?: { [name: string]: unknown }; ids: string[] };

/** undoSteps returns the changes that take an action back from those contacts that were otherwise before. */
export function undoSteps(
	action: BulkAction,
	contacts: Contact[],
	params: { [name: string]: unknown } = {},
): UndoStep[] {
	const idsWhere = (matches: (contact: Contact) => boolean) => contacts.filter(matches).map((contact) => contact.id);
	const tags = Array.isArray(params.tags) ? (params.tags as string[]) : [];
	switch (action) {
		case "delete":
			return [{ action: "restore", ids: idsWhere((contact) => contact.global_status !== "suppressed") }];
		case "restore":
			return [{ action: "delete", ids: idsWhere((contact) => contact.global_status === "suppressed") }];
		case "add_tags":
			return tags.map((tag) => ({
				action: "remove_tags",
				params: { tags: [tag] },
				ids: idsWhere((contact) => !contact.tags.includes(tag)),
			}));
		case "remove_tags":
			return tags.map((tag) => ({
				action: "add_tags",
				params: { tags: [tag] },
				ids: idsWhere((contact) => contact.tags.includes(tag)),
			}));
		case "set_do_not_contact":
			return [
				{
					action,
					params: { value: !params.value },
					ids: idsWhere((contact) => contact.do_not_contact !== params.value),
				},
			];
		case "set_stage":
			return [...new Set(contacts.map((contact) => contact.stage_id))]
				.filter((stage) => stage !== params.stage_id)
				.map((stage) => ({
					action,
					params: { stage_id: stage },
					ids: idsWhere((contact) => contact.stage_id === stage),
				}));
		case "set_field": {
			const field = String(params.field);
			const before = new Map<string, { value: unknown; ids: string[] }>();
			for (const contact of contacts) {
				const value = fieldOf(contact, field) ?? null;
				const same = before.get(JSON.stringify(value)) ?? { value, ids: [] };
				same.ids.push(contact.id);
				before.set(JSON.stringify(value), same);
			}
			before.delete(JSON.stringify(params.value ?? null));
			return [...before.values()].map(({ value, ids }) => ({ action, params: { field, value }, ids }));
		}
		default:
			return [];
	}
}
