// What is typed and has not reached the server is kept in IndexedDB, so that a reload, a crash or a closed
// laptop loses none of it: by user, workspace, kind, record and tab, written in the task in which it is typed, and
// deleted by its tab when the server has it. Signing out deletes everything, and so does signing in as somebody else.
// Without storage nothing is kept here, and pages keep what they can on the server.

import { useSyncExternalStore } from "react";
import { type Key, otherTabs, type Row, readable, tabOf } from "./tabCopies";

const database = "packetboat-typed";
const records = "records";
const chunks = "chunks";
/** Characters of a chunk. The browser writes longer values later than at once, which a reload does not wait for. */
const chunk = 16_000;
const maxDraftLength = 3_000_000; // characters of a record; what is longer is not kept here
const maxCharacters = 20_000_000; // characters of all records
const maxAge = 30 * 24 * 3600_000; // milliseconds, as long as the server keeps working copies

/** The tab, until its page is loaded again. It holds a lock, by which others see that it is open. */
const tab = crypto.randomUUID();
const lockName = (name: string) => `${database} ${name}`;
const lockTimeout = 500; // milliseconds, for the lock of a page that goes

/** isTabClosed reports whether a tab is not open any more. Without locks, as on plain http, all others count as closed. */
async function isTabClosed(name: string): Promise<boolean> {
	if (!navigator.locks) return true;
	return navigator.locks
		.request(lockName(name), { signal: AbortSignal.timeout(lockTimeout) }, () => true)
		.catch(() => false);
}

void navigator.locks?.request(lockName(tab), () => new Promise(() => undefined)).catch(() => undefined);

let db: IDBDatabase | null = null;
const listeners = new Set<() => void>();

function setDatabase(next: IDBDatabase | null) {
	if (next === db) return;
	db = next;
	for (const listener of listeners) listener();
}
let scope: [user: string, workspace: string] | null = null;
const written = new Map<string, string[]>(); // by key, the chunks that storage has

/** Some browsers never answer; pages do not wait longer than this many milliseconds. */
const openTimeout = 3000;

function open(): Promise<IDBDatabase> {
	return new Promise((resolve, reject) => {
		setTimeout(() => reject(new Error("IndexedDB does not answer")), openTimeout);
		const request = indexedDB.open(database, 2);
		request.onupgradeneeded = () => {
			for (const name of [...request.result.objectStoreNames]) request.result.deleteObjectStore(name);
			request.result.createObjectStore(records, { keyPath: "key" });
			request.result.createObjectStore(chunks);
		};
		request.onsuccess = () => resolve(request.result);
		request.onerror = () => reject(request.error);
		request.onblocked = () => reject(new Error("IndexedDB is in use"));
	});
}

const answer = <T>(request: IDBRequest<T>) =>
	new Promise<T>((resolve, reject) => {
		request.onsuccess = () => resolve(request.result);
		request.onerror = () => reject(request.error);
	});

/** Writes now: the browser carries it out although the page goes. */
function write(operation: (rows: IDBObjectStore, texts: IDBObjectStore) => void, failed?: () => void) {
	try {
		const transaction = db?.transaction([records, chunks], "readwrite");
		if (!transaction) return;
		transaction.onabort = () => failed?.();
		operation(transaction.objectStore(records), transaction.objectStore(chunks));
		transaction.commit?.();
	} catch {
		failed?.();
		setDatabase(null); // the browser has closed it
	}
}

function erase(rows: IDBObjectStore, texts: IDBObjectStore, key: Key) {
	rows.delete(key);
	texts.delete(IDBKeyRange.bound([...key], [...key, []])); // numbers come before arrays
}

/** openDraftStorage opens the drafts of a user in a workspace, and deletes those of other users, old ones, and the oldest ones above the limit. */
export async function openDraftStorage(user: string, workspace: string) {
	scope = [user, workspace];
	try {
		if (!db) {
			const connection = await open();
			const onClose = () => setDatabase(null);
			connection.onclose = onClose;
			connection.onversionchange = () => {
				connection.close();
				onClose();
			};
			setDatabase(connection);
		}
		if (!db) return;
		const all = (await answer(db.transaction(records).objectStore(records).getAll())) as Row[];
		let sum = 0;
		const obsolete = all
			.sort((a, b) => b.at - a.at)
			.filter((row) => {
				sum += row.size;
				return row.key[0] !== user || row.at < Date.now() - maxAge || sum > maxCharacters;
			});
		if (obsolete.length === 0) return;
		write((rows, texts) => {
			for (const row of obsolete) erase(rows, texts, row.key);
		});
	} catch {
		setDatabase(null); // there is no storage
	}
}

