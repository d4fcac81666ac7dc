import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../api/client";
import { workingCopy } from "../base/collections";
import { loadDraft, deleteDraft } from "../sync/deviceStorage";
import { useDisabledReason } from "../base/session";
import { catalogue } from "../base/words/catalogue";
import { explain } from "../base/words/errors";
import { Button } from "./Button";
import { Copy } from "./Copy";
import css from "./UnsavedWork.module.css";
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
const hiddenFields = new Set(["from", "sent", "problems", "mark"]);

/** What is written itself. */
const itself = new Set(["mine", "graph"]);

/** partsOf returns the texts, numbers and switches of a working copy with their places. */
function partsOf(value: unknown, path = ""): Part[] {
	if (value === null || value === undefined || value === "") return [];
	if (Array.isArray(value) && value.every((item) => typeof item !== "object"))
		return value.length > 0 ? [{ path, text: value.join("\n") }] : [];
	if (typeof value !== "object") return [{ path, text: String(value) }];
	return Object.entries(value).flatMap(([name, value]) =>
		hiddenFields.has(name) ? [] : partsOf(value, path ? `${path}.${name}` : itself.has(name) ? "" : name),
	);
}

const isPlain = (value: unknown): value is object =>
	typeof value === "object" && value !== null && !Array.isArray(value);

/** mergeCopies joins two copies: of what both have, the later one's. */
const mergeCopies = <T extends object>(earlier: T, later: T): T =>
	Object.fromEntries(
		Object.entries({ ...earlier, ...later }).map(([key, value]) => [
			key,
			isPlain((earlier as { [key: string]: unknown })[key]) && isPlain(value)
				? mergeCopies((earlier as { [key: string]: object })[key] ?? {}, value)
				: value,
		]),
	) as T;

/** UnsavedWork shows the working copies of a record that does not exist any more. Without any it shows nothing. */
export function UnsavedWork({ kinds, id }: { kinds: string[]; id: string }) {
	const client = useQueryClient();
	const canRead = useDisabledReason("GET /working-copies") === undefined;
	const [busy, setBusy] = useState(false);
	const query = useQuery({
		...answer("working_copies.of", id),
		queryFn: async () => {
			const copies = await Promise.all(kinds.map((kind) => (canRead ? workingCopy(kind, id) : null)));
			const list: Work[] = [];
			for (const [i, kind] of kinds.entries()) {
				const own = await loadDraft<{ value?: object }>(kind, id, mergeCopies);
				const stored = copies[i] !== null;
				const value = own?.value ?? copies[i]?.data ?? null;
				const parts = partsOf(value);
				if (parts.length > 0) list.push({ kind, parts, stored });
			}
			return list;
		},
	});
	const list = query.data ?? [];
	if (list.length === 0) return null;
	const parts = list.flatMap((item) => item.parts);
	const remove = async () => {
		setBusy(true);
		try {
			for (const item of list) {
				if (item.stored) await api("DELETE /working-copies/{kind}/{id}", { path: { kind: item.kind, id } });
				deleteDraft(item.kind, id);
			}
			await client.invalidateQueries(within("working_copies"));
			toast(words.removed);
		} catch (error) {
			toast(explain(error), { tone: "danger" });
		} finally {
			setBusy(false);
		}
	};
	return (
		<Card
			title={words.title}
			actions={
				<>
					<Copy text={parts.map((part) => `${part.path}:\n${part.text}`).join("\n\n")} subject={words.title}>
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
				{parts.map((part) => (
					<div key={part.path}>
						<dt>{part.path}</dt>
						<dd dir="auto">{part.text}</dd>
					</div>
				))}
			</dl>
		</Card>
	);
}
