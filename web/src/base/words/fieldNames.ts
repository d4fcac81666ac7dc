import { catalogue } from "./catalogue";
import { inSentence } from "./formats";

// What pages call the fields of requests, where the name of the field in the API does not say it.

const words = catalogue("errors.fields", {
	row: "{list} {n}",
	within: "{row}, {field}",
	/** Singular: an entry of a list has it with its number. */
	lists: {
		actions: "Action",
		conditions: "Condition",
		delivery_lanes: "Sending server",
		domain_throttles: "Limit",
		fail_patterns: "Pattern",
		fields: "Field",
		filters: "Filter",
		groups_schema: "Group",
		ips: "Address",
		nodes: "Step",
		options: "Option",
		parameters_schema: "Parameter",
		return_path_records: "Record",
		rules: "Rule",
		sections_schema: "Section",
		slots_schema: "Slot",
		topic_arns: "Topic",
		variants: "Version",
	},
	fields: {
		address_line1: "Address",
		address_line2: "Address, second line",
		allowed_origins: "Websites",
		body_html: "HTML",
		body_mjml: "MJML",
		body_text: "Plain text",
		confirm_slug: "Short name of the workspace",
		contact_ids: "Contacts",
		content_html: "HTML",
		content_mjml: "MJML",
		content_rewrite_domain: "Domain of links",
		country: "Country",
		currency_code: "Currency",
		definition: "Rule",
		delivery_window_date: "Last day",
		delivery_window_days: "Days",
		emails: "Addresses",
		entry_node_id: "First step",
		enum_values: "Choices",
		event_types: "Events",
		exclude_segment_keys: "Exclusions",
		field_type: "Kind",
		helo_host: "Host name",
		include_segment_keys: "Audience",
		mapping: "Columns",
		message_id: "Mail",
		mta_config_key: "Sending server",
		overflow_mode: "What does not fit",
		preheader: "Preview text",
		reply_to: "Reply to",
		scheduled_at: "Start",
		sending_identity_emails: "Senders",
		sending_identity_ids: "Senders",
		skipped_dates: "Skipped days",
		stage_id: "Stage",
		throttle_per_hour: "At most an hour",
		topic_arns: "Topics",
		trigger_config: "What starts it",
		trigger_type: "What starts it",
	},
});

type Names = { [name: string]: string };

/** Abbreviations are written in capitals. */
const capitals = /\b(?:url|html|mjml|tls|ip|ips|dkim|dns|spf|csv|id|api|smtp|mta|arn|sns|ses|aws)\b/gi;

/** readable writes the name of a field of the API, or the key of a custom field, as words. */
function readable(name: string): string {
	const text = name
		.replace(/_(?:id|ids|key|keys|slug|emails)$/, "")
		.replaceAll(/[_-]+/g, " ")
		.trim()
		.replace(capitals, (abbreviation) => abbreviation.toUpperCase());
	return text.charAt(0).toUpperCase() + text.slice(1);
}

/** ownName returns the name of a field without the row that it is in. */
export const ownName = (path: string) => fieldName(path.slice(path.lastIndexOf(".") + 1));

/** fieldName returns the name of a field by its path in a request, such as conditions[0].value, or "" for the whole request. */
export function fieldName(path: string): string {
	const fields = words.fields as Names;
	const parts = path.match(/[^.[\]]+/g) ?? [];
	const last = parts.at(-1) ?? "";
	const at = parts.findLastIndex((part) => /^\d+$/.test(part));
	const named = fields[last] ?? readable(last);
	if (at < 1) return named;
	const list = parts[at - 1] ?? "";
	const row = words.row({
		list: (words.lists as Names)[list] ?? fields[list] ?? readable(list),
		n: Number(parts[at]) + 1,
	});
	return at === parts.length - 1 ? row : words.within({ row, field: inSentence(named) });
}
