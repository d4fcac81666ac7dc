import type { QueryClient } from "@tanstack/react-query";
import { onAnswer, url } from "../api/client";
import type { Change, Changes } from "../api/schema";
import { type LiveState, liveState, setLiveState } from "./liveState";
import { counting, staleBy, within } from "./queries";
import { compareVersions } from "./version";

// Changes on the server, as one stream of hints for all tabs of a browser: a tab holds the stream, because
// browsers allow six connections to a host, and passes the hints to the others. A hint says that something
// of a type changed; what is on screen is then loaded again. Without a stream, pages poll.

/** invalidate marks the cached answers of a workspace that a change makes stale. */
export function invalidate(client: QueryClient, workspace: string, hint: Change) {
	void client.invalidateQueries({
		predicate: (query) => query.queryKey[0] === workspace && staleBy(hint, query.queryKey),
	});
}

/** requestLiveState finds out whether the stream is open, here or in another tab. */
let requestLiveState = () => {};

const minReconnectDelay = 2000;

/** How long what shows numbers of contacts is not read again after contacts have changed: during a send they do all the time. */
const countsDelay = 5000;
const maxReconnectDelay = 5000;

/** watchAnswers follows whether the server can be reached, and reads the session again when it denies something. */
export function watchAnswers(client: QueryClient) {
	let probe = 0;
	const requestState = () => {
		fetch("/api/auth/options", { cache: "no-store" })
			.then(() => onOnline())
			.catch(() => {
				probe = window.setTimeout(requestState, maxReconnectDelay);
			});
	};
	const onOnline = () => {
		clearTimeout(probe);
		probe = 0;
		if (liveState() !== "offline") return;
		setLiveState("polling");
		requestLiveState(); // the stream may have stayed open
		void client.invalidateQueries();
		void compareVersions();
	};
	const onOffline = () => {
		setLiveState("offline");
		if (!probe) probe = window.setTimeout(requestState, maxReconnectDelay);
	};
	onAnswer((error) => {
		if (error?.status === 0) onOffline();
		else onOnline();
		if (error?.status === 403 || error?.code === "TENANT_NOT_FOUND") void client.invalidateQueries(within("session"));
	});
	window.addEventListener("offline", onOffline);
	window.addEventListener("online", requestState);
}

/** connect follows the changes of a workspace until the returned function is called. */
export function connect(client: QueryClient, workspace: string): () => void {
	const channel = new BroadcastChannel(`packetboat-${workspace}`);
	const pendingChanges = new Map<string, Change>();
	let flush = 0;
	let recount = 0;
	let source: EventSource | null = null;
	let ended = false;
	const abort = new AbortController();
	const receive = (hints: Change[]) => {
		for (const hint of hints) pendingChanges.set(`${hint.type} ${hint.id ?? ""}`, hint);
		if (flush) return;
		flush = window.setTimeout(() => {
			flush = 0;
			const changes = [...pendingChanges.values()];
			for (const change of changes) invalidate(client, workspace, change);
			pendingChanges.clear();
			if (!changes.some((change) => change.type === "contact")) return;
			void client.invalidateQueries({ ...counting(workspace), refetchType: "none" });
			recount ||= window.setTimeout(() => {
				recount = 0;
				void client.invalidateQueries(counting(workspace));
			}, countsDelay);
		}, minReconnectDelay / 4);
	};
	channel.onmessage = (
		event: MessageEvent<{ hints?: Change[]; state?: LiveState; reset?: boolean; ask?: boolean }>,
	) => {
		if (event.data.ask && source?.readyState === EventSource.OPEN) broadcast({ state: "live" });
		if (event.data.state === "live" && liveState() !== "live") void compareVersions(); // the server may have been replaced
		if (event.data.state) setLiveState(event.data.state);
		if (event.data.reset) client.invalidateQueries({ predicate: (query) => query.queryKey[0] === workspace });
		if (event.data.hints) receive(event.data.hints);
	};
	const broadcast = (message: { hints?: Change[]; state?: LiveState; reset?: boolean }) => {
		if (message.state) setLiveState(message.state);
		channel.postMessage(message);
	};
	const open = () => {
		if (ended) return;
		source = new EventSource(url("GET /stream", undefined, undefined, workspace));
		source.onopen = () => {
			broadcast({ state: "live" });
			void compareVersions();
		};
		source.addEventListener("change", (event) => {
			const hints = (JSON.parse(event.data) as Changes).changes;
			receive(hints);
			broadcast({ hints });
		});
		source.addEventListener("reset", () => {
			client.invalidateQueries({ predicate: (query) => query.queryKey[0] === workspace });
			broadcast({ reset: true });
		});
		source.onerror = () => {
			if (liveState() === "live") broadcast({ state: "polling" });
			if (source?.readyState === EventSource.CLOSED) {
				source = null;
				setTimeout(open, 15_000 + Math.random() * 6000);
			}
		};
	};
	requestLiveState = () =>
		source?.readyState === EventSource.OPEN ? setLiveState("live") : channel.postMessage({ ask: true });
	requestLiveState(); // a tab that was opened later
	// The lock is held until this tab closes or leaves the workspace; then another tab opens the stream.
	navigator.locks
		?.request(`packetboat-stream-${workspace}`, { signal: abort.signal }, () => {
			open();
			return new Promise<void>((resolve) => abort.signal.addEventListener("abort", () => resolve()));
		})
		.catch(() => undefined);
	return () => {
		ended = true;
		requestLiveState = () => {};
		abort.abort();
		source?.close();
		channel.close();
		clearTimeout(flush);
		clearTimeout(recount);
	};
}
