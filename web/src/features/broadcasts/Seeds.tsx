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
	updated: "Updated:",
	stale: "Out of date:",
	due: "Update due:",
	noCopies: "It gets no copies until it is updated.",
	for: "For {senders}",
});

/** Seeds chooses the seed lists that get copies, with how fresh they are. */
export function Seeds({
	draft,
	value: broadcast,
	forecast,
}: {
	draft: Draft;
	value: BroadcastSessionView;
	forecast?: PreviewSendAnswer;
}) {
	const lists = useCollection("seed_lists");
	const [choosing, setChoosing] = useState((broadcast.seed_list_ids?.length ?? 0) > 0);
	const all = lists.data?.data ?? [];
	const ids = broadcast.seed_list_ids;
	if (lists.isSuccess && all.length === 0 && ids === null) return null;
	const senders = forecast?.senders.map((sender) => sender.email);
	const defaultLists = all.filter(
		(seedList) =>
			seedList.include_by_default &&
			seedList.sending_identities.some((identity) => senders?.includes(identity.email_address) ?? true),
	);
	const mode = ids === null ? "usual" : ids.length > 0 || choosing ? "chosen" : "none";
	const shown = mode === "chosen" ? all : mode === "usual" ? defaultLists : [];
	return (
		<div className={css.seeds} data-path="seed_list_ids">
			<Radios
				label={words.title}
				value={mode}
				onChange={(value) => {
					setChoosing(value === "chosen");
					draft.change({
						seed_list_ids:
							value === "usual" ? null : value === "none" ? [] : defaultLists.map((seedList) => seedList.id),
					});
				}}
				choices={[
					{ value: "usual", label: words.usual },
					{ value: "chosen", label: words.chosen },
					{ value: "none", label: words.none },
				]}
			/>
			{mode === "usual" && defaultLists.length === 0 && <p className={css.muted}>{words.noUsual}</p>}
			<ul className={css.counts}>
				{shown.map((seedList) => (
					<li key={seedList.id}>
						{mode === "chosen" ? (
							<Checkbox
								label={<Name list={seedList} />}
								checked={ids?.includes(seedList.id) ?? false}
								onChange={(checked) =>
									draft.change({
										seed_list_ids: checked
											? [...(ids ?? []), seedList.id]
											: (ids ?? []).filter((id) => id !== seedList.id),
									})
								}
								help={<About list={seedList} />}
							/>
						) : (
							<>
								<Name list={seedList} />
								<br />
								<span className={css.muted}>
									<About list={seedList} />
								</span>
							</>
						)}
					</li>
				))}
			</ul>
		</div>
	);
}

function Name({ list }: { list: SeedListRow }) {
	return (
		<span className={css.inline}>
			{list.name} <StateBadge kind="freshness" state={list.freshness} />
		</span>
	);
}

function About({ list }: { list: SeedListRow }) {
	return (
		<>
			{words.addresses({ count: list.address_counts.active })}
			{list.sending_identities.length > 0 &&
				` · ${words.for({ senders: list.sending_identities.map((identity) => identity.email_address).join(", ") })}`}
			{list.refreshed_at && (
				<>
					{" · "}
					{words.updated} <Time at={list.refreshed_at} />
				</>
			)}
			{list.freshness === "stale" ? (
				<>
					{" · "}
					{words.stale} <Time at={list.stale_at} />. {words.noCopies}
				</>
			) : (
				list.rotates_at && (
					<>
						{" · "}
						{words.due} <Time at={list.rotates_at} />
					</>
				)
			)}
		</>
	);
}
