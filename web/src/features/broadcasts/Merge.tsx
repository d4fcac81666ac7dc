import { Suspense } from "react";
import { Button } from "../../ui/Button";
import { Callout } from "../../ui/Page";
import { lazyComponent } from "../../base/lazy";
import { catalogue } from "../../base/words/catalogue";
import { and, timeOfDay, dateTime, exactNumber } from "../../base/words/formats";
import type { BroadcastSessionView } from "../../api/schema";
import type { Conflict, MergedChanges } from "../../sync/draft";
import { groupOf, type Parts, sideOf } from "./parts";
import { partName } from "./partNames";

const Versions = lazyComponent(() => import("../../ui/Versions").then((module) => ({ default: module.Versions })));

const words = catalogue("broadcasts.merge", {
	somebody: "Somebody else",
	joinedTitle: "{who} changed this draft at {at}. Both changes are kept.",
	joinedParts: "Changed by them: {parts}.",
	dismiss: "Dismiss",
	yes: "On",
	no: "Off",
});

/** shown writes the value of a part, on several lines if it has some. */
function shown(group: string, value: unknown): string {
	if (value === null || value === undefined || value === "") return "";
	if (typeof value === "string") return group === "scheduled_at" ? dateTime(value) : value;
	if (typeof value === "number") return exactNumber(value);
	if (typeof value === "boolean") return value ? words.yes : words.no;
	if (Array.isArray(value)) {
		return value
			.map((item: unknown) => {
				if (typeof item === "string") return item;
				const o = item as { mta_config_key?: string; name?: string; weight?: number; content_overrides?: object };
				return o.mta_config_key
					? `${o.mta_config_key} ${o.weight}`
					: [
							`${o.name} (${o.weight})`,
							...Object.entries(o.content_overrides ?? {}).map(([key, override]) => `  ${key}: ${override}`),
						].join("\n");
			})
			.join("\n");
	}
	const o = value as { body_html?: string | null; body_mjml?: string; body_text?: string };
	const code = o.body_mjml ?? o.body_html;
	return code ? [code, o.body_text].filter(Boolean).join("\n\n") : JSON.stringify(value, null, 2);
}

/** Merge asks, for each part that both sides have changed, which of the two versions stays. */
export function Merge({
	conflict,
	onResolve,
	onClose,
}: {
	conflict: Conflict<BroadcastSessionView>;
	onResolve: (theirs: Set<string>) => void;
	onClose: () => void;
}) {
	return (
		<Suspense>
			<Versions
				who={conflict.author?.name}
				at={timeOfDay(conflict.theirs.data.updated_at)}
				versions={conflict.conflicts.map((conflict) => ({
					id: conflict.group,
					name: partName(conflict.group),
					mine: shown(conflict.group, sideOf(conflict.mine as Parts)),
					theirs: shown(conflict.group, sideOf(conflict.theirs as Parts)),
					code: conflict.group === "content.body",
				}))}
				onResolve={onResolve}
				onClose={onClose}
			/>
		</Suspense>
	);
}

/** MergedChangesCallout says which changes by others were taken over. */
export function MergedChangesCallout({
	mergedChanges,
	onDismiss,
}: {
	mergedChanges: MergedChanges<BroadcastSessionView>;
	onDismiss: () => void;
}) {
	return (
		<Callout
			tone="progress"
			title={words.joinedTitle({
				who: mergedChanges.author?.name || words.somebody,
				at: timeOfDay(mergedChanges.row.updated_at),
			})}
		>
			<p>{words.joinedParts({ parts: and([...new Set(mergedChanges.fields.map(groupOf))].map(partName)) })}</p>
			<Button small onClick={onDismiss}>
				{words.dismiss}
			</Button>
		</Callout>
	);
}
