import type { QueryClient } from "@tanstack/react-query";
import type { ShellView } from "../api/schema";
import { forgetWorkspace } from "./lastWorkspace";
import { isPersisted } from "./queries";
import { clearRecent, openRecent } from "./recentRecords";

// Answers that are kept in IndexedDB, so that the next visit paints at once and then loads them again. They
// are those of set-up and of lists (queries.ts), by user and workspace. Nothing about contacts is kept, and signing out
// deletes everything.

/** persistedKinds is what is kept of an answer: the names of jobs may say something about contacts. */
const persistedKinds = (kind: unknown, data: unknown) =>
	kind === "shell" ? { ...(data as ShellView), jobs: [] } : data;

const database = "packetboat";
const store = "answers";
const version = 2; // another when keys or answers of the same key change: what is kept is then dropped
const maxAnswers = 40; // answers of a workspace
const maxAnswerLength = 500_000; // characters of an answer
const maxAge = 7 * 24 * 3600_000; // milliseconds
const pause = 2000; // milliseconds from a change to its saving

type Kept = { key: readonly unknown[]; data: unknown; at: number };

/** Some browsers never answer; pages do not wait longer than this many milliseconds. */
const openTimeout = 3000;

function open(): Promise<IDBDatabase> {
	return new Promise((resolve, reject) => {
		setTimeout(() => reject(new Error("IndexedDB does not answer")), openTimeout);
		const request = indexedDB.open(database, version);
		request.onupgradeneeded = () => {
			const db = request.result;
			if (db.objectStoreNames.contains(store)) db.deleteObjectStore(store);
			db.createObjectStore(store);
		};
		request.onsuccess = () => resolve(request.result);
		request.onerror = () => reject(request.error);
		request.onblocked = () => reject(new Error("IndexedDB is in use"));
	});
}

async function run<T>(mode: IDBTransactionMode, operation: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> {
	const db = await open();
	try {
		return await new Promise<T>((resolve, reject) => {
			const request = operation(db.transaction(store, mode).objectStore(store));
			request.onsuccess = () => resolve(request.result);
			request.onerror = () => reject(request.error);
		});
	} finally {
		db.close();
	}
}

/**
 * restore puts the kept answers of a user in a workspace into the cache, and deletes those of other users. Without
 * storage it does nothing.
 */
export async function restore(client: QueryClient, user: string, workspace: string) {
	openRecent(user);
	try {
		for (const name of await run("readonly", (store) => store.getAllKeys()))
			if (!String(name).startsWith(`${user} `)) await run("readwrite", (store) => store.delete(name));
		const entries = (await run("readonly", (store) => store.get(`${user} ${workspace}`))) as Kept[] | undefined;
		for (const entry of entries ?? []) {
			if (entry.at <= Date.now() - maxAge || !isPersisted(entry.key) || client.getQueryState(entry.key)) continue;
			client.setQueryData(entry.key, entry.data, { updatedAt: entry.at });
			// Changes were not reported while no page was open: it is shown, and loaded again.
			void client.invalidateQueries({ queryKey: entry.key, exact: true, refetchType: "none" });
		}
	} catch {
		// Storage is off or full: everything is loaded.
	}
}

let clearCount = 0; // how often everything was deleted: what was to be saved before is not saved any more

/** persistAnswers saves answers of a workspace as they come, until the returned function is called. */
export function persistAnswers(client: QueryClient, user: string, workspace: string): () => void {
	let timer = 0;
	const since = clearCount;
	const save = () => {
		timer = 0;
		if (since !== clearCount) return;
		const list: Kept[] = client
			.getQueryCache()
			.findAll({
				predicate: (query) =>
					query.queryKey[0] === workspace && isPersisted(query.queryKey) && query.state.status === "success",
			})
			.map((query) => ({
				key: query.queryKey,
				data: persistedKinds(query.queryKey[1], query.state.data),
				at: query.state.dataUpdatedAt,
			}))
			.sort((a, b) => b.at - a.at)
			.filter((entry) => JSON.stringify(entry.data).length < maxAnswerLength)
			.slice(0, maxAnswers);
		run("readwrite", (store) => store.put(list, `${user} ${workspace}`)).catch(() => undefined);
	};
	const stop = client.getQueryCache().subscribe((event) => {
		const { queryKey } = event.query;
		if (
			event.type === "updated" &&
			event.action.type === "success" &&
			queryKey[0] === workspace &&
			isPersisted(queryKey) &&
			!timer
		)
			timer = window.setTimeout(save, pause);
	});
	return () => {
		clearTimeout(timer);
		stop();
	};
}

/** clearAnswers deletes everything that is kept. */
export async function clearAnswers() {
	forgetWorkspace();
	clearRecent();
	clearCount++;
	try {
		await run("readwrite", (store) => store.clear());
	} catch {
		// Nothing was kept.
	}
}
