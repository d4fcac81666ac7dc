import { AlertTriangle, Check, CircleX } from "lucide-react";
import { Suspense, type ReactNode, useState } from "react";
import { Link } from "wouter";
import type { BroadcastSessionView, ScheduleWarning } from "../../api/schema";
import { useCollection } from "../../base/collections";
import { lazyComponent } from "../../base/lazy";
import { catalogue } from "../../base/words/catalogue";
import { useSegments } from "./Audience";
import css from "./Composer.module.css";
import { shownWithout, warningsOf } from "./draftSummary";
import { useSending } from "./From";
import { refusalText } from "./partNames";
import { segmentsInAudience } from "./peopleLinks";
import { useReveal } from "./sections";
import { useStartPhase } from "./useStartPhase";
import { pathIn, sectionOf } from "./sectionOf";
import { sentenceFor } from "../../base/words/errors";
import { to } from "../../base/paths";

const AddressDrawer = lazyComponent(() =>
	import("./AddressDrawer").then((module) => ({ default: module.AddressDrawer })),
);
const TemplateChanged = lazyComponent(() =>
	import("./TemplateChanged").then((module) => ({ default: module.TemplateChanged })),
);

const words = catalogue("broadcasts.readiness", {
	ready: "Ready to send",
	over: "The start time is in the past. Choose a later one, or none.",
	left: "{count, plural, one {One thing is missing} other {# things are missing}}",
	warnings: "{count, plural, one {One thing to check} other {# things to check}}",
	seen: "In its place they see “{text}”.",
	seenNothing: "They see nothing in its place.",
	seenSeveral: "In its place they see “{text}”, or nothing.",
	error: "Missing",
	warning: "Warning",
	open: "Open",
	compare: "Compare and update",
	people: "Show who lacks it",
	footer: "Preview footer",
	address: "Enter address",
	domain: "Domain of {name}",
	config: "Sending server {name}",
	types: "Email types",
	unsaved: "Not saved",
	update: "Update {name}",
	codes: {
		NO_SEGMENT: "No audience is selected.",
		INVALID_EMAIL_TYPE: "No email type is selected, or it is not active.",
		NO_MTA: "No active sending server can deliver it.",
		NO_IDENTITY: "No sender can send it. It needs an active sender on a verified domain that sends this email type.",
		NO_POSTAL_ADDRESS: "This workspace has no postal address. Many laws require one.",
		LANE_UNVERIFIED: "A sending server has not been confirmed with one of its senders.",
		NO_DMARC: "A sender's domain has no DMARC record.",
		EMPTY_AUDIENCE: "Nobody is in the audience right now.",
	},
});

/** sentenceOf returns the sentence about a reason or a warning of a broadcast. */
const sentenceOf = (code: string, message: string) =>
	(words.codes as { [code: string]: string })[code] ?? sentenceFor(code, message);

/** seenWithout says what is seen by those who lack a value that the template expects, where the mail shows it. */
function seenWithout(broadcast: BroadcastSessionView, field: string): string {
	const texts = shownWithout(broadcast.content.body_html ?? "", field);
	const [text] = texts.filter(Boolean);
	if (texts.length === 0) return "";
	if (text === undefined) return words.seenNothing;
	return texts.includes("") ? words.seenSeveral({ text }) : words.seen({ text });
}

/** Place is where something is fixed: a section of the composer with a field, or another page. */
type Place = { section: string; path?: string };

const links: { [code: string]: Place } = {
	NO_SEGMENT: { section: "audience", path: "include_segment_keys" },
	EMPTY_AUDIENCE: { section: "audience", path: "include_segment_keys" },
	AUDIENCE_UNKNOWN: { section: "audience", path: "include_segment_keys" },
	INVALID_EMAIL_TYPE: { section: "from", path: "email_type_key" },
	NO_MTA: { section: "from", path: "mta_config_key" },
	LANE_UNVERIFIED: { section: "from", path: "unverified" },
	NO_IDENTITY: { section: "from", path: "sending_identity_emails" },
	NO_CONTENT: { section: "content", path: "content.subject" },
	INVALID_VARIANTS: { section: "variants", path: "variants" },
	INVALID_TEMPLATE: { section: "content", path: "content.template_slug" },
	INVALID_BINDING: { section: "content", path: "content.template_binding" },
	SEED_LIST_STALE: { section: "delivery", path: "seed_list_ids" },
	TEMPLATE_CHANGED: { section: "content", path: "content.template_slug" },
};

