import { useState } from "react";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { Diff } from "../ui/Diff";
import { Radios } from "../ui/Field";
import { Notice } from "../ui/Page";
import { and, catalogue, clock, dateTime, full } from "../words/catalogue";
import css from "./Merge.module.css";
import type { Conflict, Joined } from "./draft";

const words = catalogue({
	title: "Two versions of the same part",
	text: (who: string, at: string) => `${who} changed this draft at ${at}. What only one of you changed is kept. Choose for the rest.`,
	somebody: "Somebody else",
	mine: "Yours",
	theirs: "Theirs",
	keep: "Keep",
	compared: (part: string) => `${part}: their text and yours`,
	legend: "− theirs, + yours",
	save: "Save",
	later: "Decide later",
	joinedTitle: (who: string, at: string) => `${who} changed this draft at ${at}. Both changes are kept.`,
	joinedParts: (parts: string) => `Changed by them: ${parts}.`,
	dismiss: "Dismiss",
	empty: "Empty",
	yes: "On",
	no: "Off",
});

const names = catalogue({
	name: "Name",
	include_segment_keys: "Audience",
	exclude_segment_keys: "Who is left out",
	email_type_key: "Email type",
	sending_identity_emails: "Senders",
	lanes: "How it leaves",
	"content.subject": "Subject",
	"content.preheader": "Preview text",
	"content.from_name": "From name",
	"content.reply_to": "Reply to",
	"content.body": "Content",
	variants: "Variants",
	scheduled_at: "Start",
	delivery: "How fast",
	skipped_dates: "Skipped days",
	overflow_mode: "What does not fit",
	throttle_per_hour: "At most an hour",
	tracking_enabled: "Counting of opens and clicks",
	seed_list_ids: "Seed lists",
	tags: "Tags",
});

/** partName names a group of parts. */
export const partName = (group: string) => (names as { [group: string]: string })[group] ?? group;

/** shown writes the value of a part, on several lines if it has some. */
function shown(group: string, v: unknown): string {
	if (v === null || v === undefined || v === "") return "";
	if (typeof v === "string") return group === "scheduled_at" ? dateTime(v) : v;
	if (typeof v === "number") return full(v);
	if (typeof v === "boolean") return v ? words.yes : words.no;
	if (Array.isArray(v)) {
		return v
			.map((x: unknown) => {
				if (typeof x === "string") return x;
				const o = x as { mta_config_key?: string; name?: string; weight?: number; content_overrides?: object };
				return o.mta_config_key ? `${o.mta_config_key} ${o.weight}` : [`${o.name} (${o.weight})`, ...Object.entries(o.content_overrides ?? {}).map(([k, t]) => `  ${k}: ${t}`)].join("\n");
			})
			.join("\n");
	}
	const o = v as { body_html?: string | null; body_mjml?: string; body_text?: string };
	const code = o.body_mjml ?? o.body_html;
	return code ? [code, o.body_text].filter(Boolean).join("\n\n") : JSON.stringify(v, null, 2);
}

/** Merge asks, for each part that both sides have changed, which of the two versions stays. */
export function Merge({ conflict, onSettle, onClose }: { conflict: Conflict; onSettle: (theirs: Set<string>) => void; onClose: () => void }) {
	const [theirs, setTheirs] = useState<ReadonlySet<string>>(new Set());
	const choose = (group: string, whose: string) => {
		const next = new Set(theirs);
		if (whose === "theirs") next.add(group);
		else next.delete(group);
		setTheirs(next);
	};
	return (
		<Dialog
			drawer="wide"
			title={words.title}
			onClose={onClose}
			onSubmit={() => onSettle(new Set(theirs))}
			footer={
				<>
					<Button onClick={onClose}>{words.later}</Button>
					<Button type="submit" look="primary">
						{words.save}
					</Button>
				</>
			}
		>
			<p>{words.text(conflict.by?.name || words.somebody, clock(conflict.theirs.data.updated_at))}</p>
			{conflict.clashes.map((c) => {
				const mine = shown(c.group, c.mine);
				const other = shown(c.group, c.theirs);
				const code = mine.includes("\n") || other.includes("\n") || c.group === "content.body";
				return (
					<section key={c.group} className={css.clash} aria-label={partName(c.group)}>
						<h3>{partName(c.group)}</h3>
						{code ? (
							<>
								<p className={css.muted}>{words.legend}</p>
								<Diff label={words.compared(partName(c.group))} was={other} now={mine} />
							</>
						) : (
							<dl className={css.sides}>
								<div>
									<dt>{words.mine}</dt>
									<dd>{mine || <i>{words.empty}</i>}</dd>
								</div>
								<div>
									<dt>{words.theirs}</dt>
									<dd>{other || <i>{words.empty}</i>}</dd>
								</div>
							</dl>
						)}
						<Radios
							label={words.keep}
							value={theirs.has(c.group) ? "theirs" : "mine"}
							onChange={(v) => choose(c.group, v)}
							choices={[
								{ value: "mine", label: words.mine },
								{ value: "theirs", label: words.theirs },
							]}
						/>
					</section>
				);
			})}
		</Dialog>
	);
}

/** JoinedNotice says which changes by others were taken over. */
export function JoinedNotice({ joined, onDismiss }: { joined: Joined; onDismiss: () => void }) {
	return (
		<Notice tone="progress" title={words.joinedTitle(joined.by?.name || words.somebody, clock(joined.at))}>
			<p>{words.joinedParts(and(joined.groups.map(partName)))}</p>
			<Button small onClick={onDismiss}>
				{words.dismiss}
			</Button>
		</Notice>
	);
}
