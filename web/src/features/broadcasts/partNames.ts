import { catalogue } from "../../base/words/catalogue";
import type { Problem } from "../../sync/draft";
import { groupOf } from "./parts";
import { fieldName } from "../../base/words/fieldNames";

/** What the parts of a draft are called. */
const names = catalogue("broadcasts.partNames", {
	name: "Name",
	include_segment_keys: "Audience",
	exclude_segment_keys: "Exclusions",
	email_type_key: "Email type",
	sending_identity_emails: "Senders",
	lanes: "Sending servers",
	"content.subject": "Subject",
	"content.preheader": "Preview text",
	"content.from_name": "From name",
	"content.reply_to": "Reply to",
	"content.body": "Content",
	variants: "Versions",
	scheduled_at: "Start",
	delivery: "How fast",
	skipped_dates: "Skipped days",
	overflow_mode: "If not everything fits",
	throttle_per_hour: "Limit per hour",
	tracking_enabled: "Tracking of opens and clicks",
	seed_list_ids: "Seed lists",
	tags: "Tags",
	variant: "Version {number}, {field}",
	ofVariant: {
		name: "name",
		weight: "weight",
		subject: "subject",
		preheader: "preview text",
		from_name: "from name",
		reply_to: "reply to",
		body_html: "HTML",
		body_mjml: "MJML",
		body_text: "plain text",
	},
});

/** variantName names a field of a variant by its path, such as variants[1].weight. */
function variantName(path: string): string | null {
	const [, index, field] = path.match(/^variants\[(\d+)\]\.(?:content_overrides\.)?(\w+)/) ?? [];
	return index && field
		? names.variant({
				number: Number(index) + 1,
				field: (names.ofVariant as { [field: string]: string })[field] ?? field,
			})
		: null;
}

/** partName names a group of parts. */
export const partName = (group: string) => (names as unknown as { [group: string]: string })[group] ?? group;

/** nameOfPart names the field at a path. */
export function nameOfPart(path: string): string {
	const group = groupOf(path);
	const name = variantName(path) ?? partName(group);
	return name === group ? fieldName(path) : name;
}

/** refusalText says what the server refused, with the name of the field. */
export function refusalText({ path, message }: Problem): string {
	const name = nameOfPart(path);
	return message.startsWith(name) ? message : `${name}: ${message}`;
}
