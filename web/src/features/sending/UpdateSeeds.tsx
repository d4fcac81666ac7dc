import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client";
import type { Result, Sample, SeedChange, SeedListRow } from "../../api/schema";
import { useWhyNot } from "../../base/session";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { Radios, Select, TextArea, TextField } from "../../ui/Field";
import { FormProblems } from "../../ui/FormProblems";
import { problemsOf } from "../../ui/problems";
import { List } from "../../ui/List";
import { Callout, NotSet } from "../../ui/Page";
import { toast } from "../../ui/Toast";
import { catalogue } from "../../base/words/catalogue";
import { and } from "../../base/words/formats";
import css from "./Seeds.module.css";
import { providers } from "./seedProviders";
import { seedEntries } from "./seedEntries";
import { within } from "../../base/queries";

const words = catalogue("sending.updateSeeds", {
	title: "Update addresses",
	how: "How",
	replace: "Replace the whole list",
	replaceHelp: "Addresses not in the text are retired.",
	change: "Add and remove addresses",
	changeHelp: "All others stay.",
	all: "The vendor's addresses, one per line",
	add: "Add, one per line",
	remove: "Remove, one per line",
	help: "{count, plural, one {# address} other {# addresses}}. You can add a provider after a comma, such as outlook.",
	check: "Check changes",
	apply: "Update",
	back: "Back",
	cancel: "Cancel",
	done: "List updated.",
	nothing: "Paste addresses first.",
	added: "{count, plural, one {# address is new} other {# addresses are new}}",
	reactivated: "{count, plural, one {# address comes back} other {# addresses come back}}",
	retired: "{count, plural, one {# address is retired} other {# addresses are retired}}",
	unchanged: "{count, plural, one {# address stays} other {# addresses stay}}",
	unknown:
		"{count, plural, one {# address to remove is not on the list} other {# addresses to remove are not on the list}}",
	held: "{count, plural, one {# address is one of your contacts and gets no copies: {sample}} other {# addresses are your contacts and get no copies: {sample}}}",
	invalid:
		"{count, plural, one {# line is not an address and is ignored: {sample}} other {# lines are not addresses and are ignored: {sample}}}",
	hand: "{count, plural, one {# address was retired manually and stays retired: {sample}} other {# addresses were retired manually and stay retired: {sample}}}",
	provider:
		"{count, plural, one {# address gets another provider: {sample}} other {# addresses get another provider: {sample}}}",
	sendable: "Addresses that can get copies: {before, number} → {after, number}",
	same: "Nothing changes, but the list counts as up to date from now on.",
	large: "Fewer than half of the addresses would remain",
	largeText: "Did you paste the whole list?",
	type: "Type {count}, the number of addresses to retire",
	diff: "Changes",
	each: "By address",
	kind: "Change",
	everything: "All",
	kindOf: "{name} ({count, number})",
	search: "Search",
	address: "Address",
	providerName: "Provider",
	noneFound: "No address matches.",
	pages: "{from, number} to {to, number} of {of, number}",
	before: "Previous",
	after: "Next",
	summary: "{added} new, {reactivated} back, {retired} retired, {unchanged} unchanged",
});

const outcomes: { [C in SeedChange["change"]]: string } = catalogue("sending.updateSeeds.outcomes", {
	added: "New",
	reactivated: "Comes back",
	retired: "Is retired",
	unchanged: "Stays",
	held_as_contact: "Is a contact",
	hand_retired: "Stays retired",
	invalid: "Not an address",
	removed_unknown: "Not on the list",
});

/** summaryOf says what an update did. */
export const summaryOf = (r: Parameters<typeof words.summary>[0]) => words.summary(r);

