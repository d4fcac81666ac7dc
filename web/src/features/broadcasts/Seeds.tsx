import { useState } from "react";
import type { BroadcastSessionView, PreviewSendAnswer, SeedListRow } from "../../api/schema";
import { useCollection } from "../../base/collections";
import { StateBadge } from "../../ui/Badge";
import { Checkbox, Radios } from "../../ui/Field";
import { Time } from "../../ui/Time";
import { catalogue } from "../../base/words/catalogue";
import css from "./Composer.module.css";
import type { Draft } from "./draft";

const words = catalogue("broadcasts.seeds", {
	title: "Seed lists",
	usual: "Lists that are on by default for its senders",
	chosen: "Selected lists",
	none: "None",
	noUsual: "No list is on by default for its senders.",
	addresses: "{count, plural, one {# address} other {# addresses}}",
	updated: "updated",
	stale: "out of date since",
	due: "due for an update",
	noCopies: "gets no copies until it is updated",
	for: "for {senders}",
});

/** Seeds chooses the seed lists that get copies, with how fresh they are. */
export function Seeds({
	draft,
	value: b,
	forecast,
}: {
	draft: Draft;
	value: BroadcastSessionView;
	forecast?: PreviewSendAnswer;
}) {
	const lists = useCollection("seed_lists");
	const [choosing, setChoosing] = useState((b.seed_list_ids?.length ?? 0) > 0);
	const all = lists.data?.data ?? [];
	const ids = b.seed_list_ids;
	if (lists.isSuccess && all.length === 0 && ids === null) return null;
	const senders = forecast?.senders.map((s) => s.email);
	const usual = all.filter(
		(l) => l.include_by_default && l.sending_identities.some((s) => senders?.includes(s.email_address) ?? true),
	);
	const mode = ids === null ? "usual" : ids.length > 0 || choosing ? "chosen" : "none";
	const shown = mode === "chosen" ? all : mode === "usual" ? usual : [];
	return (
		<div className={css.seeds} data-path="seed_list_ids">
			<Radios
				label={words.title}
				value={mode}
				onChange={(m) => {
					setChoosing(m === "chosen");
					draft.change({ seed_list_ids: m === "usual" ? null : m === "none" ? [] : usual.map((l) => l.id) });
				}}
				choices={[
					{ value: "usual", label: words.usual },
					{ value: "chosen", label: words.chosen },
					{ value: "none", label: words.none },
				]}
			/>
			{mode === "usual" && usual.length === 0 && <p className={css.muted}>{words.noUsual}</p>}
			<ul className={css.counts}>
				{shown.map((l) => (
					<li key={l.id}>
						{mode === "chosen" ? (
							<Checkbox
								label={<Name list={l} />}
								checked={ids?.includes(l.id) ?? false}
								onChange={(on) =>
									draft.change({ seed_list_ids: on ? [...(ids ?? []), l.id] : (ids ?? []).filter((x) => x !== l.id) })
								}
								help={<About list={l} />}
							/>
						) : (
							<>
								<Name list={l} />
								<br />
								<span className={css.muted}>
									<About list={l} />
								</span>
							</>
						)}
					</li>
				))}
			</ul>
		</div>
	);
}

function Name({ list: l }: { list: SeedListRow }) {
	return (
		<span className={css.inline}>
			{l.name} <StateBadge kind="freshness" state={l.freshness} />
		</span>
	);
}

function About({ list: l }: { list: SeedListRow }) {
	return (
		<>
			{words.addresses({ count: l.address_counts.active })}
			{l.sending_identities.length > 0 &&
				` · ${words.for({ senders: l.sending_identities.map((s) => s.email_address).join(", ") })}`}
			{l.refreshed_at && (
				<>
					{" · "}
					{words.updated} <Time at={l.refreshed_at} />
				</>
			)}
			{l.freshness === "stale" ? (
				<>
					{" · "}
					{words.stale} <Time at={l.stale_at} />; {words.noCopies}
				</>
			) : (
				l.rotates_at && (
					<>
						{" · "}
						{words.due} <Time at={l.rotates_at} />
					</>
				)
			)}
		</>
	);
}
