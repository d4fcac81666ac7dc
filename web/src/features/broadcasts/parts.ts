import type { ApiError } from "../../api/client";
import type { BroadcastBody, BroadcastContent, BroadcastSessionView } from "../../api/schema";

// A draft is edited in parts: the fields of a broadcast, and those of its content. A part is named by its
// path, such as "name" or "content.subject".

export type Parts = { [path: string]: unknown };

const ofContent = "content.";

/** partsOf returns the parts that a request changes. */
export function partsOf(body: BroadcastBody): Parts {
	const parts: Parts = {};
	for (const [name, value] of Object.entries(body)) {
		if (name === "content" && value)
			for (const [inner, v] of Object.entries(value as object)) parts[ofContent + inner] = v;
		else parts[name] = value;
	}
	return parts;
}

/** bodyOf returns the request that changes parts. */
export function bodyOf(parts: Parts): BroadcastBody {
	const body: { [name: string]: unknown } = {};
	const content: { [name: string]: unknown } = {};
	for (const [path, value] of Object.entries(parts)) {
		if (path.startsWith(ofContent)) content[path.slice(ofContent.length)] = value;
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
	const name = field.startsWith(ofContent) ? field.split(".").slice(0, 2).join(".") : (field.split(".")[0] ?? "");
	return groups[name] ?? name;
}

/** The groups that errors without a path are about. */
const ofCodes: { [code: string]: string } = {
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

/** refusedGroups returns what is wrong with each group of parts that an answer refuses. */
export function refusedGroups(e: ApiError): Map<string, { path: string; message: string }> {
	const out = new Map<string, { path: string; message: string }>();
	const known = ofCodes[e.code];
	if (known) {
		out.set(known, { path: e.fields[0]?.path ?? known, message: e.fields[0]?.message ?? e.message });
		return out;
	}
	for (const f of e.fields) {
		const group = groupOf(f.path);
		if (f.path && !out.has(group)) out.set(group, { path: f.path, message: e.details.line ? e.message : f.message });
	}
	return out;
}

/** partOf returns the value of a part on the server. What a template makes is not a value of its own. */
export function partOf(b: BroadcastSessionView, path: string): unknown {
	if (path === "content.body") return sourceOf(b.content);
	if (path.startsWith(ofContent))
		return (b.content as { [name: string]: unknown })[path.slice(ofContent.length)] ?? null;
	return (b as unknown as { [name: string]: unknown })[path] ?? null;
}

/** sourceOf returns what a mail is made of: a template and its values, or code. */
export function sourceOf(c: BroadcastSessionView["content"] | BroadcastContent): { [name: string]: unknown } {
	if (c.template_slug) return { template_slug: c.template_slug, template_binding: c.template_binding ?? {} };
	const text = c.body_text ? { body_text: c.body_text } : {};
	return c.body_mjml ? { body_mjml: c.body_mjml, ...text } : { body_html: c.body_html ?? null, ...text };
}

/** withParts returns a broadcast with other values of some parts. */
export function withParts(b: BroadcastSessionView, parts: Parts): BroadcastSessionView {
	const { content, ...rest } = bodyOf(parts);
	return { ...b, ...rest, content: { ...b.content, ...content } } as BroadcastSessionView;
}

export const same = (a: unknown, b: unknown) => JSON.stringify(sorted(a ?? null)) === JSON.stringify(sorted(b ?? null));

function sorted(v: unknown): unknown {
	if (Array.isArray(v)) return v.map(sorted);
	if (v === null || typeof v !== "object") return v;
	return Object.fromEntries(
		Object.entries(v)
			.sort(([a], [b]) => (a < b ? -1 : 1))
			.map(([k, x]) => [k, sorted(x)]),
	);
}

/** Clash is a group of parts that both sides have changed. */
export type Clash = { group: string; mine: unknown; theirs: unknown };

/**
 * merge compares what was changed here with what was changed on the server since. Parts that only one side
 * changed are joined; the others clash.
 */
export function merge(
	base: BroadcastSessionView,
	mine: Parts,
	theirs: BroadcastSessionView,
): { clashes: Clash[]; joined: string[] } {
	const clashes: Clash[] = [];
	const byGroup = new Map<string, Parts>();
	for (const [path, value] of Object.entries(mine))
		byGroup.set(groupOf(path), { ...byGroup.get(groupOf(path)), [path]: value });
	for (const [group, parts] of byGroup) {
		const paths = group === "content.body" ? [group] : Object.keys(parts);
		const own = (path: string) =>
			path === "content.body" ? sourceOf({ ...base.content, ...contentOf(parts) } as BroadcastContent) : parts[path];
		if (paths.every((path) => same(partOf(base, path), partOf(theirs, path)) || same(own(path), partOf(theirs, path))))
			continue;
		const single = paths.length === 1 && paths[0];
		clashes.push({
			group,
			mine: single ? own(single) : parts,
			theirs: single ? partOf(theirs, single) : Object.fromEntries(paths.map((p) => [p, partOf(theirs, p)])),
		});
	}
	const joined = [...shownParts.filter((p) => !same(partOf(base, p), partOf(theirs, p)))].map(groupOf);
	return { clashes, joined: [...new Set(joined)].filter((g) => !clashes.some((c) => c.group === g)) };
}

const contentOf = (parts: Parts) =>
	Object.fromEntries(Object.entries(parts).map(([path, v]) => [path.slice(ofContent.length), v]));

/** The parts whose changes by others are told. */
const shownParts = [
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
	"content.body",
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
