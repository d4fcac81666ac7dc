import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useLayoutEffect, useState, useSyncExternalStore } from "react";
import { api, type Versioned } from "../api/client";
import { cachedCopy, deleteCopy } from "../base/collections";
import { liveState, subscribeLive } from "../base/liveState";
import { loadDraft, saveDraft, deleteDraft } from "./deviceStorage";
import type { Clock, Codec, Copies, Device, Environment } from "./draft";
import { flushEditors, registerSave } from "./pendingSaves";
import { DraftStore } from "./store";
import { within } from "../base/queries";

const device: Device = { saveDraft, loadDraft, deleteDraft };

const clock: Clock = {
	now: () => new Date(),
	after: (ms, run) => {
		const timer = setTimeout(run, ms);
		return () => clearTimeout(timer);
	},
};

function useCopies(): Copies {
	const client = useQueryClient();
	// The list of copies is read again where it is shown next, not after each write, and so is each copy.
	const invalidateCopies = () => client.invalidateQueries({ ...within("working_copies"), refetchType: "none" });
	return {
		read: (kind, id) => cachedCopy(client, kind, id),
		write: (kind, id, body) =>
			api("PUT /working-copies/{kind}/{id}", { path: { kind, id }, body }).then(invalidateCopies),
		remove: (kind, id, marks) => deleteCopy(kind, id, marks).then(invalidateCopies),
	};
}

/** useDraft holds the draft of a record while a page is open. The codec is that of the first render, as are changes that it begins with; the draft follows the record. */
export function useDraft<Row, D extends object>(
	codec: Codec<Row, D>,
	server: Versioned<Row>,
	{ autosaveAfter, readOnly }: Pick<Environment, "autosaveAfter" | "readOnly">,
	initialChanges?: Partial<D>,
): DraftStore<Row, D> {
	const copies = useCopies();
	const [store] = useState(() => {
		const environment = { device, copies, clock, autosaveAfter, readOnly };
		const store = new DraftStore(codec, { ...environment, mark: crypto.randomUUID() }, server);
		if (initialChanges) store.change(initialChanges);
		return store;
	});
	useSyncExternalStore(store.subscribe, () => store.state);
	useLayoutEffect(() => store.configure({ autosaveAfter, readOnly }), [store, autosaveAfter, readOnly]);
	useEffect(() => {
		flushEditors(); // a text that an editor still has is joined, too
		store.receive(server);
	}, [store, server]);
	useEffect(() => {
		void store.open();
		const cleanups = [
			registerSave(() => store.flush()),
			subscribeLive(() => liveState() !== "offline" && void store.flush()),
		];
		return () => {
			for (const cleanup of cleanups) cleanup();
			void store.close();
		};
	}, [store]);
	return store;
}
