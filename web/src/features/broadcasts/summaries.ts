import type { BroadcastSessionView, PreviewSendAnswer } from "../../api/schema";
import { catalogue } from "../../base/words/catalogue";
import { and, dateTime, timeZone } from "../../base/words/formats";
import { useSegments } from "./Audience";
import { dayName } from "./Calendar";
import { sendersOf } from "./draftSummary";
import { useSending } from "./From";
import { useStartPhase } from "./useStartPhase";

const words = catalogue("broadcasts.summaries", {
	nobody: "No audience yet.",
	to: "To {who}.",
	without: "To {who}, excluding {without}.",
	typeFrom: "{type} from {from}.",
	anySender: "any sender of this type",
	noType: "No email type yet.",
	noSubject: "No subject yet.",
	one: "One version for everybody.",
	compared: "{count, plural, one {One version.} other {# versions: {names}.}}",
	now: "Starts when you send it.",
	over: "The start time is in the past.",
	at: "Starts {when} ({zone}).",
	days: "{count, plural, one {Over # day.} other {Over # days.}}",
	by: "Finished by {day}.",
});

export const sections = ["audience", "from", "content", "variants", "delivery"] as const;

/** useSummaries returns each section as a sentence. */
export function useSummaries(
	broadcast: BroadcastSessionView,
	scheduled: boolean,
	forecast: PreviewSendAnswer | undefined,
): { [section in (typeof sections)[number]]: string } {
	const segments = useSegments();
	const start = useStartPhase(broadcast.scheduled_at);
	const { types } = useSending();
	const senders = broadcast.sending_identity_emails?.length
		? broadcast.sending_identity_emails
		: sendersOf(broadcast, forecast);
	const names = (keys: string[]) =>
		and(keys.map((key) => segments.find((segment) => segment.segment_key === key)?.name ?? key));
	const type =
		types.find((type) => type.type_key === broadcast.email_type_key)?.display_name ?? broadcast.email_type_key;
	return {
		audience:
			broadcast.include_segment_keys.length === 0
				? words.nobody
				: broadcast.exclude_segment_keys.length > 0
					? words.without({
							who: names(broadcast.include_segment_keys),
							without: names(broadcast.exclude_segment_keys),
						})
					: words.to({ who: names(broadcast.include_segment_keys) }),
		from: type
			? words.typeFrom({
					type,
					from: senders.length > 0 ? and(senders) : words.anySender,
				})
			: words.noType,
		content: broadcast.content.subject || words.noSubject,
		variants: broadcast.variants?.length
			? words.compared({
					count: broadcast.variants.length,
					names: and(broadcast.variants.map((variant) => variant.name)),
				})
			: words.one,
		delivery: [
			start === "over" && !scheduled
				? words.over
				: broadcast.scheduled_at
					? words.at({ when: dateTime(broadcast.scheduled_at), zone: timeZone() })
					: words.now,
			broadcast.delivery_mode === "over_days" &&
				broadcast.delivery_window_days &&
				words.days({ count: broadcast.delivery_window_days }),
			broadcast.delivery_mode === "by_date" &&
				broadcast.delivery_window_date &&
				words.by({ day: dayName(broadcast.delivery_window_date) }),
		]
			.filter(Boolean)
			.join(" "),
	};
}
