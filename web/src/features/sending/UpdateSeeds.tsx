import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client";
import type { Result, Sample, SeedChange, SeedListRow } from "../../api/schema";
import { useDisabledReason } from "../../base/session";
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

const changeNames: { [C in SeedChange["change"]]: string } = catalogue("sending.updateSeeds.outcomes", {
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
export const summaryOf = (counts: Parameters<typeof words.summary>[0]) => words.summary(counts);

/** UpdateSeeds replaces or changes the addresses of a seed list. It always shows first what would change. */
export function UpdateSeeds({ list, onClose }: { list: SeedListRow; onClose: () => void }) {
	const client = useQueryClient();
	const disabledReason = useDisabledReason("PUT /seed-lists/{id}/seeds");
	const [mode, setMode] = useState<"replace" | "change">("replace");
	const [all, setAll] = useState("");
	const [add, setAdd] = useState("");
	const [remove, setRemove] = useState("");
	const [text, setText] = useState("");
	const [dryRunResult, setDryRunResult] = useState<Result | null>(null);
	const path = { id: list.id };
	const send = useMutation({
		mutationFn: (dry_run: boolean) => {
			const options = { dry_run, allow_large_change: !dry_run && dryRunResult?.large_change === true };
			const query = { include_changes: dry_run || undefined };
			return mode === "replace"
				? api("PUT /seed-lists/{id}/seeds", { path, query, body: { seeds: seedEntries(all), ...options } })
				: api("POST /seed-lists/{id}/seeds/changes", {
						path,
						query,
						body: { add: seedEntries(add), remove: seedEntries(remove).map((entry) => entry.email), ...options },
					});
		},
		onSuccess: (result) => {
			if (!result.applied) {
				setDryRunResult(result);
				return;
			}
			toast(words.done);
			void client.invalidateQueries(within("seed_list", list.id));
			void client.invalidateQueries(within("seed_lists"));
			onClose();
		},
		// What was tried may be outdated: it is tried again.
		onError: () => setDryRunResult(null),
	});
	const empty =
		mode === "replace" ? seedEntries(all).length === 0 : seedEntries(add).length + seedEntries(remove).length === 0;
	const needsConfirmation = dryRunResult?.large_change && text.trim() !== String(dryRunResult.retired);
	const problems = send.error ? problemsOf(send.error, []) : { byPath: {}, general: [] };
	return (
		<Dialog
			drawer="wide"
			title={words.title}
			onClose={onClose}
			onSubmit={() =>
				!disabledReason && !send.isPending && !(dryRunResult ? needsConfirmation : empty) && send.mutate(!dryRunResult)
			}
			footer={
				<>
					{dryRunResult ? (
						<Button onClick={() => setDryRunResult(null)}>{words.back}</Button>
					) : (
						<Button onClick={onClose}>{words.cancel}</Button>
					)}
					<Button
						type="submit"
						variant={dryRunResult?.large_change ? "danger" : "primary"}
						busy={send.isPending}
						disabledReason={
							disabledReason ??
							(dryRunResult
								? needsConfirmation
									? words.type({ count: dryRunResult.retired })
									: undefined
								: empty
									? words.nothing
									: undefined)
						}
					>
						{dryRunResult ? words.apply : words.check}
					</Button>
				</>
			}
		>
			<FormProblems problems={problems} />
			{dryRunResult ? (
				<DryRunResult result={dryRunResult} text={text} onType={setText} />
			) : (
				<>
					<Radios
						label={words.how}
						value={mode}
						onChange={(value) => setMode(value as "replace" | "change")}
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
function DryRunResult({ result, text, onType }: { result: Result; text: string; onType: (text: string) => void }) {
	const line = (kind: "added" | "removed" | "same", count: number, text: string) => count > 0 && { kind, text };
	const lines = [
		line("added", result.added, words.added({ count: result.added })),
		line("added", result.reactivated, words.reactivated({ count: result.reactivated })),
		line("removed", result.retired, words.retired({ count: result.retired })),
		line("same", result.unchanged, words.unchanged({ count: result.unchanged })),
	].filter((ranked) => ranked !== false);
	const sample = (list: Sample, text: (values: { count: number; sample: string }) => string) =>
		list.count > 0 && (
			<li>{text({ count: list.count, sample: and(list.sample) + (list.count > list.sample.length ? " …" : "") })}</li>
		);
	return (
		<>
			<p className={css.sum}>{words.sendable({ before: result.sendable_before, after: result.sendable_after })}</p>
			{result.added + result.reactivated + result.retired === 0 && <p>{words.same}</p>}
			<ul className={css.diff} aria-label={words.diff}>
				{lines.map((line) => (
					<li key={line.text} data-kind={line.kind}>
						<span aria-hidden>{line.kind === "added" ? "+" : line.kind === "removed" ? "−" : " "}</span> {line.text}
					</li>
				))}
			</ul>
			<ul className={css.notes}>
				{sample(result.held_as_contact, words.held)}
				{sample(result.invalid, words.invalid)}
				{sample(result.hand_retired, words.hand)}
				{sample(result.provider_corrections, words.provider)}
				{result.removed_unknown > 0 && <li>{words.unknown({ count: result.removed_unknown })}</li>}
			</ul>
			{result.large_change && (
				<>
					<Callout tone="danger" title={words.large}>
						{words.largeText}
					</Callout>
					<TextField
						label={words.type({ count: result.retired })}
						value={text}
						onChange={onType}
						inputMode="numeric"
						autoComplete="off"
						autoFocus
					/>
				</>
			)}
			<Addresses changes={result.changes ?? []} />
		</>
	);
}

const pageSize = 50;

/** Addresses lists what would become of each address, a page at a time. */
function Addresses({ changes: all }: { changes: SeedChange[] }) {
	const [kind, setKind] = useState<SeedChange["change"] | "">("");
	const [search, setSearch] = useState("");
	const [page, setPage] = useState(0);
	if (all.length === 0) return null;
	const counts = new Map<SeedChange["change"], number>();
	for (const change of all) counts.set(change.change, (counts.get(change.change) ?? 0) + 1);
	const query = search.trim().toLowerCase();
	const matches = all.filter(
		(change) => (!kind || change.change === kind) && change.email.toLowerCase().includes(query),
	);
	const rows = matches
		.slice(page * pageSize, (page + 1) * pageSize)
		.map((change, i) => ({ ...change, key: page * pageSize + i }));
	const pageText = words.pages({ from: page * pageSize + 1, to: page * pageSize + rows.length, of: matches.length });
	return (
		<section aria-label={words.each} className={css.each}>
			<h3>{words.each}</h3>
			<div className={css.tools}>
				<Select
					label={words.kind}
					value={kind}
					onChange={(value) => {
						setKind(value as typeof kind);
						setPage(0);
					}}
					choices={[
						{ value: "", label: words.kindOf({ name: words.everything, count: all.length }) },
						...[...counts].map(([value, count]) => ({
							value,
							label: words.kindOf({ name: changeNames[value], count }),
						})),
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
					rowKey={(change) => String(change.key)}
					columns={[
						{ id: "email", name: words.address, cell: (change) => change.email },
						{ id: "change", name: words.kind, cell: (change) => changeNames[change.change] },
						{
							id: "provider",
							name: words.providerName,
							cell: (change) => (change.provider ? providers[change.provider] : <NotSet />),
						},
					]}
				/>
			)}
			{matches.length > pageSize && (
				<div className={css.pages}>
					<span role="status">{pageText}</span>
					<Button small disabledReason={page === 0 ? pageText : undefined} onClick={() => setPage(page - 1)}>
						{words.before}
					</Button>
					<Button
						small
						disabledReason={(page + 1) * pageSize >= matches.length ? pageText : undefined}
						onClick={() => setPage(page + 1)}
					>
						{words.after}
					</Button>
				</div>
			)}
		</section>
	);
}
