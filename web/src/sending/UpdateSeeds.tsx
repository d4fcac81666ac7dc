import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../api/client";
import type { Result, Sample, SeedListRow } from "../api/schema";
import { useKey, useWhyNot } from "../app/session";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { Radios, TextArea, TextField } from "../ui/Field";
import { FormProblems } from "../ui/FormProblems";
import { problemsOf } from "../ui/form";
import { Notice } from "../ui/Page";
import { toast } from "../ui/Toast";
import { and, catalogue, full, plural } from "../words/catalogue";
import css from "./Seeds.module.css";

const words = catalogue({
	title: "Update the addresses",
	how: "How",
	replace: "Replace the whole list",
	replaceHelp: "Addresses that are not in the text are retired.",
	change: "Add and remove some",
	changeHelp: "All others stay.",
	all: "The vendor's addresses, one a line",
	add: "Add, one a line",
	remove: "Remove, one a line",
	help: (n: number) => `${plural(n, { one: "# address", other: "# addresses" })}. A provider may follow after a comma, such as outlook.`,
	check: "Check what changes",
	apply: "Update",
	back: "Back",
	cancel: "Cancel",
	done: "The list is updated.",
	nothing: "Paste addresses first.",
	added: (n: number) => plural(n, { one: "# address is new", other: "# addresses are new" }),
	reactivated: (n: number) => plural(n, { one: "# address comes back", other: "# addresses come back" }),
	retired: (n: number) => plural(n, { one: "# address is retired", other: "# addresses are retired" }),
	unchanged: (n: number) => plural(n, { one: "# address stays", other: "# addresses stay" }),
	unknown: (n: number) => plural(n, { one: "# address to remove is not on the list", other: "# addresses to remove are not on the list" }),
	held: (n: number, sample: string) => plural(n, { one: `# address is one of your contacts and gets no copies: ${sample}`, other: `# addresses are contacts of yours and get no copies: ${sample}` }),
	invalid: (n: number, sample: string) => plural(n, { one: `# line is not an address and is left out: ${sample}`, other: `# lines are not addresses and are left out: ${sample}` }),
	hand: (n: number, sample: string) => plural(n, { one: `# address was retired by hand and stays so: ${sample}`, other: `# addresses were retired by hand and stay so: ${sample}` }),
	provider: (n: number, sample: string) => plural(n, { one: `# address gets another provider: ${sample}`, other: `# addresses get another provider: ${sample}` }),
	sendable: (before: number, after: number) => `Addresses that can get copies: ${full(before)} → ${full(after)}`,
	same: "Nothing changes. The update still counts: the list is fresh from now.",
	large: "Fewer than half of the addresses would remain",
	largeText: "Is it the whole list that you pasted?",
	type: (n: number) => `Type ${n}, the number of addresses that are retired`,
	diff: "What changes",
	summary: (r: { added: number; reactivated: number; retired: number; unchanged: number }) => `${r.added} new, ${r.reactivated} back, ${r.retired} retired, ${r.unchanged} unchanged`,
});

/** summaryOf says what an update did. */
export const summaryOf = words.summary;

/** entriesOf reads pasted addresses: one a line, with a provider after a comma, semicolon or tab, if there is one. */
function entriesOf(text: string) {
	return text
		.split("\n")
		.map((line) => line.split(/[,;\t]/).map((p) => p.trim()))
		.filter(([email]) => email)
		.map(([email = "", provider]) => ({ email, provider: provider || null }));
}

/** UpdateSeeds replaces or changes the addresses of a seed list. It always shows first what would change. */
export function UpdateSeeds({ list: l, onClose }: { list: SeedListRow; onClose: () => void }) {
	const key = useKey();
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
			return mode === "replace"
				? api("PUT /seed-lists/{id}/seeds", { path, body: { seeds: entriesOf(all), ...flags } })
				: api("POST /seed-lists/{id}/seeds/changes", { path, body: { add: entriesOf(add), remove: entriesOf(remove).map((e) => e.email), ...flags } });
		},
		onSuccess: (result) => {
			if (!result.applied) {
				setTried(result);
				return;
			}
			toast(words.done);
			void client.invalidateQueries({ queryKey: key("seed-list", l.id) });
			void client.invalidateQueries({ queryKey: key("seed-lists") });
			onClose();
		},
		// What was tried may be outdated: it is tried again.
		onError: () => setTried(null),
	});
	const empty = mode === "replace" ? entriesOf(all).length === 0 : entriesOf(add).length + entriesOf(remove).length === 0;
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
					{tried ? <Button onClick={() => setTried(null)}>{words.back}</Button> : <Button onClick={onClose}>{words.cancel}</Button>}
					<Button type="submit" look={tried?.large_change ? "danger" : "primary"} busy={send.isPending} why={why ?? (tried ? (unsure ? words.type(tried.retired) : undefined) : empty ? words.nothing : undefined)}>
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
						<TextArea code rows={14} label={words.all} help={words.help(entriesOf(all).length)} value={all} onChange={setAll} spellCheck={false} />
					) : (
						<>
							<TextArea code rows={7} label={words.add} help={words.help(entriesOf(add).length)} value={add} onChange={setAdd} spellCheck={false} />
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
		line("added", r.added, words.added(r.added)),
		line("added", r.reactivated, words.reactivated(r.reactivated)),
		line("removed", r.retired, words.retired(r.retired)),
		line("same", r.unchanged, words.unchanged(r.unchanged)),
	].filter((x) => x !== false);
	const sample = (s: Sample, text: (n: number, sample: string) => string) => s.count > 0 && <li>{text(s.count, and(s.sample) + (s.count > s.sample.length ? " …" : ""))}</li>;
	return (
		<>
			<p className={css.sum}>{words.sendable(r.sendable_before, r.sendable_after)}</p>
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
				{r.removed_unknown > 0 && <li>{words.unknown(r.removed_unknown)}</li>}
			</ul>
			{r.large_change && (
				<>
					<Notice tone="danger" title={words.large}>
						{words.largeText}
					</Notice>
					<TextField label={words.type(r.retired)} value={typed} onChange={onType} inputMode="numeric" autoComplete="off" autoFocus />
				</>
			)}
		</>
	);
}
