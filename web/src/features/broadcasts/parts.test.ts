import { ApiError } from "../../api/client";
import type { BroadcastSessionView } from "../../api/schema";
import { equals, type Tests } from "../../base/testing";
import { merge3 } from "../../sync/merge";
import { bodyOf, groupOf, type Parts, partsOf, problemsIn, refusalsOf, requestOf, savedParts, sideOf } from "./parts";

/** broadcast returns a draft on the server. */
const broadcast = (fields: object = {}, content: object = {}): BroadcastSessionView =>
	({
		name: "News",
		tags: ["a"],
		delivery_mode: "now",
		delivery_window_days: null,
		...fields,
		content: { subject: "Hello", body_html: "<p>Hi</p>", body_mjml: null, template_slug: null, ...content },
	}) as unknown as BroadcastSessionView;

const base = savedParts(broadcast());

/** merged joins changes of parts with a broadcast as somebody else has saved it. */
const merged = (mine: Parts, theirs: BroadcastSessionView) => {
	const { conflicts, theirFields } = merge3(
		{ mine: base, theirs: base },
		{ ...base, ...mine },
		savedParts(theirs),
		groupOf,
	);
	return { conflicts, theirFields };
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
	"what a template makes is not written by anybody"() {
		const parts = savedParts(
			broadcast({}, { template_slug: "shop", template_binding: { parameters: {} }, body_mjml: "<mjml/>" }),
		);
		equals(
			[parts["content.template_slug"], parts["content.body_mjml"], parts["content.body_html"]],
			["shop", null, null],
		);
		const compiled = savedParts(broadcast({}, { body_mjml: "<mjml/>" }));
		equals([compiled["content.body_mjml"], compiled["content.body_html"]], ["<mjml/>", null]);
	},
	"a template is saved with its values, and code with the end of other code"() {
		const values = { ...base, "content.template_slug": "shop", "content.template_binding": {} };
		equals(requestOf({ "content.template_slug": "shop" }, values), {
			content: { template_slug: "shop", template_binding: {} },
		});
		const mjml = { ...base, "content.body_html": null, "content.body_mjml": "<mjml/>" };
		equals(requestOf({ "content.body_mjml": "<mjml/>" }, mjml), {
			content: { body_mjml: "<mjml/>", body_html: null },
		});
		// The server goes on with what the template has made.
		const own = { "content.template_slug": null, "content.template_binding": null };
		equals(requestOf(own, { ...base, ...own }), bodyOf(own));
		equals(requestOf({ name: "Other" }, { ...base, name: "Other" }), { name: "Other" });
	},
	"what only one side changed is joined"() {
		equals(merged({ name: "Mine" }, broadcast({}, { subject: "Theirs" })), {
			conflicts: [],
			theirFields: ["content.subject"],
		});
		equals(merged({ "content.body_text": "Mine" }, broadcast({}, { subject: "Theirs" })).conflicts, []);
	},
	"what both sides changed clashes, with both values"() {
		const { conflicts, theirFields } = merged({ name: "Mine" }, broadcast({ name: "Theirs", tags: ["b"] }));
		equals(
			conflicts.map((conflict) => [conflict.group, sideOf(conflict.mine as Parts), sideOf(conflict.theirs as Parts)]),
			[["name", "Mine", "Theirs"]],
		);
		equals(theirFields, ["tags"]);
	},
	"parts of one group clash together"() {
		const mine = { delivery_mode: "over_days", delivery_window_days: 3 };
		const { conflicts } = merged(mine, broadcast({ delivery_mode: "by_date" }));
		equals(
			conflicts.map((conflict) => [conflict.group, sideOf(conflict.mine as Parts), sideOf(conflict.theirs as Parts)]),
			[["delivery", mine, { delivery_mode: "by_date" }]],
		);
		const code = merged({ "content.body_mjml": "<mjml/>" }, broadcast({}, { body_html: "<p>Theirs</p>" }));
		equals(
			code.conflicts.map((conflict) => conflict.group),
			["content.body"],
		);
	},
	"a refusal is about the group of its path, or of its code"() {
		const fields = [
			{ path: "throttle_per_hour", message: "too small" },
			{ path: "variants[0].name", message: "missing" },
			{ path: "variants[1].name", message: "missing, too" },
		];
		const problems = refusalsOf(new ApiError(400, "INVALID", "wrong", { fields }));
		equals(
			problems.map((problem) => problem.path),
			["throttle_per_hour", "variants[0].name"],
		);
		const binding = refusalsOf(new ApiError(400, "INVALID_BINDING", "wrong", { path: "parameters.title" }));
		equals(
			binding.map((problem) => [problem.group, problem.path]),
			[["content.body", "parameters.title"]],
		);
	},
	"a working copy has as many problems as groups that are not saved, unless it says otherwise"() {
		equals(problemsIn({ mine: { delivery_mode: "now", delivery_window_days: 3, name: "" } }), 2);
		equals(problemsIn({ mine: { name: "" }, problems: 3 }), 3);
		equals(problemsIn({}), 0);
	},
};

export default tests;
