import { ApiError } from "../../api/client";
import type { BroadcastSessionView } from "../../api/schema";
import { equals, Random, type Tests } from "../../base/testing";
import { bodyOf, groupOf, merge, type Parts, partOf, partsOf, refusedGroups, same, sourceOf, withParts } from "./parts";

/** broadcast returns a draft on the server. */
const broadcast = (parts: Parts = {}): BroadcastSessionView =>
	withParts(
		{
			name: "News",
			tags: ["a"],
			delivery_mode: "immediate",
			delivery_window_days: null,
			content: { subject: "Hello", body_html: "<p>Hi</p>", body_mjml: null },
		} as unknown as BroadcastSessionView,
		parts,
	);

const base = broadcast();
const merged = (mine: Parts, theirs: Parts) => {
	const m = merge(base, mine, broadcast(theirs));
	return { clashes: m.clashes.map((c) => c.group), joined: m.joined };
};

const tests: Tests = {
	"a request is the parts that it is made of"() {
		const parts = { name: "News", "content.subject": "Hello", "content.body_html": null, tags: [] };
		equals(bodyOf(parts), { name: "News", tags: [], content: { subject: "Hello", body_html: null } });
		equals(partsOf(bodyOf(parts)), { name: "News", tags: [], "content.subject": "Hello", "content.body_html": null });
		equals(bodyOf({ name: "News" }), { name: "News" }, "a request without content");
	},
	"parts that make sense only together are one group"() {
		for (const path of [
			"content.body_html",
			"content.body_mjml",
			"content.template_binding.parameters.title",
			"content.message_id",
		])
			equals(groupOf(path), "content.body", path);
		equals(groupOf("content.subject"), "content.subject");
		equals(groupOf("delivery_window_days"), groupOf("delivery_mode"));
		equals(groupOf("delivery_lanes[2].weight"), groupOf("mta_config_key"));
		equals(groupOf("variants[1].content_overrides.subject"), "variants");
	},
	"a mail is made of a template with its values, or of code"() {
		const sources: [content: object, want: object][] = [
			[
				{ template_slug: "t", template_binding: { a: 1 }, body_html: "<p>made</p>" },
				{ template_slug: "t", template_binding: { a: 1 } },
			],
			[{ template_slug: "t" }, { template_slug: "t", template_binding: {} }],
			[{ body_mjml: "<mjml/>", body_html: "<p>made</p>" }, { body_mjml: "<mjml/>" }],
			[
				{ body_html: "<p/>", body_text: "Hi" },
				{ body_html: "<p/>", body_text: "Hi" },
			],
			[{}, { body_html: null }],
		];
		for (const [content, want] of sources) equals(sourceOf(content as never), want, JSON.stringify(content));
		equals(partOf(base, "content.body"), { body_html: "<p>Hi</p>" });
		equals(
			[partOf(base, "content.subject"), partOf(base, "name"), partOf(base, "content.gone")],
			["Hello", "News", null],
		);
	},
	"a refusal is of the group that it names, or of the one that its code is about"() {
		const refused = (code: string, details: object) =>
			[...refusedGroups(new ApiError(422, code, "Refused.", details as { [key: string]: unknown }))].map(
				([group, { path, message }]) => `${group} ${path}: ${message}`,
			);
		const fields = [
			{ path: "name", message: "is empty" },
			{ path: "delivery_window_days", message: "is too long" },
			{ path: "delivery_mode", message: "is unknown" },
			{ message: "is wrong" },
		];
		equals(refused("VALIDATION_FAILED", { fields }), [
			"name name: is empty",
			"delivery delivery_window_days: is too long",
		]);
		equals(refused("INVALID_TEMPLATE", {}), ["content.body content.body: Refused."]);
		equals(refused("INVALID_MTA_CONFIG", { path: "delivery_lanes[1]" }), ["lanes delivery_lanes[1]: Refused."]);
		equals(refused("INVALID_MJML", { path: "content.body_mjml", line: 3 }), [
			"content.body content.body_mjml: Refused.",
		]);
		equals(refused("FORBIDDEN", {}), []);
	},
	"what only one side changed is joined"() {
		equals(merged({ name: "Mine" }, { "content.subject": "Theirs" }), { clashes: [], joined: ["content.subject"] });
		equals(merged({}, { tags: ["b"], name: "Theirs" }), { clashes: [], joined: ["name", "tags"] });
		equals(merged({ name: "Mine" }, {}), { clashes: [], joined: [] });
	},
	"what both sides changed clashes, with both values"() {
		equals(merge(base, { name: "Mine" }, broadcast({ name: "Theirs" })), {
			clashes: [{ group: "name", mine: "Mine", theirs: "Theirs" }],
			joined: [],
		});
		equals(merged({ name: "Mine" }, { name: "Theirs", tags: ["b"] }), { clashes: ["name"], joined: ["tags"] });
	},
	"the same change on both sides is no clash"() {
		equals(merged({ name: "Both", tags: ["x", "y"] }, { name: "Both", tags: ["x", "y"] }).clashes, []);
		equals(merged({ "content.body_html": "<p>Both</p>" }, { "content.body_html": "<p>Both</p>" }).clashes, []);
	},
	"parts of one group clash together"() {
		const m = merge(base, { delivery_mode: "spread", delivery_window_days: 3 }, broadcast({ delivery_mode: "until" }));
		equals(m.clashes, [
			{
				group: "delivery",
				mine: { delivery_mode: "spread", delivery_window_days: 3 },
				theirs: { delivery_mode: "until", delivery_window_days: null },
			},
		]);
		equals(merged({ "content.body_mjml": "<mjml/>" }, { "content.body_html": "<p>Theirs</p>" }).clashes, [
			"content.body",
		]);
		equals(merged({ "content.body_text": "Mine" }, { "content.subject": "Theirs" }).clashes, []);
	},
	"the order of names in an object is no change"() {
		equals(same({ a: 1, b: { c: 2, d: [3] } }, { b: { d: [3], c: 2 }, a: 1 }), true);
		equals(same([1, 2], [2, 1]), false);
		equals(same(null, undefined), true);
	},
	"a part is clashing, joined or as it was"() {
		const random = new Random(3);
		const paths = ["name", "tags", "content.subject", "content.preheader", "throttle_per_hour"];
		for (let n = 0; n < 500; n++) {
			const some = (): Parts =>
				Object.fromEntries(paths.filter(() => random.below(2) === 0).map((p) => [p, random.below(3)]));
			const [mine, theirs] = [some(), some()];
			const { clashes, joined } = merged(mine, theirs);
			for (const p of paths) {
				const changed = p in theirs && !same(theirs[p], partOf(base, p));
				equals(
					clashes.includes(p),
					changed && p in mine && !same(mine[p], theirs[p]),
					`${p} clashes between ${JSON.stringify([mine, theirs])}`,
				);
				equals(
					joined.includes(p),
					changed && !clashes.includes(p),
					`${p} is joined in ${JSON.stringify([mine, theirs])}`,
				);
			}
		}
	},
};

export default tests;
