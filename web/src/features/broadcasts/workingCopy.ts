import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { api } from "../../api/client";
import type { BroadcastSessionView } from "../../api/schema";
import { deleteCopy, workingCopy } from "../../base/collections";
import { useKey, useWhyNot } from "../../base/session";
import { groupOf, type Parts, same, partOf } from "./parts";

// What the server does not accept yet is kept as a working copy of the draft: on the server, and there for
// other browsers too.

/** Copy is a working copy of a draft: the parts that are not saved, what they were when they were changed, and a mark of who stored it. */
export type Copy = { parts: Parts; base: Parts; problems: number; mark?: string };

/** Found is what the working copy of the server has that the draft has not, and the mark of the copy, if there is one; here is done when what this device has is read. */
export type Found = { parts: Parts; mark: string; here: Promise<void> };

const pause = 1000;

/** useWorkingCopy keeps parts that cannot be saved, and hands them back when the draft is opened again. */
export function useWorkingCopy(
	id: string,
	saved: BroadcastSessionView | undefined,
	unsaved: Parts | null,
	problems: number,
	{
		read,
		opened,
		stored,
	}: { read: () => Promise<void>; opened: (found: Found, own: string) => unknown; stored: () => void },
) {
	const key = useKey();
	const client = useQueryClient();
	const why = useWhyNot("PUT /working-copies/{kind}/{id}");
	const asked = useRef(false);
	const exists = useRef<Promise<boolean>>(Promise.resolve(false)); // whether there is a copy on the server
	const [own] = useState(() => crypto.randomUUID());
	const known = useRef([own, ""]); // the marks of copies that this page goes on from
	const text = unsaved && Object.keys(unsaved).length > 0 ? JSON.stringify(unsaved) : "";
	const latest = useRef(text);
	latest.current = text;
	useEffect(() => {
		if (saved?.status !== "draft" || asked.current || why) return;
		asked.current = true;
		const here = read();
		const find = async () => {
			const copy = await workingCopy("broadcast", id);
			if (!copy) return { parts: {}, mark: "" };
			exists.current = Promise.resolve(true);
			const { parts, base, mark = "" } = copy.data as Copy;
			known.current.push(mark);
			// Where the draft was changed since, what was saved later stands.
			const left = Object.fromEntries(
				Object.entries(parts ?? {}).filter(([p, v]) => same(base?.[p], partOf(saved, p)) && !same(v, partOf(saved, p))),
			);
			if (Object.keys(left).length === 0) {
				exists.current = Promise.resolve(false);
				await deleteCopy("broadcast", id, known.current);
			}
			return { parts: left, mark };
		};
		void find()
			.catch(() => ({ parts: {}, mark: "" }))
			.then((found) => opened({ ...found, here }, own));
	}, [saved, id, why, read, opened, own]);
	useEffect(() => {
		if (!saved || why || !asked.current) return;
		const path = { kind: "broadcast", id };
		const refresh = () => void client.invalidateQueries({ queryKey: key("working-copies") });
		if (!text) {
			if (unsaved) return;
			exists.current = exists.current.then(async (there) => {
				if (!there) return false;
				await deleteCopy("broadcast", id, known.current).catch(() => undefined);
				refresh();
				return false;
			});
			return;
		}
		const timer = setTimeout(() => {
			const parts = JSON.parse(text) as Parts;
			const data: Copy = {
				parts,
				base: Object.fromEntries(Object.keys(parts).map((p) => [p, partOf(saved, p)])),
				problems,
				mark: own,
			};
			exists.current = exists.current.then(async (there) => {
				try {
					await api("PUT /working-copies/{kind}/{id}", { path, body: { title: saved.name, data } });
					if (latest.current === text) stored();
					refresh();
					return true;
				} catch {
					return there;
				}
			});
		}, pause);
		return () => clearTimeout(timer);
	}, [text, unsaved, saved, problems, id, why, client, key, own, stored]);
	return { keeps: !why };
}

/** problemsIn counts the groups of parts in a working copy that are not saved. */
export const problemsIn = (c: Copy) => c.problems || new Set(Object.keys(c.parts ?? {}).map(groupOf)).size;
