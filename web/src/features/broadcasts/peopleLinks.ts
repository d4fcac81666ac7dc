import type { BroadcastSessionView, SegmentSession } from "../../api/schema";
import type { Condition, Group } from "../rules/groups";
import { to } from "../../base/paths";

// Links to people behind a number. They are rules as of segments, so that the people can be looked at,
// exported, or made a segment.

/** ruleLink returns the address of the page that shows who a rule matches, and can save it as a segment. */
export const ruleLink = (rule: Group, name?: string) =>
	to.newSegment({ rule: JSON.stringify(rule), ...(name ? { name } : {}) });

function members(keys: string[], segments: SegmentSession[], operator: "in" | "not_in"): Condition[] {
	const segmentsOfType = (type: "static" | "dynamic") =>
		keys.filter((key) => segments.find((segment) => segment.segment_key === key)?.type === type);
	const lists = segmentsOfType("static");
	const rules = segmentsOfType("dynamic");
	return [
		...(lists.length ? [{ type: "list", operator, segment_keys: lists }] : []),
		...(rules.length ? [{ type: "segment", operator, segment_keys: rules }] : []),
	];
}

function reasonRule(broadcast: BroadcastSessionView, reason: string): Condition | null {
	switch (reason) {
		case "not_active":
			return { field: "global_status", operator: "not_equals", value: "active" };
		case "do_not_contact":
			return { field: "do_not_contact", operator: "is_true" };
		case "suppressed_address":
			return { type: "suppression", operator: "listed" };
		case "unsubscribed_type":
		case "unsubscribed_category":
			return broadcast.email_type_key
				? { type: "subscription", operator: "unsubscribed", email_type_key: broadcast.email_type_key }
				: null;
		default:
			return null;
	}
}

/** peopleOf returns a link to the audience of a broadcast, or to those of it who get no mail for a reason; null if no rule finds them. */
export function peopleOf(
	broadcast: BroadcastSessionView,
	segments: SegmentSession[],
	reason: string | null,
): string | null {
	const exclusionRule = reason === null ? null : reasonRule(broadcast, reason);
	return reason !== null && !exclusionRule ? null : segmentsInAudience(broadcast, segments, exclusionRule);
}

/** segmentsInAudience returns a link to those of the audience of a broadcast who match a condition, or to all of it; null without an audience. */
export function segmentsInAudience(
	broadcast: BroadcastSessionView,
	segments: SegmentSession[],
	exclusionRule: Condition | null,
): string | null {
	const include = members(broadcast.include_segment_keys, segments, "in");
	const [first] = include;
	if (!first) return null;
	return ruleLink({
		logic: "and",
		conditions: [
			include.length > 1 ? { logic: "or", conditions: include } : first,
			...members(broadcast.exclude_segment_keys, segments, "not_in"),
			...(exclusionRule ? [exclusionRule] : []),
		],
	});
}

/** didRule is the rule of the people to whom something happened by a broadcast. */
export const didRule = (
	broadcast: string,
	event: string,
	more: { link_url?: string; variant_id?: string; level?: string } = {},
): Group => ({
	logic: "and",
	conditions: [{ type: "broadcast", broadcast_id: broadcast, event, operator: "did", ...more }],
});
