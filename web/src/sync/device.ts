// What is typed and has not reached the server is kept in IndexedDB, so that a reload, a crash or a closed
// laptop loses none of it: by user, workspace, kind, record and tab, written in the task in which it is typed, and
// deleted by its tab when the server has it. Signing out deletes everything, and so does signing in as somebody else.
// Without storage nothing is kept here, and pages keep what they can on the server.

import { useSyncExternalStore } from "react";
import { type Key, othersOf, type Row, readable, tabOf } from "./copies";

const database = "packetboat-typed";
const records = "records";
const chunks = "chunks";
/** Characters of a chunk. The browser writes longer values later than at once, which a reload does not wait for. */
const chunk = 16_000;
const largest = 3_000_000; // characters of a record; what is longer is not kept here
const maxCharacters = 20_000_000; // characters of all records
const oldest = 30 * 24 * 3600_000; // milliseconds, as long as the server keeps working copies

/** The tab, until its page is loaded again. It holds a lock, by which others see that it is open. */
const tab = crypto.randomUUID();
const lockOf = (name: string) => `${database} ${name}`;
const longestWait = 500; // milliseconds, for the lock of a page that goes

/** isGone reports whether a tab is not open any more. Without locks, as on plain http, all others are as good as gone. */
async function isGone(name: string): Promise<boolean> {
	if (!navigator.locks) return true;
	return navigator.locks
		.request(lockOf(name), { signal: AbortSignal.timeout(longestWait) }, () => true)
		.catch(() => false);
}

void navigator.locks?.request(lockOf(tab), () => new Promise(() => undefined)).catch(() => undefined);

let db: IDBDatabase | null = null;
const listeners = new Set<() => void>();

function use(next: IDBDatabase | null) {
	if (next === db) return;
	db = next;
	for (const listener of listeners) listener();
}
let scope: [user: string, workspace: string] | null = null;
const written = new Map<string, string[]>(); // by key, the chunks that storage has

/** Some browsers never answer; pages do not wait longer than this many milliseconds. */
const slowest = 3000;

function open(): Promise<IDBDatabase> {
	return new Promise((resolve, reject) => {
		setTimeout(() => reject(new Error("IndexedDB does not answer")), slowest);
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
function write(act: (rows: IDBObjectStore, texts: IDBObjectStore) => void, failed?: () => void) {
	try {
		const transaction = db?.transaction([records, chunks], "readwrite");
		if (!transaction) return;
		transaction.onabort = () => failed?.();
		act(transaction.objectStore(records), transaction.objectStore(chunks));
		transaction.commit?.();
	} catch {
		failed?.();
		use(null); // the browser has closed it
	}
}

function erase(rows: IDBObjectStore, texts: IDBObjectStore, key: Key) {
	rows.delete(key);
	texts.delete(IDBKeyRange.bound([...key], [...key, []])); // numbers come before arrays
}

/** openDevice opens what is kept for a user in a workspace, and deletes what is of others, old, or too much. */
export async function openDevice(user: string, workspace: string) {
	scope = [user, workspace];
	try {
		if (!db) {
			const opened = await open();
			const lost = () => use(null);
			opened.onclose = lost;
			opened.onversionchange = () => {
				opened.close();
				lost();
			};
			use(opened);
		}
		if (!db) return;
		const all = (await answer(db.transaction(records).objectStore(records).getAll())) as Row[];
		let sum = 0;
		const left = all
			.sort((a, b) => b.at - a.at)
			.filter((row) => {
				sum += row.size;
				return row.key[0] !== user || row.at < Date.now() - oldest || sum > maxCharacters;
			});
		if (left.length === 0) return;
		write((rows, texts) => {
			for (const row of left) erase(rows, texts, row.key);
		});
	} catch {
		use(null); // there is no storage
	}
}

/** forgetTyped deletes what was typed before a time, of all users. It is called while nobody is signed in. */
export async function forgetTyped(before: number) {
	try {
		const opened = db ?? (await open());
		const transaction = opened.transaction([records, chunks], "readwrite");
		const rows = transaction.objectStore(records);
		for (const row of (await answer(rows.getAll())) as Row[])
			if (row.at < before) erase(rows, transaction.objectStore(chunks), row.key);
		if (opened !== db) opened.close();
	} catch {
		// Nothing was kept.
	}
}

/** keepsTyped reports whether what is typed is kept here. */
export const keepsTyped = () => db !== null;

/** subscribeDevice calls a function when keepsTyped changes. */
function subscribeDevice(listener: () => void) {
	listeners.add(listener);
	return () => {
		listeners.delete(listener);
	};
}

/** useKeepsTyped is keepsTyped in a component. */
export const useKeepsTyped = () => useSyncExternalStore(subscribeDevice, keepsTyped);

const keyOf = (kind: string, id: string): Key | null => scope && [...scope, kind, id, tab];

/** hold keeps what is typed of a record. */
export function hold(kind: string, id: string, value: object) {
	const key = keyOf(kind, id);
	if (!key || !db) return;
	const text = JSON.stringify(value);
	if (text.length > largest) {
		release(kind, id);
		return;
	}
	const name = key.join(" ");
	const before = written.get(name) ?? [];
	const now: string[] = [];
	for (let at = 0; at < text.length; at += chunk) now.push(text.slice(at, at + chunk));
	if (now.length === before.length && now.every((column, index) => column === before[index])) return;
	written.set(name, now);
	write(
		(rows, texts) => {
			rows.put({ key, size: text.length, chunks: now.length, at: Date.now() } satisfies Row);
			for (const [index, c] of now.entries()) if (c !== before[index]) texts.put(c, [...key, index]);
		},
		() => written.delete(name),
	);
}

/** release deletes what this tab keeps of a record. */
export function release(kind: string, id: string) {
	const key = keyOf(kind, id);
	if (!key) return;
	written.delete(key.join(" "));
	write((rows, texts) => erase(rows, texts, key));
}

/**
 * held returns what this tab keeps of a record, joined with what tabs that are gone have left, which is this tab's from
 * then on.
 */
export async function held<T extends object>(
	kind: string,
	id: string,
	join: (earlier: T, later: T) => T,
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
		const others = othersOf(all, tab);
		const are = await Promise.all(others.map(isGone));
		const rows = readable(all, tab, new Set(others.filter((_, index) => are[index])));
		if (rows.length === 0 || !db) return null;
		const store = db.transaction(chunks).objectStore(chunks);
		const texts = (await Promise.all(
			rows.map((row) => answer(store.getAll(IDBKeyRange.bound([...row.key], [...row.key, []])))),
		)) as string[][];
		const copies = rows.map((row, index) => texts[index]?.slice(0, row.chunks) ?? []);
		const value = copies.map((copy) => JSON.parse(copy.join("")) as T).reduce(join);
		for (const [index, row] of rows.entries()) if (tabOf(row) === tab) written.set(key.join(" "), copies[index] ?? []);
		const left = rows.filter((row) => tabOf(row) !== tab);
		if (left.length > 0) {
			hold(kind, id, value);
			write((rows, texts) => {
				for (const row of left) erase(rows, texts, row.key);
			});
		}
		return value;
	} catch {
		return null;
	}
}

/** closeDevice deletes everything that is kept, and keeps nothing more. */
export async function closeDevice() {
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
