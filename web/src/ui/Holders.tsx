import { Link } from "wouter";
import { ApiError } from "../api/client";
import type { Holder } from "../api/schema";
import { catalogue } from "../base/words/catalogue";
import { explain } from "../base/words/errors";
import { to } from "../base/paths";

const words = catalogue("shell.holders", {
	counts: {
		sending_identities: "{count, plural, one {It is used by # sender.} other {It is used by # senders.}}",
	},
});

/** Where the records of each source are. */
const pages: { [source: string]: (holder: Holder) => string } = {
	broadcasts: (holder) => to.broadcast(holder.id ?? ""),
	sequences: (holder) => to.sequence(holder.id ?? ""),
	automations: (holder) => to.automation(holder.id ?? ""),
	forms: (holder) => to.form(holder.id ?? ""),
	segments: (holder) => to.segment(holder.segment_key ?? holder.id ?? ""),
	sending_identities: (holder) => to.sender(holder.id ?? ""),
};

type Usage = { [source: string]: Holder[] };

/** Holders lists records that name another, with links to them. */
export function Holders({ usage }: { usage: Usage }) {
	const all = Object.entries(usage).flatMap(([source, list]) =>
		list.map((holder) => ({
			...holder,
			to: pages[source]?.(holder),
			key: `${source} ${holder.id ?? holder.segment_key}`,
		})),
	);
	if (all.length === 0) return null;
	return (
		<ul>
			{all.map((holder) => (
				<li key={holder.key}>{holder.to ? <Link href={holder.to}>{holder.name}</Link> : holder.name}</li>
			))}
		</ul>
	);
}

/** InUse explains an error. If a record could not be deleted because others name it, they are listed. */
export function InUse({ error }: { error: unknown }) {
	const usage =
		error instanceof ApiError ? ((error.details as { usage?: { [source: string]: unknown } }).usage ?? {}) : {};
	const lists = Object.fromEntries(Object.entries(usage).filter(([, list]) => Array.isArray(list))) as Usage;
	return (
		<div role="alert">
			<p>{explain(error)}</p>
			{Object.entries(usage).map(([source, count]) => {
				const message = (words.counts as { [source: string]: undefined | ((values: { count: number }) => string) })[
					source
				];
				return typeof count === "number" && count > 0 && message ? <p key={source}>{message({ count })}</p> : null;
			})}
			<Holders usage={lists} />
		</div>
	);
}
