import { AlertTriangle, Check, CircleX } from "lucide-react";
import { Suspense, type ReactNode, useState } from "react";
import { Link } from "wouter";
import type { BroadcastSessionView } from "../../api/schema";
import { useCollection } from "../../base/collections";
import { later } from "../../base/lazy";
import { catalogue } from "../../base/words/catalogue";
import { useSegments } from "./Audience";
import css from "./Composer.module.css";
import { warningsOf } from "./facts";
import { useSending } from "./From";
import { refusalText } from "./partNames";
import { inAudience } from "./peopleLinks";
import { useReveal } from "./sections";
import { useBegins } from "./useBegins";
import { pathIn, sectionOf } from "./sectionOf";
import { sentenceFor } from "../../base/words/errors";
import { to } from "../../base/paths";

const AddressDrawer = later(() => import("./AddressDrawer").then((m) => ({ default: m.AddressDrawer })));
const TemplateChanged = later(() => import("./TemplateChanged").then((m) => ({ default: m.TemplateChanged })));

const words = catalogue("broadcasts.readiness", {
	ready: "Ready to send",
	over: "The start time is in the past. Choose a later one, or none.",
	left: "{count, plural, one {One thing is missing} other {# things are missing}}",
	warnings: "Worth checking",
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

/** Place is where something is fixed: a section of the composer with a field, or another page. */
type Place = { section: string; path?: string };

const places: { [code: string]: Place } = {
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
	return places[code] ?? guards[guard ?? ""] ?? { section: "content", path: "content.subject" };
}

type Props = {
	saved: BroadcastSessionView;
	/** What the server did not accept yet. */
	unsaved?: { path: string; message: string }[];
	/** Called when a link leads to a part of the page. */
	onLeave?: () => void;
	/** Called after something was changed that the list depends on. */
	onChanged?: () => void;
};

/** Readiness lists what keeps a draft from being sent, each with the place where it is fixed. */
export function Readiness({ saved: b, unsaved = [], onLeave, onChanged }: Props) {
	const reveal = useReveal();
	const { senders, lanes } = useSending();
	const segments = useSegments();
	const warned = b.view_model.schedule_readiness?.warnings.some((w) => w.code === "SEED_LIST_STALE") ?? false;
	const stale =
		useCollection("seed_lists", { enabled: warned }).data?.data.filter((l) => l.freshness === "stale") ?? [];
	const [address, setAddress] = useState(false);
	const [comparing, setComparing] = useState(false);
	const r = b.view_model.schedule_readiness;
	const over = useBegins(b.scheduled_at) === "over" && b.status === "draft";
	if (!r) return null;
	const warnings = warningsOf(b);
	const go = (p: Place) => (
		<button
			type="button"
			className={css.link}
			onClick={() => {
				onLeave?.();
				reveal(p.section, p.path);
			}}
		>
			{words.open}
		</button>
	);
	const domains = (): ReactNode => {
		const chosen = senders.filter(
			(s) =>
				s.active &&
				(b.sending_identity_emails?.length
					? b.sending_identity_emails.includes(s.email_address)
					: !b.email_type_id || s.email_type_ids.includes(b.email_type_id)),
		);
		const first = new Map(chosen.map((s) => [s.sending_domain_id, s.email_address.split("@")[1] ?? s.email_address]));
		return [...first].map(([id, name]) => (
			<span key={id}>
				{" "}
				<Link href={to.domain(id)}>{words.domain({ name })}</Link>
			</span>
		));
	};
	const used = b.delivery_lanes?.map((l) => l.mta_config_key) ?? (b.mta_config_key ? [b.mta_config_key] : []);
	const off = lanes.filter((l) => !l.active && used.includes(l.key));
	const more = (code: string, message: string, field?: string): ReactNode => {
		switch (code) {
			case "NO_IDENTITY":
			case "NO_DMARC":
				return domains();
			case "NO_MTA":
				return off.map((l) => (
					<span key={l.id}>
						{" "}
						<Link href={to.mta(l.id)}>{words.config({ name: l.name })}</Link>
					</span>
				));
			case "INVALID_EMAIL_TYPE":
				return (
					b.email_type_key && (
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
							reveal("content");
							requestAnimationFrame(() => document.getElementById("preview")?.scrollIntoView({ block: "start" }));
						}}
					>
						{words.footer}
					</button>
				);
			case "SEED_LIST_STALE":
				return stale
					.filter((l) => message.includes(`"${l.name}"`))
					.map((l) => (
						<span key={l.id}>
							{" "}
							<Link href={to.seedList(l.id)}>{words.update({ name: l.name })}</Link>
						</span>
					));
			case "EXPECTED_DATA_MISSING":
				return lacking(field) && <Link href={lacking(field) ?? ""}>{words.people}</Link>;
			default:
				return null;
		}
	};
	const lacking = (field?: string) =>
		field ? inAudience(b, segments, { field: field.replace(/^contact\./, ""), operator: "is_not_set" }) : null;
	const alone = ["NO_POSTAL_ADDRESS", "NO_UNSUBSCRIBE_LINK", "NO_DMARC", "EXPECTED_DATA_MISSING"];
	const missing = Number(over) + r.reasons.length + unsaved.length;
	return (
		<>
			<p role="status" className={css.ready} data-ready={missing === 0 || undefined}>
				{missing === 0 ? (
					<>
						<Check aria-hidden size={16} /> {words.ready}
					</>
				) : (
					words.left({ count: missing })
				)}
			</p>
			{missing > 0 && (
				<ul className={css.reasons}>
					{unsaved.map((u) => (
						<li key={`${u.path} ${u.message}`}>
							<CircleX aria-label={words.error} size={16} />
							<span>
								{words.unsaved}: {refusalText(u)} {go({ section: sectionOf(u.path), path: u.path })}
							</span>
						</li>
					))}
					{over && (
						<li>
							<CircleX aria-label={words.error} size={16} />
							<span>
								{words.over} {go({ section: "delivery", path: "scheduled_at" })}
							</span>
						</li>
					)}
					{r.reasons.map((x) => (
						<li key={x.code + x.message} data-code={x.code}>
							<CircleX aria-label={words.error} size={16} />
							<span>
								{sentenceOf(x.code, x.message)} {go(placeOf(x.code, x.guard, pathIn(x.message)))}
								{more(x.code, x.message)}
							</span>
						</li>
					))}
				</ul>
			)}
			{warnings.length > 0 && (
				<>
					<h3>{words.warnings}</h3>
					<ul className={css.reasons}>
						{warnings.map((w) => (
							<li key={[w.code, w.field, w.line, w.message].join()} data-code={w.code} data-warning>
								<AlertTriangle aria-label={words.warning} size={16} />
								<span>
									{sentenceOf(w.code, w.message)} {!alone.includes(w.code) && go(placeOf(w.code, undefined, w.field))}
									{more(w.code, w.message, w.field)}
								</span>
							</li>
						))}
					</ul>
				</>
			)}
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
						saved={b}
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