const guards: { [guard: string]: Place } = {
	segment: { section: "audience" },
	email_type: { section: "from", path: "email_type_key" },
	mta: { section: "from" },
	content: { section: "content", path: "content.subject" },
	identity: { section: "from", path: "sending_identity_emails" },
};

function placeOf(code: string, guard?: string, field?: string): Place {
	if (field) return { section: sectionOf(field), path: field };
	return links[code] ?? guards[guard ?? ""] ?? { section: "content", path: "content.subject" };
}

type Props = {
	saved: BroadcastSessionView;
	/** What the server did not accept yet. */
	unsaved?: { path: string; message: string }[];
	/** Called when a link leads to a part of the page. */
	onLeave?: () => void;
	/** Called after something was changed that the list depends on. */
	onChanged?: () => void;
	/** Whether it begins with how much is missing. */
	total?: boolean;
};

/** Warnings lists what is worth checking before a broadcast is sent. */
export function Warnings({
	warnings,
	link,
}: {
	warnings: ScheduleWarning[];
	/** Where one is looked into. */
	link?: (warning: ScheduleWarning) => ReactNode;
}) {
	if (warnings.length === 0) return null;
	return (
		<>
			<h3>{words.warnings({ count: warnings.length })}</h3>
			<ul className={css.reasons}>
				{warnings.map((warning) => (
					<li
						key={[warning.code, warning.field, warning.line, warning.message].join()}
						data-code={warning.code}
						data-warning
					>
						<AlertTriangle aria-label={words.warning} size={16} />
						<span>
							{sentenceOf(warning.code, warning.message)} {link?.(warning)}
						</span>
					</li>
				))}
			</ul>
		</>
	);
}

/** useMissing counts what keeps a draft from being sent: reasons, what is not saved, and a start that is over. */
export function useMissing({ saved: broadcast, unsaved = [] }: Pick<Props, "saved" | "unsaved">) {
	const isPast = useStartPhase(broadcast.scheduled_at) === "over" && broadcast.status === "draft";
	const reasons = broadcast.view_model.schedule_readiness?.reasons ?? [];
	return { isPast, count: Number(isPast) + reasons.length + unsaved.length };
}

/** Total says how much keeps a draft from being sent. */
export function Total({ count }: { count: number }) {
	return (
		<p role="status" className={css.ready} data-ready={count === 0 || undefined}>
			{count === 0 ? <Check aria-hidden size={16} /> : <CircleX aria-hidden size={16} />}
			{count === 0 ? words.ready : words.left({ count })}
		</p>
	);
}

