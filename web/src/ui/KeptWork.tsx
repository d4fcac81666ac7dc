import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../api/client";
import { workingCopy } from "../base/collections";
import { held, release } from "../sync/device";
import { useWhyNot } from "../base/session";
import { catalogue } from "../base/words/catalogue";
import { explain } from "../base/words/errors";
import { Button } from "./Button";
import { Copy } from "./Copy";
import css from "./KeptWork.module.css";
import { Card } from "./Page";
import { toast } from "./Toast";
import { answer, within } from "../base/queries";

const words = catalogue("shell.keptWork", {
	title: "Your unsaved changes",
	text: "These were kept although the record no longer exists. Copy what you need into a new one.",
	copy: "Copy all",
	remove: "Delete",
	removed: "Your unsaved changes were deleted.",
});

type Part = { path: string; text: string };

type Work = { kind: string; parts: Part[]; stored: boolean };

/** Parts of a working copy that say what something was before, what of it was sent or refused, and which browser stored it. */
const aside = new Set(["from", "sent", "problems", "mark"]);

/** What is written itself. */
const itself = new Set(["mine", "graph"]);

/** partsOf returns the texts, numbers and switches of a working copy with their places. */
function partsOf(value: unknown, path = ""): Part[] {
	if (value === null || value === undefined || value === "") return [];
	if (Array.isArray(value) && value.every((v) => typeof v !== "object"))
		return value.length > 0 ? [{ path, text: value.join("\n") }] : [];
	if (typeof value !== "object") return [{ path, text: String(value) }];
	return Object.entries(value).flatMap(([name, v]) =>
		aside.has(name) ? [] : partsOf(v, path ? `${path}.${name}` : itself.has(name) ? "" : name),
	);
}

const isPlain = (v: unknown): v is object => typeof v === "object" && v !== null && !Array.isArray(v);

/** both joins two copies: of what both have, the later one's. */
const both = <T extends object>(earlier: T, later: T): T =>
	Object.fromEntries(
		Object.entries({ ...earlier, ...later }).map(([k, v]) => [
			k,
			isPlain((earlier as { [k: string]: unknown })[k]) && isPlain(v)
				? both((earlier as { [k: string]: object })[k] ?? {}, v)
				: v,
		]),
	) as T;

/** KeptWork shows the working copies of a record that does not exist any more. Without any it shows nothing. */
export function KeptWork({ kinds, id }: { kinds: string[]; id: string }) {
	const client = useQueryClient();
	const may = useWhyNot("GET /working-copies") === undefined;
	const [busy, setBusy] = useState(false);
	const found = useQuery({
		...answer("working_copies.of", id),
		queryFn: async () => {
			const copies = await Promise.all(kinds.map((kind) => (may ? workingCopy(kind, id) : null)));
			const list: Work[] = [];
			for (const [i, kind] of kinds.entries()) {
				const own = await held<{ value?: object }>(kind, id, both);
				const stored = copies[i] !== null;
				const value = own?.value ?? copies[i]?.data ?? null;
				const parts = partsOf(value);
				if (parts.length > 0) list.push({ kind, parts, stored });
			}
			return list;
		},
	});
	const list = found.data ?? [];
	if (list.length === 0) return null;
	const parts = list.flatMap((w) => w.parts);
	const remove = async () => {
		setBusy(true);
		try {
			for (const w of list) {
				if (w.stored) await api("DELETE /working-copies/{kind}/{id}", { path: { kind: w.kind, id } });
				release(w.kind, id);
			}
			await client.invalidateQueries(within("working_copies"));
			toast(words.removed);
		} catch (e) {
			toast(explain(e), { tone: "danger" });
		} finally {
			setBusy(false);
		}
	};
	return (
		<Card
			title={words.title}
			actions={
				<>
					<Copy text={parts.map((p) => `${p.path}:\n${p.text}`).join("\n\n")} what={words.title}>
						{words.copy}
					</Copy>
					<Button small busy={busy} onClick={() => void remove()}>
						{words.remove}
					</Button>
				</>
			}
		>
			<p>{words.text}</p>
			<dl className={css.parts}>
				{parts.map((p) => (
					<div key={p.path}>
						<dt>{p.path}</dt>
						<dd dir="auto">{p.text}</dd>
					</div>
				))}
			</dl>
		</Card>
	);
}
