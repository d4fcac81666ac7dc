import { useQuery } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import { Link } from "wouter";
import { api } from "../api/client";
import { catalogue } from "../words/catalogue";
import { liveState, pollEvery, subscribeLive } from "./live";
import css from "./Strip.module.css";
import { useKey } from "./session";
import { saveAll } from "./leaving";
import { hasNewer, subscribeNewer } from "./version";

const words = catalogue({
	paused: "This workspace is paused. Nothing is sent.",
	offline: "You are offline. What you write is kept on this device; sending and deleting wait.",
	newer: "A new version of the application is there.",
	reload: "Reload",
	down: (name: string) => `No mail leaves through ${name}.`,
	domainPaused: (name: string) => `Sending from ${name} is paused.`,
	domainFailed: (name: string) => `DNS records of ${name} are missing.`,
	look: "See why",
	trial: "Trial: all mail goes to the built-in mailbox.",
	open: "Open the mailbox",
	change: "Change how mail leaves",
	account: "Account",
});

/** Strip is the one line under the top bar: the most important of what concerns the whole workspace. */
export function Strip() {
	const key = useKey();
	const newer = useSyncExternalStore(subscribeNewer, hasNewer);
	const live = useSyncExternalStore(subscribeLive, liveState);
	const account = useQuery({ queryKey: key("account"), queryFn: () => api("GET /settings/account", {}), staleTime: 60_000 });
	const lanes = useQuery({ queryKey: key("mta-configs"), queryFn: () => api("GET /mta-configs", {}), staleTime: 60_000, refetchInterval: pollEvery(60_000) });
	const domains = useQuery({ queryKey: key("domains"), queryFn: () => api("GET /sending-domains", {}), staleTime: 60_000, refetchInterval: pollEvery(60_000) });
	const active = lanes.data?.data.filter((l) => l.active) ?? [];
	if ((account.data as { status?: string } | undefined)?.status === "paused") {
		return (
			<p className={`${css.strip} ${css.danger}`}>
				{words.paused} <Link href="/settings/account">{words.account}</Link>
			</p>
		);
	}
	if (live === "offline") return <p className={`${css.strip} ${css.warning}`}>{words.offline}</p>;
	if (newer) {
		return (
			<p className={css.strip}>
				{words.newer}{" "}
				<button type="button" className={css.action} onClick={() => void saveAll().then(() => location.reload())}>
					{words.reload}
				</button>
			</p>
		);
	}
	if (active.length > 0 && active.every((l) => l.type === "sink")) {
		return (
			<p className={css.strip}>
				{words.trial} <Link href="/mailbox">{words.open}</Link> · <Link href="/sending">{words.change}</Link>
			</p>
		);
	}
	const down = active.find((l) => l.health.state === "down");
	if (down) {
		return (
			<p className={`${css.strip} ${css.danger}`}>
				{words.down(down.name)} <Link href={`/sending/mta/${down.id}`}>{words.look}</Link>
			</p>
		);
	}
	const stopped = domains.data?.data.find((d) => d.paused || d.status === "failed");
	if (stopped) {
		return (
			<p className={`${css.strip} ${css.danger}`}>
				{stopped.paused ? words.domainPaused(stopped.domain) : words.domainFailed(stopped.domain)} <Link href={`/sending/domains/${stopped.id}`}>{words.look}</Link>
			</p>
		);
	}
	return null;
}
