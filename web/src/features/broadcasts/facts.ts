import type { BroadcastSessionView, PreviewSendAnswer, ScheduleWarning } from "../../api/schema";

// What is said of a draft before it is sent.

/** warningsOf returns the warnings of a draft, each once. That no start is chosen is none here: Send chooses one. */
export function warningsOf(b: Pick<BroadcastSessionView, "view_model" | "warnings">): ScheduleWarning[] {
	const all = new Map<string, ScheduleWarning>();
	for (const w of [...(b.view_model.schedule_readiness?.warnings ?? []), ...b.warnings])
		if (w.code !== "NO_SCHEDULED_AT") all.set(`${w.code} ${w.field ?? ""} ${w.line ?? ""} ${w.message}`, w);
	return [...all.values()];
}

/** sendersOf returns the addresses that a draft is sent from, those of the most mail first: as foreseen, else as chosen. */
export function sendersOf(
	b: Pick<BroadcastSessionView, "sending_identity_emails">,
	p: Pick<PreviewSendAnswer, "senders"> | undefined,
): string[] {
	const expected = new Map<string, number>();
	for (const s of p?.senders ?? [])
		if (s.email && s.expected > 0) expected.set(s.email, (expected.get(s.email) ?? 0) + s.expected);
	const foreseen = [...expected].sort((a, b) => b[1] - a[1]).map(([email]) => email);
	return foreseen.length > 0 ? foreseen : (b.sending_identity_emails ?? []);
}

/** subjectsOf returns the different subjects of a draft and its variants. */
export function subjectsOf(b: Pick<BroadcastSessionView, "content" | "variants">): string[] {
	const own = b.content.subject ?? "";
	return [...new Set(b.variants?.length ? b.variants.map((v) => v.content_overrides?.subject ?? own) : [own])];
}
