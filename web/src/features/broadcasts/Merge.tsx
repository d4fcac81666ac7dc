import { Suspense } from "react";
import { Button } from "../../ui/Button";
import { Callout } from "../../ui/Page";
import { later } from "../../base/lazy";
import { catalogue } from "../../base/words/catalogue";
import { and, clock, dateTime, full } from "../../base/words/formats";
import type { BroadcastSessionView } from "../../api/schema";
import type { Conflict, Joined } from "../../sync/draft";
import { groupOf, type Parts, sideOf } from "./parts";
import { partName } from "./partNames";

const Versions = later(() => import("../../ui/Versions").then((m) => ({ default: m.Versions })));

const words = catalogue("broadcasts.merge", {
	text: "{who} changed this draft at {at}. Changes that only one of you made are kept. Choose for the rest.",
	somebody: "Somebody else",
	joinedTitle: "{who} changed this draft at {at}. Both changes are kept.",
	joinedParts: "Changed by them: {parts}.",
	dismiss: "Dismiss",
	yes: "On",
	no: "Off",
});

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
				return o.mta_config_key
					? `${o.mta_config_key} ${o.weight}`
					: [
							`${o.name} (${o.weight})`,
							...Object.entries(o.content_overrides ?? {}).map(([k, t]) => `  ${k}: ${t}`),
						].join("\n");
			})
			.join("\n");
	}
	const o = v as { body_html?: string | null; body_mjml?: string; body_text?: string };
	const code = o.body_mjml ?? o.body_html;
	return code ? [code, o.body_text].filter(Boolean).join("\n\n") : JSON.stringify(v, null, 2);
}

/** Merge asks, for each part that both sides have changed, which of the two versions stays. */
export function Merge({
	conflict,
	onSettle,
	onClose,
}: {
	conflict: Conflict<BroadcastSessionView>;
	onSettle: (theirs: Set<string>) => void;
	onClose: () => void;
}) {
	return (
		<Suspense>
			<Versions
				text={words.text({ who: conflict.by?.name || words.somebody, at: clock(conflict.theirs.data.updated_at) })}
				versions={conflict.clashes.map((c) => ({
					id: c.group,
					name: partName(c.group),
					mine: shown(c.group, sideOf(c.mine as Parts)),
					theirs: shown(c.group, sideOf(c.theirs as Parts)),
					code: c.group === "content.body",
				}))}
				onSettle={onSettle}
				onClose={onClose}
			/>
		</Suspense>
	);
}

/** JoinedCallout says which changes by others were taken over. */
export function JoinedCallout({ joined, onDismiss }: { joined: Joined<BroadcastSessionView>; onDismiss: () => void }) {
	return (
		<Callout
			tone="progress"
			title={words.joinedTitle({ who: joined.by?.name || words.somebody, at: clock(joined.row.updated_at) })}
		>
			<p>{words.joinedParts({ parts: and([...new Set(joined.fields.map(groupOf))].map(partName)) })}</p>
			<Button small onClick={onDismiss}>
				{words.dismiss}
			</Button>
		</Callout>
	);
}
