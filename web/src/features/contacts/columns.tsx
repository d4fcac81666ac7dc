import { useMemo } from "react";
import { Link } from "wouter";
import type { Contact } from "../../api/schema";
import type { FieldInfo } from "../rules/fields";
import { useRuleFields } from "../rules/useFields";
import { StateBadge } from "../../ui/Badge";
import { NotSet } from "../../ui/Page";
import type { Column } from "../../ui/Table";
import { Time } from "../../ui/Time";
import { catalogue } from "../../base/words/catalogue";
import { number } from "../../base/words/formats";
import css from "./Contacts.module.css";
import { fieldOf, nameOf } from "./contactFields";
import { to } from "../../base/paths";

const words = catalogue("contacts.columns", { name: "Name", yes: "Yes", no: "No" });

/** Fields that the server sorts by. */
const sortable = ["email", "created_at", "updated_at", "last_activity_at", "prospect_score", "customer_score"];

/** initialColumns are shown until others are chosen. */
export const initialColumns = ["global_status", "company", "country", "tags", "last_activity_at", "created_at"];

function cell(field: FieldInfo, stages: Map<string, string>) {
	return (contact: Contact) => {
		if (field.field === "global_status") return <StateBadge kind="contact" state={contact.global_status} />;
		if (field.field === "deliverability_status")
			return <StateBadge kind="deliverability" state={contact.deliverability_status} />;
		if (field.field === "stage") return (contact.stage_id && stages.get(contact.stage_id)) || <NotSet />;
		const value = fieldOf(contact, field.field);
		if (value === null || value === undefined || value === "" || (Array.isArray(value) && value.length === 0))
			return <NotSet />;
		if (Array.isArray(value)) return value.join(", ");
		if (typeof value === "boolean") return value ? words.yes : words.no;
		if (field.kind === "date") return <Time at={String(value)} />;
		if (typeof value === "number") return number(value);
		return String(value);
	};
}

/** The widths of columns whose texts are shorter or longer than most, in pixels. */
const usualWidths: { [field: string]: number } = { tags: 200, country: 96, language: 104 };

/** How narrow columns become where there is little room. Initial ones that are not here go then. */
const minWidths: { [field: string]: number } = { global_status: 152, tags: 122, last_activity_at: 134 };

/** useColumns returns the columns of a table of contacts: name and address first, then those chosen. Initial ones fit their place. */
export function useColumns(
	selected: string[],
	stages: Map<string, string>,
	widths: { [field: string]: number },
	initial: boolean,
): { columns: Column<Contact>[]; all: FieldInfo[] } {
	const fields = useRuleFields();
	const all = useMemo(() => fields.filter((field) => field.kind !== "list" && field.kind !== "subscription"), [fields]);
	const columns = useMemo(
		() => columnsOf(selected, all, stages, widths, initial),
		[selected, all, stages, widths, initial],
	);
	return { columns, all };
}

function columnsOf(
	selected: string[],
	all: FieldInfo[],
	stages: Map<string, string>,
	widths: { [field: string]: number },
	initial: boolean,
): Column<Contact>[] {
	const columns: Column<Contact>[] = [
		{
			id: "email",
			name: words.name,
			sortable: true,
			cell: (contact) => (
				<span className={css.name}>
					<Link href={to.contact(contact.id)} tabIndex={-1}>
						{nameOf(contact)}
					</Link>
					{nameOf(contact) !== contact.email && <span>{contact.email}</span>}
				</span>
			),
		},
	];
	for (const field of selected) {
		const f = all.find((i) => i.field === field);
		if (f && f.field !== "email") {
			columns.push({
				id: f.field,
				name: f.name,
				width:
					widths[f.field] ??
					usualWidths[f.field] ??
					(f.kind === "date" || f.kind === "time" ? 140 : f.kind === "number" ? 120 : 150),
				minWidth: widths[f.field]
					? undefined
					: (minWidths[f.field] ?? (f.kind === "date" || f.kind === "time" ? 134 : 108)),
				droppable: initial && !widths[f.field] && !minWidths[f.field],
				align: f.kind === "number" ? "end" : undefined,
				sortable: sortable.includes(f.field),
				cell: cell(f, stages),
			});
		}
	}
	return columns;
}
