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
import { later } from "../../base/lazy";
import { catalogue } from "../../base/words/catalogue";
import { full, percent } from "../../base/words/formats";
import css from "./Composer.module.css";
import type { Draft } from "./draft";
import type { Forecast } from "./forecast";
import { to } from "../../base/paths";

const ConfirmLane = later(() => import("./ConfirmLane").then((m) => ({ default: m.ConfirmLane })));

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
export function From({ draft, value: b, forecast }: { draft: Draft; value: BroadcastSessionView; forecast: Forecast }) {
	const { types, senders, lanes, ready } = useSending();
	const [confirming, setConfirming] = useState<{ identity: string; lane: string } | null>(null);
	const type = types.find((t) => t.type_key === b.email_type_key);
	const fitting = senders.filter((s) => s.active && (!type || s.email_type_ids.includes(type.id)));
	const chosen = b.sending_identity_emails ?? [];
	const nameOf = (email: string) => {
		const s = senders.find((x) => x.email_address === email);
		return s ? `${s.display_name} <${s.email_address}>` : email;
	};
	const warned = draft.saved?.view_model.schedule_readiness?.warnings.some((w) => w.code === "LANE_UNVERIFIED");
	const shares = forecast.data?.senders ?? [];
	const all = shares.reduce((sum, s) => sum + s.expected, 0);
	const unproven = (email: string | null, lane: string | null) => {
		const identity = senders.find((s) => s.email_address === email);
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
					value={b.email_type_key ?? ""}
					error={draft.problem("email_type_key")}
					onChange={(t) => draft.change({ email_type_key: t || null })}
					choices={[
						{ value: "", label: words.none },
						...types.map((t) => ({
							value: t.type_key,
							label: t.active ? t.display_name : words.off({ name: t.display_name }),
							disabled: !t.active,
						})),
					]}
				/>
				<Picks
					label={words.sender}
					help={chosen.length === 0 ? words.any : chosen.length > 1 ? words.several : undefined}
					path="sending_identity_emails"
					options={fitting.map((s) => ({ id: s.email_address, label: `${s.display_name} <${s.email_address}>` }))}
					nameOf={nameOf}
					values={chosen}
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
					value={b.content.from_name ?? ""}
					error={draft.problem("content.from_name")}
					onChange={(from_name) => draft.change({ content: { from_name: from_name || null } })}
				/>
				<TextField
					label={words.reply}
					optional
					type="email"
					path="content.reply_to"
					value={b.content.reply_to ?? ""}
					error={draft.problem("content.reply_to")}
					onChange={(reply_to) => draft.change({ content: { reply_to: reply_to || null } })}
				/>
			</Columns>
			<Lanes draft={draft} value={b} />
			{shares.length > 0 && (
				<div data-path="unverified">
					<List
						label={words.shares}
						rows={shares}
						rowKey={(s) => `${s.email} ${s.mta_config_key}`}
						columns={[
							{ id: "from", name: words.from, cell: (s) => s.email ?? words.deleted },
							{
								id: "by",
								name: words.by,
								cell: (s) => {
									const open = unproven(s.email, s.mta_config_key);
									return (
										<span className={css.inline}>
											{lanes.find((l) => l.key === s.mta_config_key)?.name ?? s.mta_config_key ?? words.varied}
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
							{ id: "people", name: words.people, end: true, cell: (s) => full(s.expected) },
							{ id: "share", name: words.part, end: true, cell: (s) => (all ? percent(s.expected / all) : <NotSet />) },
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
function Lanes({ draft, value: b }: { draft: Draft; value: BroadcastSessionView }) {
	const { lanes } = useSending();
	const list = b.delivery_lanes ?? [];
	const [kind, setKind] = useState(list.length > 0 ? "weighted" : b.mta_config_key ? "one" : "own");
	const name = (k: string) => lanes.find((l) => l.key === k)?.name ?? k;
	const total = list.reduce((sum, l) => sum + l.weight, 0);
	// The parts of a request name one MTA config by its key alone.
	const set = (next: { key: string; weight: number }[]) =>
		draft.change({
			mta_config_key: null,
			delivery_lanes: next.map((l): LaneShareBody => ({ mta_config_key: l.key, weight: l.weight })),
		});
	const rows = list.map((l) => ({ key: l.mta_config_key, weight: l.weight }));
	const left = lanes.filter((l) => l.active && !list.some((x) => x.mta_config_key === l.key));
	return (
		<>
			<Radios
				label={words.leaves}
				value={kind}
				onChange={(k) => {
					setKind(k);
					if (k === "own") draft.change({ mta_config_key: null, delivery_lanes: null as never });
					else if (k === "one")
						draft.change({
							mta_config_key: b.mta_config_key ?? list[0]?.mta_config_key ?? lanes.find((l) => l.active)?.key ?? null,
							delivery_lanes: null as never,
						});
					else
						set(
							b.mta_config_key
								? [{ key: b.mta_config_key, weight: 1 }]
								: lanes
										.filter((l) => l.active)
										.slice(0, 2)
										.map((l) => ({ key: l.key, weight: 1 })),
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
					value={b.mta_config_key ?? ""}
					error={draft.problem("mta_config_key")}
					onChange={(k) => draft.change({ mta_config_key: k || null, delivery_lanes: null as never })}
					choices={[
						{ value: "", label: words.none },
						...lanes.map((l) => ({
							value: l.key,
							label: l.active ? l.name : words.off({ name: l.name }),
							disabled: !l.active,
						})),
					]}
				/>
			)}
			{kind === "weighted" && (
				<div className={css.lanes} data-path="delivery_lanes">
					{rows.map((l, i) => (
						<div key={l.key} className={css.lane}>
							<TextField
								label={words.weightOf({ name: name(l.key) })}
								type="number"
								min={0}
								step="any"
								help={total > 0 ? words.share({ share: percent(l.weight / total) }) : undefined}
								path={`delivery_lanes[${i}].weight`}
								value={l.weight ? String(l.weight) : ""}
								error={draft.problem(`delivery_lanes[${i}].weight`)}
								onChange={(w) => set(rows.map((x) => (x.key === l.key ? { ...x, weight: Number(w) || 0 } : x)))}
							/>
							<Button
								small
								look="quiet"
								aria-label={words.removeOf({ name: name(l.key) })}
								onClick={() => set(rows.filter((x) => x.key !== l.key))}
							>
								{words.remove}
							</Button>
						</div>
					))}
					{left.length > 0 && (
						<Select
							label={words.addLane}
							value=""
							onChange={(k) => k && set([...rows, { key: k, weight: 1 }])}
							choices={[{ value: "", label: words.none }, ...left.map((l) => ({ value: l.key, label: l.name }))]}
						/>
					)}
				</div>
			)}
		</>
	);
}