/** UpdateSeeds replaces or changes the addresses of a seed list. It always shows first what would change. */
export function UpdateSeeds({ list: l, onClose }: { list: SeedListRow; onClose: () => void }) {
	const client = useQueryClient();
	const why = useWhyNot("PUT /seed-lists/{id}/seeds");
	const [mode, setMode] = useState<"replace" | "change">("replace");
	const [all, setAll] = useState("");
	const [add, setAdd] = useState("");
	const [remove, setRemove] = useState("");
	const [typed, setTyped] = useState("");
	const [tried, setTried] = useState<Result | null>(null);
	const path = { id: l.id };
	const send = useMutation({
		mutationFn: (dry_run: boolean) => {
			const flags = { dry_run, allow_large_change: !dry_run && tried?.large_change === true };
			const query = { include_changes: dry_run || undefined };
			return mode === "replace"
				? api("PUT /seed-lists/{id}/seeds", { path, query, body: { seeds: seedEntries(all), ...flags } })
				: api("POST /seed-lists/{id}/seeds/changes", {
						path,
						query,
						body: { add: seedEntries(add), remove: seedEntries(remove).map((e) => e.email), ...flags },
					});
		},
		onSuccess: (result) => {
			if (!result.applied) {
				setTried(result);
				return;
			}
			toast(words.done);
			void client.invalidateQueries(within("seed_list", l.id));
			void client.invalidateQueries(within("seed_lists"));
			onClose();
		},
		// What was tried may be outdated: it is tried again.
		onError: () => setTried(null),
	});
	const empty =
		mode === "replace" ? seedEntries(all).length === 0 : seedEntries(add).length + seedEntries(remove).length === 0;
	const unsure = tried?.large_change && typed.trim() !== String(tried.retired);
	const problems = send.error ? problemsOf(send.error, []) : { byPath: {}, general: [] };
	return (
		<Dialog
			drawer="wide"
			title={words.title}
			onClose={onClose}
			onSubmit={() => !why && !send.isPending && !(tried ? unsure : empty) && send.mutate(!tried)}
			footer={
				<>
					{tried ? (
						<Button onClick={() => setTried(null)}>{words.back}</Button>
					) : (
						<Button onClick={onClose}>{words.cancel}</Button>
					)}
					<Button
						type="submit"
						look={tried?.large_change ? "danger" : "primary"}
						busy={send.isPending}
						why={
							why ??
							(tried ? (unsure ? words.type({ count: tried.retired }) : undefined) : empty ? words.nothing : undefined)
						}
					>
						{tried ? words.apply : words.check}
					</Button>
				</>
			}
		>
			<FormProblems problems={problems} />
			{tried ? (
				<Tried result={tried} typed={typed} onType={setTyped} />
			) : (
				<>
					<Radios
						label={words.how}
						value={mode}
						onChange={(m) => setMode(m as "replace" | "change")}
						choices={[
							{ value: "replace", label: words.replace, help: words.replaceHelp },
							{ value: "change", label: words.change, help: words.changeHelp },
						]}
					/>
					{mode === "replace" ? (
						<TextArea
							code
							rows={14}
							label={words.all}
							help={words.help({ count: seedEntries(all).length })}
							value={all}
							onChange={setAll}
							spellCheck={false}
						/>
					) : (
						<>
							<TextArea
								code
								rows={7}
								label={words.add}
								help={words.help({ count: seedEntries(add).length })}
								value={add}
								onChange={setAdd}
								spellCheck={false}
							/>
							<TextArea code rows={7} label={words.remove} value={remove} onChange={setRemove} spellCheck={false} />
						</>
					)}
				</>
			)}
		</Dialog>
	);
}

