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
const pages: { [source: string]: (h: Holder) => string } = {
	broadcasts: (h) => to.broadcast(h.id ?? ""),
	sequences: (h) => to.sequence(h.id ?? ""),
	automations: (h) => to.automation(h.id ?? ""),
	forms: (h) => to.form(h.id ?? ""),
	segments: (h) => to.segment(h.segment_key ?? h.id ?? ""),
	sending_identities: (h) => to.sender(h.id ?? ""),
};

type Usage = { [source: string]: Holder[] };

/** Holders lists records that name another, with links to them. */
export function Holders({ usage }: { usage: Usage }) {
	const all = Object.entries(usage).flatMap(([source, list]) =>
		list.map((h) => ({ ...h, to: pages[source]?.(h), key: `${source} ${h.id ?? h.segment_key}` })),
	);
	if (all.length === 0) return null;
	return (
		<ul>
			{all.map((h) => (
				<li key={h.key}>{h.to ? <Link href={h.to}>{h.name}</Link> : h.name}</li>
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
			{Object.entries(usage).map(([source, n]) => {
				const say = (words.counts as { [source: string]: undefined | ((values: { count: number }) => string) })[source];
				return typeof n === "number" && n > 0 && say ? <p key={source}>{say({ count: n })}</p> : null;
			})}
			<Holders usage={lists} />
		</div>
	);
}
