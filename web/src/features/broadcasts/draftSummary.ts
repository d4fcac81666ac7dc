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

type Written = Pick<BroadcastSessionView, "content" | "variants">;

/** textsOf returns the different texts that a field of a draft and its variants has. */
function textsOf(broadcast: Written, field: "subject" | "preheader"): string[] {
	const own = broadcast.content[field] ?? "";
	const { variants } = broadcast;
	return [...new Set(variants?.length ? variants.map((variant) => variant.content_overrides?.[field] ?? own) : [own])];
}

/** subjectsOf returns the different subjects of a draft and its variants. */
export const subjectsOf = (broadcast: Written) => textsOf(broadcast, "subject");

/** preheadersOf returns the different preview texts of a draft and its variants that are not empty. */
export const preheadersOf = (broadcast: Written) => textsOf(broadcast, "preheader").filter(Boolean);

/**
 * shownWithout returns what the recipients who lack a field see where a mail prints it: the texts of the filter default, or an
 * empty one for those without. Nothing is returned if it is not printed as it is.
 */
export function shownWithout(html: string, field: string): string[] {
	const name = field.replace(/^contact\./, "").replace(/[.]/g, "\\.");
	const printed = new RegExp(`\\{\\{-?\\s*(?:contact\\.)?${name}\\s*(\\|[^}]*)?-?\\}\\}`, "g");
	return [
		...new Set(
			[...html.matchAll(printed)].map(([, filters]) => {
				const fallback = /\|\s*default:\s*(?:"([^"]*)"|'([^']*)')/.exec(filters ?? "");
				return fallback?.[1] ?? fallback?.[2] ?? "";
			}),
		),
	];
}

/** codeOf returns the code of a mail that somebody writes, and the field that it is written in; null if a template makes it. */
export function codeOf(broadcast: BroadcastSessionView, variant: string) {
	const index = broadcast.variants?.findIndex(({ id }) => id === variant) ?? -1;
	const own = broadcast.variants?.[index]?.content_overrides;
	for (const format of ["body_mjml", "body_html"] as const)
		if (own?.[format]) return { text: own[format], path: `variants[${index}].content_overrides.${format}` };
	const { content } = broadcast;
	if (content.template_slug) return null;
	const format = content.body_mjml || !content.body_html ? "body_mjml" : "body_html";
	return { text: content[format] ?? "", path: `content.${format}` };
}