/** Tried shows what an update would change. */
function Tried({ result: r, typed, onType }: { result: Result; typed: string; onType: (text: string) => void }) {
	const line = (kind: "added" | "removed" | "same", n: number, text: string) => n > 0 && { kind, text };
	const lines = [
		line("added", r.added, words.added({ count: r.added })),
		line("added", r.reactivated, words.reactivated({ count: r.reactivated })),
		line("removed", r.retired, words.retired({ count: r.retired })),
		line("same", r.unchanged, words.unchanged({ count: r.unchanged })),
	].filter((x) => x !== false);
	const sample = (s: Sample, text: (values: { count: number; sample: string }) => string) =>
		s.count > 0 && <li>{text({ count: s.count, sample: and(s.sample) + (s.count > s.sample.length ? " …" : "") })}</li>;
	return (
		<>
			<p className={css.sum}>{words.sendable({ before: r.sendable_before, after: r.sendable_after })}</p>
			{r.added + r.reactivated + r.retired === 0 && <p>{words.same}</p>}
			<ul className={css.diff} aria-label={words.diff}>
				{lines.map((x) => (
					<li key={x.text} data-kind={x.kind}>
						<span aria-hidden>{x.kind === "added" ? "+" : x.kind === "removed" ? "−" : " "}</span> {x.text}
					</li>
				))}
			</ul>
			<ul className={css.notes}>
				{sample(r.held_as_contact, words.held)}
				{sample(r.invalid, words.invalid)}
				{sample(r.hand_retired, words.hand)}
				{sample(r.provider_corrections, words.provider)}
				{r.removed_unknown > 0 && <li>{words.unknown({ count: r.removed_unknown })}</li>}
			</ul>
			{r.large_change && (
				<>
					<Callout tone="danger" title={words.large}>
						{words.largeText}
					</Callout>
					<TextField
						label={words.type({ count: r.retired })}
						value={typed}
						onChange={onType}
						inputMode="numeric"
						autoComplete="off"
						autoFocus
					/>
				</>
			)}
			<Addresses of={r.changes ?? []} />
		</>
	);
}

const pageSize = 50;

/** Addresses lists what would become of each address, a page at a time. */
function Addresses({ of: all }: { of: SeedChange[] }) {
	const [kind, setKind] = useState<SeedChange["change"] | "">("");
	const [search, setSearch] = useState("");
	const [page, setPage] = useState(0);
	if (all.length === 0) return null;
	const counts = new Map<SeedChange["change"], number>();
	for (const c of all) counts.set(c.change, (counts.get(c.change) ?? 0) + 1);
	const wanted = search.trim().toLowerCase();
	const found = all.filter((c) => (!kind || c.change === kind) && c.email.toLowerCase().includes(wanted));
	const rows = found.slice(page * pageSize, (page + 1) * pageSize).map((c, i) => ({ ...c, key: page * pageSize + i }));
	const where = words.pages({ from: page * pageSize + 1, to: page * pageSize + rows.length, of: found.length });
	return (
		<section aria-label={words.each} className={css.each}>
			<h3>{words.each}</h3>
			<div className={css.tools}>
				<Select
					label={words.kind}
					value={kind}
					onChange={(k) => {
						setKind(k as typeof kind);
						setPage(0);
					}}
					choices={[
						{ value: "", label: words.kindOf({ name: words.everything, count: all.length }) },
						...[...counts].map(([value, n]) => ({ value, label: words.kindOf({ name: outcomes[value], count: n }) })),
					]}
				/>
				<TextField
					label={words.search}
					type="search"
					value={search}
					onChange={(text) => {
						setSearch(text);
						setPage(0);
					}}
				/>
			</div>
			{rows.length === 0 ? (
				<p>{words.noneFound}</p>
			) : (
				<List
					label={words.each}
					rows={rows}
					rowKey={(c) => String(c.key)}
					columns={[
						{ id: "email", name: words.address, cell: (c) => c.email },
						{ id: "change", name: words.kind, cell: (c) => outcomes[c.change] },
						{
							id: "provider",
							name: words.providerName,
							cell: (c) => (c.provider ? providers[c.provider] : <NotSet />),
						},
					]}
				/>
			)}
			{found.length > pageSize && (
				<div className={css.pages}>
					<span role="status">{where}</span>
					<Button small why={page === 0 ? where : undefined} onClick={() => setPage(page - 1)}>
						{words.before}
					</Button>
					<Button
						small
						why={(page + 1) * pageSize >= found.length ? where : undefined}
						onClick={() => setPage(page + 1)}
					>
						{words.after}
					</Button>
				</div>
			)}
		</section>
	);
}
