import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { BroadcastSessionView, PreviewSendAnswer } from "../../api/schema";
import { catalogue } from "../../base/words/catalogue";
import { and, dateTime, timeZone } from "../../base/words/formats";
import { Facts } from "../../ui/Page";
import { Skeleton } from "../../ui/States";
import { Thumb } from "../../ui/Thumb";
import { useSegments } from "./Audience";
import { dayName } from "./Calendar";
import { preheadersOf, sendersOf, subjectsOf } from "./draftSummary";
import { useSending } from "./From";
import { previewQuery } from "./queries";
import css from "./SendSummary.module.css";
import { useStartPhase } from "./useStartPhase";

const words = catalogue("broadcasts.sendSummary", {
	recipients: "Recipients",
	people: "{count, plural, one {# person} other {# people}}",
	of: "in {who}",
	without: "in {who}, excluding {without}",
	from: "From",
	more: "{count, plural, one {# more sender} other {# more senders}}",
	type: "Email type",
	subject: "Subject",
	preheader: "Preview text",
	start: "Start",
	at: "{when} ({zone})",
	now: "As soon as you press Send, with a minute to undo",
	plan: "Plan",
	fast: "As fast as the servers allow",
	limited: "As fast as the limits allow",
	over: "{days, plural, one {Over # day} other {Over # days}}",
	by: "Finished by {day}",
	days: "{count, plural, one {# planned day, with up to {most, plural, one {# email} other {# emails}}} other {# planned days, with up to {most, plural, one {# email} other {# emails}} each}}",
	skipping: "{count, plural, one {# skipped day} other {# skipped days}}",
	until: "The last batch is due {at}",
	held: "{count, plural, one {# person does not fit into the plan and is held back} other {# people do not fit into the plan and are held back}}",
	limits: "Limits",
	perHour:
		"{count, plural, one {Up to # email an hour for this broadcast} other {Up to # emails an hour for this broadcast}}",
	serverHour: "{name}: up to {count, number} an hour",
	serverDay: "{name}: up to {count, number} a day",
	unlimited: "None",
	versions: "Versions",
	expected: "{name}: {count, plural, one {# person} other {# people}}",
	tracking: "Tracking",
	tracked: "Opens and clicks",
	untracked: "Off",
	picture: "The email",
});

const maxNamed = 3; // senders

type Props = {
	broadcast: BroadcastSessionView;
	/** Who gets it, from whom and when; undefined while it is not known: then nothing is said of recipients, plan and limits. */
	forecast: PreviewSendAnswer | undefined;
};

/** SendSummary states what is sent to whom, when and within which limits, with a picture of the mail. */
export function SendSummary({ broadcast, forecast }: Props) {
	const segments = useSegments();
	const { types, senders, lanes } = useSending();
	const start = useStartPhase(broadcast.scheduled_at);
	const [first] = broadcast.variants ?? [];
	const preview = useQuery(
		previewQuery(broadcast.id, {
			source: { broadcast_id: broadcast.id },
			variant_id: first?.id,
			sending_identity_email: broadcast.sending_identity_emails?.[0] ?? null,
			changed: broadcast.updated_at,
		}),
	);
	const names = (keys: string[]) =>
		and(keys.map((key) => segments.find((segment) => segment.segment_key === key)?.name ?? key));
	const who = names(broadcast.include_segment_keys);
	const addresses = sendersOf(broadcast, forecast);
	const from = [
		...addresses.slice(0, maxNamed).map((email) => {
			const name =
				broadcast.content.from_name || senders.find((sender) => sender.email_address === email)?.display_name;
			return name ? `${name} <${email}>` : email;
		}),
		...(addresses.length > maxNamed ? [words.more({ count: addresses.length - maxNamed })] : []),
	];
	const used = lanes.filter((lane) => forecast?.senders.some((sender) => sender.mta_config_key === lane.key));
	const limits = [
		broadcast.throttle_per_hour && words.perHour({ count: broadcast.throttle_per_hour }),
		...used.flatMap((lane) => [
			lane.caps.at_most_per_hour && words.serverHour({ name: lane.name, count: lane.caps.at_most_per_hour }),
			lane.caps.max_per_day && words.serverDay({ name: lane.name, count: lane.caps.max_per_day }),
		]),
	].filter(Boolean);
	const days = forecast?.plan?.filter((day) => day.planned > 0) ?? [];
	const plan = [
		broadcast.delivery_mode === "over_days"
			? words.over({ days: broadcast.delivery_window_days ?? 1 })
			: broadcast.delivery_mode === "by_date" && broadcast.delivery_window_date
				? words.by({ day: dayName(broadcast.delivery_window_date) })
				: limits.length > 0
					? words.limited
					: words.fast,
		days.length > 0 && words.days({ count: days.length, most: Math.max(...days.map((day) => day.planned)) }),
		broadcast.skipped_dates.length > 0 && words.skipping({ count: broadcast.skipped_dates.length }),
		forecast?.finishes_at && words.until({ at: dateTime(forecast.finishes_at) }),
	].filter(Boolean);
	return (
		<div className={css.summary}>
			<div className={css.facts}>
				<Facts
					rows={[
						...row(
							words.recipients,
							forecast && (
								<>
									<b>{words.people({ count: forecast.recipients })}</b>{" "}
									{broadcast.exclude_segment_keys.length > 0
										? words.without({ who, without: names(broadcast.exclude_segment_keys) })
										: words.of({ who })}
								</>
							),
						),
						...row(words.from, from.length > 0 ? lines(from) : forecast && null),
						[
							words.type,
							types.find((type) => type.type_key === broadcast.email_type_key)?.display_name ??
								broadcast.email_type_key,
						],
						[words.subject, lines(subjectsOf(broadcast), true)],
						[words.preheader, preheadersOf(broadcast).length > 0 ? lines(preheadersOf(broadcast)) : null],
						[
							words.start,
							broadcast.scheduled_at && (start !== "sent" || broadcast.status !== "draft")
								? words.at({ when: dateTime(broadcast.scheduled_at), zone: timeZone() })
								: words.now,
						],
						...row(words.plan, forecast && lines(plan as string[])),
						...row(words.limits, forecast && (limits.length > 0 ? lines(limits as string[]) : words.unlimited)),
						...row(
							words.versions,
							broadcast.variants?.length
								? lines(
										broadcast.variants.map(({ id, name }) => {
											const expected = forecast?.variants.find((variant) => variant.id === id)?.expected;
											return expected === undefined ? name : words.expected({ name, count: expected });
										}),
									)
								: undefined,
						),
						[words.tracking, broadcast.tracking_enabled ? words.tracked : words.untracked],
					]}
				/>
				{forecast && forecast.held_back > 0 && <p className={css.held}>{words.held({ count: forecast.held_back })}</p>}
			</div>
			{preview.isPending ? (
				<Skeleton rows={6} />
			) : (
				<Thumb html={preview.data?.html} label={words.picture} width={200} height={260} />
			)}
		</div>
	);
}

/** row is a row of the facts, if its value is known. */
const row = (name: string, value: ReactNode | undefined): [ReactNode, ReactNode][] =>
	value === undefined ? [] : [[name, value]];

/** lines shows texts below each other. */
const lines = (texts: string[], strong?: boolean) =>
	texts.map((text) => (
		<span key={text} className={css.line} data-strong={strong || undefined}>
			{text}
		</span>
	));
