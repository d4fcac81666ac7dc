import { catalogue } from "../../base/words/catalogue";
import { and } from "../../base/words/formats";
import type { EventMatch, Leaf } from "./leaves";
import { filterWords } from "./propertyFilters";

const words = catalogue("rules.eventSequence", {
	followed: "{first}, then {next} within {span}",
	not_followed: "{first}, but not {next} within {span}",
	where: "{name} ({filters})",
	something: "…",
	spans: {
		hour: "{count, plural, one {# hour} other {# hours}}",
		day: "{count, plural, one {# day} other {# days}}",
		week: "{count, plural, one {# week} other {# weeks}}",
	},
});

/** The units of the time between two events: those that have a fixed length. */
export const unitsWithin = ["hour", "day", "week"] as const;

function eventWords({ event_name, filters = [] }: EventMatch): string {
	const name = event_name || words.something;
	return filters.length > 0 ? words.where({ name, filters: and(filters.map(filterWords)) }) : name;
}

/** eventSequenceWords writes a condition on two events: "cart_updated, but not order_placed within 2 days". */
export function eventSequenceWords(leaf: Leaf): string {
	const unit = unitsWithin.find((unit) => unit === leaf.within?.unit);
	return words[leaf.operator === "not_followed" ? "not_followed" : "followed"]({
		first: eventWords(leaf.first ?? {}),
		next: eventWords(leaf.then ?? {}),
		span: unit ? words.spans[unit]({ count: leaf.within?.amount ?? 0 }) : words.something,
	});
}
