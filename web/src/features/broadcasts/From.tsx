import { Suspense, useState } from "react";
import { Link } from "wouter";
import type { BroadcastSessionView, LaneShareBody } from "../../api/schema";
import { useCollection } from "../../base/collections";
import { Badge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { Picks } from "../../ui/Combo";
import { Columns, Radios, Select, TextField } from "../../ui/Field";
import { List } from "../../ui/List";
import { NotSet } from "../../ui/Page";
import { lazyComponent } from "../../base/lazy";
import { catalogue } from "../../base/words/catalogue";
import { exactNumber, percent } from "../../base/words/formats";
import css from "./Composer.module.css";
import type { Draft } from "./draft";
import type { Forecast } from "./forecast";
import { to } from "../../base/paths";

const ConfirmLane = lazyComponent(() => import("./ConfirmLane").then((module) => ({ default: module.ConfirmLane })));

const words = catalogue("broadcasts.from", {
	type: "Email type",
	typeHelp: "What a recipient can unsubscribe from without unsubscribing from everything.",
	inactive: "This email type is not active.",
	types: "Email types",
	sender: "Senders",
	any: "None selected: any sender of this type.",
	several: "Several senders share the recipients. Each person keeps the sender that wrote to them last.",
	none: "Choose",
	name: "From name",
	nameHelp: "Replaces the sender's own name.",
	reply: "Reply to",
	leaves: "Sending server",
	own: "The sender's own",
	one: "One sending server",
	weighted: "Several, by weight",
	mta: "Sending server",
	off: "{name} (off)",
	weightOf: "Weight of {name}",
	share: "{share} of the emails",
	addLane: "Add sending server",
	remove: "Remove",
	removeOf: "Remove {name}",
	senders: "Senders",
	make: "No sender is set up for this email type.",
	shares: "Expected shares",
	from: "From",
	by: "Sending server",
	people: "People",
	part: "Share",
	varied: "several",
	deleted: "deleted sender",
	unproven: "not confirmed",
	confirm: "Confirm with a test email",
});

/** useSending reads what mail is sent with: email types, senders and MTA configs. */
export function useSending() {
	const types = useCollection("email_types");
	const senders = useCollection("sending_identities");
	const lanes = useCollection("mta_configs");
	return {
		types: types.data?.data ?? [],
		senders: senders.data?.data ?? [],
		lanes: lanes.data?.data ?? [],
		ready: types.isSuccess && senders.isSuccess && lanes.isSuccess,
	};
}

/** From chooses who writes: the email type, the sender and how the mail leaves. */
export function From({
	draft,
	value: broadcast,
	forecast,
}: {
	draft: Draft;
	value: BroadcastSessionView;
	forecast: Forecast;
}) {
	const { types, senders, lanes, ready } = useSending();
	const [confirming, setConfirming] = useState<{ identity: string; lane: string } | null>(null);
	const type = types.find((type) => type.type_key === broadcast.email_type_key);
	const fitting = senders.filter((sender) => sender.active && (!type || sender.email_type_ids.includes(type.id)));
	const selected = broadcast.sending_identity_emails ?? [];
	const nameOf = (email: string) => {
		const sender = senders.find((sender) => sender.email_address === email);
		return sender ? `${sender.display_name} <${sender.email_address}>` : email;
	};
	const warned = draft.saved?.view_model.schedule_readiness?.warnings.some(
		(warning) => warning.code === "LANE_UNVERIFIED",
	);
	const shares = forecast.data?.senders ?? [];
	const all = shares.reduce((sum, sender) => sum + sender.expected, 0);
	const isUnverified = (email: string | null, lane: string | null) => {
		const identity = senders.find((sender) => sender.email_address === email);
		const config = lanes.find((l) => l.key === lane);
		return warned &&
			identity &&
			config &&
			config.type !== "sink" &&
			!identity.verified_mta_config_ids.includes(config.id)
			? { identity: identity.id, lane: config.id }
			: null;
	};
	return (
		<>
			<Columns>
				<Select
					label={words.type}
					help={type && !type.active ? words.inactive : words.typeHelp}
					path="email_type_key"
					value={broadcast.email_type_key ?? ""}
					error={draft.problem("email_type_key")}
					onChange={(value) => draft.change({ email_type_key: value || null })}
					choices={[
						{ value: "", label: words.none },
						...types.map((type) => ({
							value: type.type_key,
							label: type.active ? type.display_name : words.off({ name: type.display_name }),
							disabled: !type.active,
						})),
					]}
				/>
				<Picks
					label={words.sender}
					help={selected.length === 0 ? words.any : selected.length > 1 ? words.several : undefined}
					path="sending_identity_emails"
					options={fitting.map((sender) => ({
						id: sender.email_address,
						label: `${sender.display_name} <${sender.email_address}>`,
					}))}
					nameOf={nameOf}
					values={selected}
					error={draft.problem("sending_identity_emails")}
					onChange={(sending_identity_emails) => draft.change({ sending_identity_emails })}
				/>
			</Columns>
			{type && !type.active && (
				<p>
					{words.inactive} <Link href={to.emailTypes()}>{words.types}</Link>
				</p>
			)}
			{ready && type && fitting.length === 0 && (
				<p>
					{words.make} <Link href={to.senders()}>{words.senders}</Link>
				</p>
			)}
			<Columns>
				<TextField
					label={words.name}
					optional
					help={words.nameHelp}
					path="content.from_name"
					value={broadcast.content.from_name ?? ""}
					error={draft.problem("content.from_name")}
					onChange={(from_name) => draft.change({ content: { from_name: from_name || null } })}
				/>
				<TextField
					label={words.reply}
					optional
					type="email"
					path="content.reply_to"
					value={broadcast.content.reply_to ?? ""}
					error={draft.problem("content.reply_to")}
					onChange={(reply_to) => draft.change({ content: { reply_to: reply_to || null } })}
				/>
			</Columns>
			<Lanes draft={draft} value={broadcast} />
			{shares.length > 0 && (
				<div data-path="unverified">
					<List
						label={words.shares}
						rows={shares}
						rowKey={(sender) => `${sender.email} ${sender.mta_config_key}`}
						columns={[
							{ id: "from", name: words.from, cell: (sender) => sender.email ?? words.deleted },
							{
								id: "by",
								name: words.by,
								cell: (sender) => {
									const open = isUnverified(sender.email, sender.mta_config_key);
									return (
										<span className={css.inline}>
											{lanes.find((lane) => lane.key === sender.mta_config_key)?.name ??
												sender.mta_config_key ??
												words.varied}
											{open && <Badge tone="warning">{words.unproven}</Badge>}
											{open && (
												<Button small onClick={() => setConfirming(open)}>
													{words.confirm}
												</Button>
											)}
										</span>
									);
								},
							},
							{ id: "people", name: words.people, end: true, cell: (sender) => exactNumber(sender.expected) },
							{
								id: "share",
								name: words.part,
								end: true,
								cell: (sender) => (all ? percent(sender.expected / all) : <NotSet />),
							},
						]}
					/>
				</div>
			)}
			{confirming && (
				<Suspense>
					<ConfirmLane
						{...confirming}
						onClose={() => setConfirming(null)}
						onDone={() => {
							setConfirming(null);
							void draft.query.refetch();
						}}
					/>
				</Suspense>
			)}
		</>
	);
}

/** Lanes chooses the MTA configs that the mail leaves by. */
function Lanes({ draft, value: broadcast }: { draft: Draft; value: BroadcastSessionView }) {
	const { lanes } = useSending();
	const list = broadcast.delivery_lanes ?? [];
	const [kind, setKind] = useState(list.length > 0 ? "weighted" : broadcast.mta_config_key ? "one" : "own");
	const name = (key: string) => lanes.find((lane) => lane.key === key)?.name ?? key;
	const total = list.reduce((sum, lane) => sum + lane.weight, 0);
	// The parts of a request name one MTA config by its key alone.
	const set = (next: { key: string; weight: number }[]) =>
		draft.change({
			mta_config_key: null,
			delivery_lanes: next.map((lane): LaneShareBody => ({ mta_config_key: lane.key, weight: lane.weight })),
		});
	const rows = list.map((lane) => ({ key: lane.mta_config_key, weight: lane.weight }));
	const unusedLanes = lanes.filter((lane) => lane.active && !list.some((x) => x.mta_config_key === lane.key));
	return (
		<>
			<Radios
				label={words.leaves}
				value={kind}
				onChange={(value) => {
					setKind(value);
					if (value === "own") draft.change({ mta_config_key: null, delivery_lanes: null as never });
					else if (value === "one")
						draft.change({
							mta_config_key:
								broadcast.mta_config_key ?? list[0]?.mta_config_key ?? lanes.find((lane) => lane.active)?.key ?? null,
							delivery_lanes: null as never,
						});
					else
						set(
							broadcast.mta_config_key
								? [{ key: broadcast.mta_config_key, weight: 1 }]
								: lanes
										.filter((lane) => lane.active)
										.slice(0, 2)
										.map((lane) => ({ key: lane.key, weight: 1 })),
						);
				}}
				choices={[
					{ value: "own", label: words.own },
					{ value: "one", label: words.one },
					{ value: "weighted", label: words.weighted },
				]}
			/>
			{kind === "one" && (
				<Select
					label={words.mta}
					path="mta_config_key"
					value={broadcast.mta_config_key ?? ""}
					error={draft.problem("mta_config_key")}
					onChange={(value) => draft.change({ mta_config_key: value || null, delivery_lanes: null as never })}
					choices={[
						{ value: "", label: words.none },
						...lanes.map((lane) => ({
							value: lane.key,
							label: lane.active ? lane.name : words.off({ name: lane.name }),
							disabled: !lane.active,
						})),
					]}
				/>
			)}
			{kind === "weighted" && (
				<div className={css.lanes} data-path="delivery_lanes">
					{rows.map((row, i) => (
						<div key={row.key} className={css.lane}>
							<TextField
								label={words.weightOf({ name: name(row.key) })}
								type="number"
								min={0}
								step="any"
								help={total > 0 ? words.share({ share: percent(row.weight / total) }) : undefined}
								path={`delivery_lanes[${i}].weight`}
								value={row.weight ? String(row.weight) : ""}
								error={draft.problem(`delivery_lanes[${i}].weight`)}
								onChange={(value) =>
									set(rows.map((x) => (x.key === row.key ? { ...x, weight: Number(value) || 0 } : x)))
								}
							/>
							<Button
								small
								variant="quiet"
								aria-label={words.removeOf({ name: name(row.key) })}
								onClick={() => set(rows.filter((x) => x.key !== row.key))}
							>
								{words.remove}
							</Button>
						</div>
					))}
					{unusedLanes.length > 0 && (
						<Select
							label={words.addLane}
							value=""
							onChange={(value) => value && set([...rows, { key: value, weight: 1 }])}
							choices={[
								{ value: "", label: words.none },
								...unusedLanes.map((lane) => ({ value: lane.key, label: lane.name })),
							]}
						/>
					)}
				</div>
			)}
		</>
	);
}
