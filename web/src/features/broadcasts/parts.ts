import type { ApiError } from "../../api/client";
import type { BroadcastBody, BroadcastContent, BroadcastSessionView } from "../../api/schema";
import type { Copy, Problem } from "../../sync/draft";
import { pick } from "../../sync/merge";
import { explain, fieldSentenceOf, sentenceFor } from "../../base/words/errors";
import { nameOfPart } from "./partNames";

// A draft is edited in parts: the fields of a broadcast, and those of its content. A part is named by its
// path, such as "name" or "content.subject".

export type Parts = { [path: string]: unknown };

const contentPrefix = "content.";

/** partsOf returns the parts that a request changes. */
export function partsOf(body: BroadcastBody): Parts {
	const parts: Parts = {};
	for (const [name, value] of Object.entries(body)) {
		if (name === "content" && value)
			for (const [key, member] of Object.entries(value as object)) parts[contentPrefix + key] = member;
		else parts[name] = value;
	}
	return parts;
}

/** bodyOf returns the request that changes parts. */
export function bodyOf(parts: Parts): BroadcastBody {
	const body: { [name: string]: unknown } = {};
	const content: { [name: string]: unknown } = {};
	for (const [path, value] of Object.entries(parts)) {
		if (path.startsWith(contentPrefix)) content[path.slice(contentPrefix.length)] = value;
		else body[path] = value;
	}
	if (Object.keys(content).length > 0) body.content = content as BroadcastContent;
	return body as BroadcastBody;
}

const groups: { [path: string]: string } = {
	"content.template_slug": "content.body",
	"content.template_binding": "content.body",
	"content.body_html": "content.body",
	"content.body_mjml": "content.body",
	"content.body_text": "content.body",
	"content.message_id": "content.body",
	"content.message_version": "content.body",
	delivery_mode: "delivery",
	delivery_window_days: "delivery",
	delivery_window_date: "delivery",
	mta_config_key: "lanes",
	delivery_lanes: "lanes",
};

/** groupOf names the parts that make sense only together, by a path of one of them or of an element in it. */
export function groupOf(path: string): string {
	const field = path.replace(/\[.*$/, "");
	const name = field.startsWith(contentPrefix) ? field.split(".").slice(0, 2).join(".") : (field.split(".")[0] ?? "");
	return groups[name] ?? name;
}

/** The groups that errors without a path are about. */
const pathsOfCodes: { [code: string]: string } = {
	INVALID_BINDING: "content.body",
	INVALID_TEMPLATE: "content.body",
	INVALID_VARIANTS: "variants",
	VARIANT_DELIVERY_OVERRIDE_UNSUPPORTED: "variants",
	INVALID_SENDING_IDENTITY: "sending_identity_emails",
	INVALID_MTA_CONFIG: "lanes",
	INVALID_EMAIL_TYPE: "email_type_key",
	INVALID_SEED_LIST: "seed_list_ids",
	INVALID_SEGMENT: "include_segment_keys",
};

/** refusalsOf returns what is wrong with each group of parts that an answer refuses. */
export function refusalsOf(error: ApiError): Problem[] {
	const group = pathsOfCodes[error.code];
	const [first] = error.fields;
	if (group)
		return [{ path: first?.path ?? group, message: first ? fieldSentenceOf(error, first) : explain(error), group }];
	const problems = new Map<string, Problem>();
	for (const field of error.fields)
		if (field.path && !problems.has(groupOf(field.path)))
			problems.set(groupOf(field.path), {
				path: field.path,
				message: error.details.line
					? sentenceFor(error.code, error.message)
					: fieldSentenceOf(error, field, nameOfPart(field.path)),
			});
	return [...problems.values()];
}

/** partOf returns the value of a part on the server. */
function partOf(broadcast: BroadcastSessionView, path: string): unknown {
	if (path.startsWith(contentPrefix))
		return (broadcast.content as { [name: string]: unknown })[path.slice(contentPrefix.length)] ?? null;
	return (broadcast as unknown as { [name: string]: unknown })[path] ?? null;
}

/** The parts that are written. */
const names = [
	"name",
	"include_segment_keys",
	"exclude_segment_keys",
	"email_type_key",
	"sending_identity_emails",
	"mta_config_key",
	"delivery_lanes",
	"content.subject",
	"content.preheader",
	"content.from_name",
	"content.reply_to",
	"content.template_slug",
	"content.template_binding",
	"content.body_mjml",
	"content.body_html",
	"content.body_text",
	"variants",
	"scheduled_at",
	"delivery_mode",
	"delivery_window_days",
	"delivery_window_date",
	"skipped_dates",
	"overflow_mode",
	"throttle_per_hour",
	"tracking_enabled",
	"seed_list_ids",
	"tags",
];

/** savedParts returns the parts of a broadcast on the server. What a template makes, and HTML made of MJML, is not written by anybody. */
export function savedParts(broadcast: BroadcastSessionView): Parts {
	const parts: Parts = Object.fromEntries(names.map((path) => [path, partOf(broadcast, path)]));
	if (broadcast.content.template_slug)
		return { ...parts, "content.body_mjml": null, "content.body_html": null, "content.body_text": null };
	return broadcast.content.body_mjml ? { ...parts, "content.body_html": null } : parts;
}

const code = ["content.body_mjml", "content.body_html"];

/** requestOf returns the request that saves what was changed. A template goes with its values, and code with the end of code of another kind. */
export function requestOf(changed: Parts, values: Parts): BroadcastBody {
	const isSet = (path: string) => (changed[path] ?? null) !== null;
	const beside = isSet("content.template_slug") ? ["content.template_binding"] : code.some(isSet) ? code : [];
	return bodyOf({ ...changed, ...pick(values, beside) });
}

/** sideOf returns what one side of a conflict has of a group: the value of a part, or, of several, those that are not empty. */
export function sideOf(parts: Parts): unknown {
	const all = Object.entries(parts);
	if (all.length === 1) return all[0]?.[1];
	const some = all.filter(([, value]) => value !== null);
	return Object.fromEntries(some.map(([path, value]) => [path.replace(contentPrefix, ""), value]));
}

/** problemsIn counts the groups of parts in a working copy that are not saved. */
export const problemsIn = (copy: Partial<Copy<Parts>>) =>
	copy.problems || new Set(Object.keys(copy.mine ?? {}).map(groupOf)).size;
