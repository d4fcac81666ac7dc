import type { BroadcastSessionView, PreviewSendAnswer, ScheduleWarning } from "../../api/schema";

// What is said of a draft before it is sent.

/** Warnings that are none here: Send chooses a start, and versions that are the same keep the draft from being sent. */
const silent = ["NO_SCHEDULED_AT", "VARIANTS_ALIKE"];

/** warningsOf returns the warnings of a draft, each once. */
export function warningsOf(broadcast: Pick<BroadcastSessionView, "view_model" | "warnings">): ScheduleWarning[] {
	const all = new Map<string, ScheduleWarning>();
	for (const warning of [...(broadcast.view_model.schedule_readiness?.warnings ?? []), ...broadcast.warnings])
		if (!silent.includes(warning.code))
			all.set(`${warning.code} ${warning.field ?? ""} ${warning.line ?? ""} ${warning.message}`, warning);
	return [...all.values()];
}

/** sendersOf returns the addresses that a draft is sent from, those of the most mail first: as foreseen, else as chosen. */
export function sendersOf(
	broadcast: Pick<BroadcastSessionView, "sending_identity_emails">,
	forecast: Pick<PreviewSendAnswer, "senders"> | undefined,
): string[] {
	const expected = new Map<string, number>();
	for (const sender of forecast?.senders ?? [])
		if (sender.email && sender.expected > 0)
			expected.set(sender.email, (expected.get(sender.email) ?? 0) + sender.expected);
	const sortedSenders = [...expected].sort((a, b) => b[1] - a[1]).map(([email]) => email);
	return sortedSenders.length > 0 ? sortedSenders : (broadcast.sending_identity_emails ?? []);
}

/** subjectsOf returns the different subjects of a draft and its variants. */
export function subjectsOf(broadcast: Pick<BroadcastSessionView, "content" | "variants">): string[] {
	const own = broadcast.content.subject ?? "";
	return [
		...new Set(
			broadcast.variants?.length
				? broadcast.variants.map((variant) => variant.content_overrides?.subject ?? own)
				: [own],
		),
	];
}