/** Readiness lists what keeps a draft from being sent, each with the place where it is fixed. */
export function Readiness({ saved: broadcast, unsaved = [], onLeave, onChanged, total = true }: Props) {
	const reveal = useReveal();
	const { senders, lanes } = useSending();
	const segments = useSegments();
	const warned =
		broadcast.view_model.schedule_readiness?.warnings.some((warning) => warning.code === "SEED_LIST_STALE") ?? false;
	const staleSeedLists =
		useCollection("seed_lists", { enabled: warned }).data?.data.filter((seedList) => seedList.freshness === "stale") ??
		[];
	const [address, setAddress] = useState(false);
	const [comparing, setComparing] = useState(false);
	const readiness = broadcast.view_model.schedule_readiness;
	const { isPast, count: missing } = useMissing({ saved: broadcast, unsaved });
	if (!readiness) return null;
	const warnings = warningsOf(broadcast);
	const linkTo = (place: Place, line?: number) => (
		<button
			type="button"
			className={css.link}
			onClick={() => {
				onLeave?.();
				reveal(place.section, place.path, line ? { at: line } : undefined);
			}}
		>
			{words.open}
		</button>
	);
	const domains = (): ReactNode => {
		const selected = senders.filter(
			(sender) =>
				sender.active &&
				(broadcast.sending_identity_emails?.length
					? broadcast.sending_identity_emails.includes(sender.email_address)
					: !broadcast.email_type_id || sender.email_type_ids.includes(broadcast.email_type_id)),
		);
		const first = new Map(
			selected.map((sender) => [sender.sending_domain_id, sender.email_address.split("@")[1] ?? sender.email_address]),
		);
		return [...first].map(([id, name]) => (
			<span key={id}>
				{" "}
				<Link href={to.domain(id)}>{words.domain({ name })}</Link>
			</span>
		));
	};
	const used =
		broadcast.delivery_lanes?.map((lane) => lane.mta_config_key) ??
		(broadcast.mta_config_key ? [broadcast.mta_config_key] : []);
	const off = lanes.filter((lane) => !lane.active && used.includes(lane.key));
	const more = (code: string, message: string, field?: string): ReactNode => {
		switch (code) {
			case "NO_IDENTITY":
			case "NO_DMARC":
				return domains();
			case "NO_MTA":
				return off.map((lane) => (
					<span key={lane.id}>
						{" "}
						<Link href={to.mta(lane.id)}>{words.config({ name: lane.name })}</Link>
					</span>
				));
			case "INVALID_EMAIL_TYPE":
				return (
					broadcast.email_type_key && (
						<>
							{" "}
							<Link href={to.emailTypes()}>{words.types}</Link>
						</>
					)
				);
			case "NO_POSTAL_ADDRESS":
				return (
					<button type="button" className={css.link} onClick={() => setAddress(true)}>
						{words.address}
					</button>
				);
			case "TEMPLATE_CHANGED":
				return (
					<button type="button" className={css.link} onClick={() => setComparing(true)}>
						{words.compare}
					</button>
				);
			case "NO_UNSUBSCRIBE_LINK":
				return (
					<button
						type="button"
						className={css.link}
						onClick={() => {
							onLeave?.();
							reveal("preview");
						}}
					>
						{words.footer}
					</button>
				);
			case "SEED_LIST_STALE":
				return staleSeedLists
					.filter((seedList) => message.includes(`"${seedList.name}"`))
					.map((seedList) => (
						<span key={seedList.id}>
							{" "}
							<Link href={to.seedList(seedList.id)}>{words.update({ name: seedList.name })}</Link>
						</span>
					));
			case "EXPECTED_DATA_MISSING":
				return (
					<>
						{field && seenWithout(broadcast, field)}{" "}
						{missingFieldNote(field) && <Link href={missingFieldNote(field) ?? ""}>{words.people}</Link>}
					</>
				);
			default:
				return null;
		}
	};
	const missingFieldNote = (field?: string) =>
		field
			? segmentsInAudience(broadcast, segments, { field: field.replace(/^contact\./, ""), operator: "is_not_set" })
			: null;
	const withoutField = ["NO_POSTAL_ADDRESS", "NO_UNSUBSCRIBE_LINK", "NO_DMARC", "EXPECTED_DATA_MISSING"];
	return (
		<>
			{total && <Total count={missing} />}
			{missing > 0 && (
				<ul className={css.reasons}>
					{unsaved.map((problem) => (
						<li key={`${problem.path} ${problem.message}`}>
							<CircleX aria-label={words.error} size={16} />
							<span>
								{words.unsaved}: {refusalText(problem)}{" "}
								{linkTo({ section: sectionOf(problem.path), path: problem.path })}
							</span>
						</li>
					))}
					{isPast && (
						<li>
							<CircleX aria-label={words.error} size={16} />
							<span>
								{words.over} {linkTo({ section: "delivery", path: "scheduled_at" })}
							</span>
						</li>
					)}
					{readiness.reasons.map((reason) => (
						<li key={reason.code + reason.message} data-code={reason.code}>
							<CircleX aria-label={words.error} size={16} />
							<span>
								{sentenceOf(reason.code, reason.message)}{" "}
								{linkTo(placeOf(reason.code, reason.guard, pathIn(reason.message)))}
								{more(reason.code, reason.message)}
							</span>
						</li>
					))}
				</ul>
			)}
			<Warnings
				warnings={warnings}
				link={(warning) => (
					<>
						{!withoutField.includes(warning.code) &&
							linkTo(placeOf(warning.code, undefined, warning.field), warning.line)}
						{more(warning.code, warning.message, warning.field)}
					</>
				)}
			/>
			{address && (
				<Suspense>
					<AddressDrawer
						onClose={() => setAddress(false)}
						onDone={() => {
							setAddress(false);
							onChanged?.();
						}}
					/>
				</Suspense>
			)}
			{comparing && (
				<Suspense>
					<TemplateChanged
						saved={broadcast}
						onClose={() => setComparing(false)}
						onDone={() => {
							setComparing(false);
							onChanged?.();
						}}
					/>
				</Suspense>
			)}
		</>
	);
}
