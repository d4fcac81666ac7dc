import type { BroadcastSessionView, SegmentSession } from "../../api/schema";
import { equals, type Tests } from "../../base/testing";
import type { Group } from "../rules/groups";
import { didRule, segmentsInAudience, peopleOf, ruleLink } from "./peopleLinks";

const segments = [
	{ segment_key: "members", type: "static" },
	{ segment_key: "guests", type: "static" },
	{ segment_key: "active", type: "dynamic" },
] as SegmentSession[];

const broadcast = (include: string[], exclude: string[] = [], type: string | null = "news") =>
	({ include_segment_keys: include, exclude_segment_keys: exclude, email_type_key: type }) as BroadcastSessionView;

/** parseRule reads the rule of a link. */
const parseRule = (link: string | null): Group | null =>
	link === null ? null : JSON.parse(new URLSearchParams(link.slice(link.indexOf("?"))).get("rule") ?? "null");

const list = (operator: string, ...segment_keys: string[]) => ({ type: "list", operator, segment_keys });
const segment = (operator: string, ...segment_keys: string[]) => ({ type: "segment", operator, segment_keys });
const all = (...conditions: object[]) => ({ logic: "and", conditions });

const tests: Tests = {
	"a link to people has their rule, and may have a name"() {
		const rule = all(list("in", "members")) as Group;
		const link = ruleLink(rule, "Members & guests");
		equals(link.startsWith("/segments/new?"), true, link);
		equals(parseRule(link), rule);
		equals(new URLSearchParams(link.slice(link.indexOf("?"))).get("name"), "Members & guests");
		equals(ruleLink(rule).includes("name="), false, "a link without a name");
	},
	"the audience is the lists and segments that it names"() {
		const audiences: [include: string[], exclude: string[], want: object | null][] = [
			[["members"], [], all(list("in", "members"))],
			[["active"], [], all(segment("in", "active"))],
			[["members", "guests"], [], all(list("in", "members", "guests"))],
			[["members", "active"], [], all({ logic: "or", conditions: [list("in", "members"), segment("in", "active")] })],
			[
				["members"],
				["guests", "active"],
				all(list("in", "members"), list("not_in", "guests"), segment("not_in", "active")),
			],
			[["gone", "members"], [], all(list("in", "members"))],
			[["gone"], ["members"], null],
			[[], [], null],
		];
		for (const [include, exclude, expected] of audiences)
			equals(
				parseRule(segmentsInAudience(broadcast(include, exclude), segments, null)),
				expected,
				`${include} without ${exclude}`,
			);
	},
	"people who get no mail are those of the audience whom a reason finds"() {
		const reasons: [reason: string, condition: object | null][] = [
			["not_active", { field: "global_status", operator: "not_equals", value: "active" }],
			["do_not_contact", { field: "do_not_contact", operator: "is_true" }],
			["suppressed_address", { type: "suppression", operator: "listed" }],
			["unsubscribed_type", { type: "subscription", operator: "unsubscribed", email_type_key: "news" }],
			["unsubscribed_category", { type: "subscription", operator: "unsubscribed", email_type_key: "news" }],
			["invalid_email", null],
			["unheard_of", null],
		];
		for (const [reason, condition] of reasons)
			equals(
				parseRule(peopleOf(broadcast(["members"]), segments, reason)),
				condition && all(list("in", "members"), condition),
				reason,
			);
		equals(peopleOf(broadcast(["members"], [], null), segments, "unsubscribed_type"), null, "without an email type");
		equals(parseRule(peopleOf(broadcast(["members"]), segments, null)), all(list("in", "members")), "without a reason");
	},
	"what people did is asked of one broadcast"() {
		equals(didRule("bro_1", "clicked", { link_url: "https://example.com/" }), {
			logic: "and",
			conditions: [
				{
					type: "broadcast",
					broadcast_id: "bro_1",
					event: "clicked",
					operator: "did",
					link_url: "https://example.com/",
				},
			],
		});
	},
};

export default tests;