/** deleteDraftsBefore deletes what was typed before a time, of all users. It is called while nobody is signed in. */
export async function deleteDraftsBefore(before: number) {
	try {
		const connection = db ?? (await open());
		const transaction = connection.transaction([records, chunks], "readwrite");
		const rows = transaction.objectStore(records);
		for (const row of (await answer(rows.getAll())) as Row[])
			if (row.at < before) erase(rows, transaction.objectStore(chunks), row.key);
		if (connection !== db) connection.close();
	} catch {
		// Nothing was kept.
	}
}

/** storesDrafts reports whether what is typed is kept here. */
export const storesDrafts = () => db !== null;

/** subscribeStorage calls a function when storesDrafts changes. */
function subscribeStorage(listener: () => void) {
	listeners.add(listener);
	return () => {
		listeners.delete(listener);
	};
}

/** useStoresDrafts is storesDrafts in a component. */
export const useStoresDrafts = () => useSyncExternalStore(subscribeStorage, storesDrafts);

const keyOf = (kind: string, id: string): Key | null => scope && [...scope, kind, id, tab];

/** saveDraft keeps what is typed of a record. */
export function saveDraft(kind: string, id: string, value: object) {
	const key = keyOf(kind, id);
	if (!key || !db) return;
	const text = JSON.stringify(value);
	if (text.length > maxDraftLength) {
		deleteDraft(kind, id);
		return;
	}
	const name = key.join(" ");
	const before = written.get(name) ?? [];
	const now: string[] = [];
	for (let start = 0; start < text.length; start += chunk) now.push(text.slice(start, start + chunk));
	if (now.length === before.length && now.every((part, index) => part === before[index])) return;
	written.set(name, now);
	write(
		(rows, texts) => {
			rows.put({ key, size: text.length, chunks: now.length, at: Date.now() } satisfies Row);
			for (const [index, c] of now.entries()) if (c !== before[index]) texts.put(c, [...key, index]);
		},
		() => written.delete(name),
	);
}

/** deleteDraft deletes what this tab keeps of a record. */
export function deleteDraft(kind: string, id: string) {
	const key = keyOf(kind, id);
	if (!key) return;
	written.delete(key.join(" "));
	write((rows, texts) => erase(rows, texts, key));
}

/**
 * loadDraft returns what this tab keeps of a record, joined with what tabs that are gone have left, which is this tab's from
 * then on.
 */
export async function loadDraft<T extends object>(
	kind: string,
	id: string,
	merge: (earlier: T, later: T) => T,
): Promise<T | null> {
	const key = keyOf(kind, id);
	if (!key || !db) return null;
	try {
		const record = key.slice(0, 4);
		const all = (await answer(
			db
				.transaction(records)
				.objectStore(records)
				.getAll(IDBKeyRange.bound(record, [...record, []])),
		)) as Row[];
		const others = otherTabs(all, tab);
		const closed = await Promise.all(others.map(isTabClosed));
		const rows = readable(all, tab, new Set(others.filter((_, index) => closed[index])));
		if (rows.length === 0 || !db) return null;
		const store = db.transaction(chunks).objectStore(chunks);
		const texts = (await Promise.all(
			rows.map((row) => answer(store.getAll(IDBKeyRange.bound([...row.key], [...row.key, []])))),
		)) as string[][];
		const copies = rows.map((row, index) => texts[index]?.slice(0, row.chunks) ?? []);
		const value = copies.map((copy) => JSON.parse(copy.join("")) as T).reduce(merge);
		for (const [index, row] of rows.entries()) if (tabOf(row) === tab) written.set(key.join(" "), copies[index] ?? []);
		const obsolete = rows.filter((row) => tabOf(row) !== tab);
		if (obsolete.length > 0) {
			saveDraft(kind, id, value);
			write((rows, texts) => {
				for (const row of obsolete) erase(rows, texts, row.key);
			});
		}
		return value;
	} catch {
		return null;
	}
}

/** clearDraftStorage deletes everything that is kept, and keeps nothing more. */
export async function clearDraftStorage() {
	scope = null;
	written.clear();
	try {
		const transaction = (db ?? (await open())).transaction([records, chunks], "readwrite");
		await Promise.all([
			answer(transaction.objectStore(records).clear()),
			answer(transaction.objectStore(chunks).clear()),
		]);
	} catch {
		// Nothing was kept.
	}
}
