import type { QueryClient } from "@tanstack/react-query";
import { onAnswer, url } from "../api/client";
import { compareVersions } from "./version";

// Changes on the server, as one stream of hints for all tabs of a browser: a tab holds the stream, because
// browsers allow six connections to a host, and passes the hints to the others. A hint says that something
// of a type changed; what is on screen is then loaded again. Without a stream, pages poll.

export type LiveState = "live" | "polling" | "offline";

type Hint = { type: string; id?: string };

let state: LiveState = "polling";
const listeners = new Set<() => void>();

function setState(next: LiveState) {
	if (next === state) return;
	state = next;
	for (const l of listeners) l();
}

/** liveState is how pages learn of changes now. */
export const liveState = () => state;

/** subscribeLive calls a function when liveState changes. */
export function subscribeLive(listener: () => void) {
	listeners.add(listener);
	return () => {
		listeners.delete(listener);
	};
}

/** What is loaded again when something of a type changes: the first parts of keys of cached answers. */
const dependents: { [type: string]: string[] } = {
	// Reports draw themselves again by time, so that plots do not change every two seconds.
	broadcast: ["broadcasts", "broadcast", "overview"],
	job: ["jobs", "job", "shell"],
	domain: ["domains", "domain", "overview", "shell"],
	mta_config: ["mta-configs", "mta-config", "overview", "shell"],
	segment: ["segments", "segment"],
	sequence: ["sequences", "sequence"],
	form: ["forms", "form"],
	webhook: ["webhooks", "webhook"],
	template: ["templates", "template"],
	block: ["blocks", "block"],
	message: ["messages", "message"],
	account: ["account", "overview", "shell"],
	contact: ["contacts", "contact"],
	mailbox: ["mailbox"],
};

/** invalidate marks the cached answers that a change of a type makes stale. */
export function invalidate(client: QueryClient, workspace: string, hint: Hint) {
	for (const part of dependents[hint.type] ?? []) {
		client.invalidateQueries({
			predicate: (q) =>
				q.queryKey[0] === workspace &&
				q.queryKey[1] === part &&
				(!hint.id || q.queryKey.length < 3 || part.endsWith("s") || q.queryKey.includes(hint.id)),
		});
	}
}

/** askState finds out whether the stream is open, here or in another tab. */
let askState = () => {};

const leastPause = 2000;
const probePause = 5000;

/** watchAnswers follows whether the server can be reached, and reads the session again when it denies something. */
export function watchAnswers(client: QueryClient) {
	let probe = 0;
	const ask = () => {
		fetch("/api/auth/options", { cache: "no-store" })
			.then(() => back())
			.catch(() => {
				probe = window.setTimeout(ask, probePause);
			});
	};
	const back = () => {
		clearTimeout(probe);
		probe = 0;
		if (state !== "offline") return;
		setState("polling");
		askState(); // the stream may have stayed open
		void client.invalidateQueries();
		void compareVersions();
	};
	const gone = () => {
		setState("offline");
		if (!probe) probe = window.setTimeout(ask, probePause);
	};
	onAnswer((error) => {
		if (error?.status === 0) gone();
		else back();
		if (error?.status === 403 || error?.code === "TENANT_NOT_FOUND")
			void client.invalidateQueries({ queryKey: ["session"] });
	});
	window.addEventListener("offline", gone);
	window.addEventListener("online", ask);
}

/** connect follows the changes of a workspace until the returned function is called. */
export function connect(client: QueryClient, workspace: string): () => void {
	const channel = new BroadcastChannel(`packetboat-${workspace}`);
	const waiting = new Map<string, Hint>();
	let flush = 0;
	let source: EventSource | null = null;
	let ended = false;
	const abort = new AbortController();
	const receive = (hints: Hint[]) => {
		for (const h of hints) waiting.set(`${h.type} ${h.id ?? ""}`, h);
		if (flush) return;
		flush = window.setTimeout(() => {
			flush = 0;
			for (const h of waiting.values()) invalidate(client, workspace, h);
			waiting.clear();
		}, leastPause / 4);
	};
	channel.onmessage = (e: MessageEvent<{ hints?: Hint[]; state?: LiveState; reset?: boolean; ask?: boolean }>) => {
		if (e.data.ask && source?.readyState === EventSource.OPEN) share({ state: "live" });
		if (e.data.state === "live" && state !== "live") void compareVersions(); // the server may have been replaced
		if (e.data.state) setState(e.data.state);
		if (e.data.reset) client.invalidateQueries({ predicate: (q) => q.queryKey[0] === workspace });
		if (e.data.hints) receive(e.data.hints);
	};
	const share = (message: { hints?: Hint[]; state?: LiveState; reset?: boolean }) => {
		if (message.state) setState(message.state);
		channel.postMessage(message);
	};
	const open = () => {
		if (ended) return;
		source = new EventSource(url("GET /stream", undefined, undefined, workspace));
		source.onopen = () => {
			share({ state: "live" });
			void compareVersions();
		};
		source.addEventListener("change", (e) => {
			const hints = (JSON.parse(e.data) as { changes: Hint[] }).changes;
			receive(hints);
			share({ hints });
		});
		source.addEventListener("reset", () => {
			client.invalidateQueries({ predicate: (q) => q.queryKey[0] === workspace });
			share({ reset: true });
		});
		source.onerror = () => {
			if (state === "live") share({ state: "polling" });
			if (source?.readyState === EventSource.CLOSED) {
				source = null;
				setTimeout(open, 15_000 + Math.random() * 6000);
			}
		};
	};
	askState = () => (source?.readyState === EventSource.OPEN ? setState("live") : channel.postMessage({ ask: true }));
	askState(); // a tab that was opened later
	// The lock is held until this tab closes or leaves the workspace; then another tab opens the stream.
	navigator.locks
		?.request(`packetboat-stream-${workspace}`, { signal: abort.signal }, () => {
			open();
			return new Promise<void>((done) => abort.signal.addEventListener("abort", () => done()));
		})
		.catch(() => undefined);
	return () => {
		ended = true;
		askState = () => {};
		abort.abort();
		source?.close();
		channel.close();
		clearTimeout(flush);
	};
}

/** pollEvery returns how often to load something again: not at all while changes are announced. */
export const pollEvery = (ms: number) => () => (state === "live" ? false : ms * (0.8 + Math.random() * 0.4));
