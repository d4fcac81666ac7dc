import { useSyncExternalStore } from "react";
import { Link } from "wouter";
import { catalogue } from "../base/words/catalogue";
import { liveState, subscribeLive } from "../base/liveState";
import { saveAll } from "../sync/pendingSaves";
import css from "./Strip.module.css";
import { useShell } from "../base/shell";
import { useStoresDrafts } from "../sync/deviceStorage";
import { hasNewer, subscribeNewer } from "../base/version";
import { to } from "../base/paths";

const words = catalogue("shell.strip", {
	label: "About this workspace",
	paused: "This workspace is paused. Nothing is sent.",
	offline: "You are offline. Your changes are kept on this device. Sending and deleting have to wait.",
	offlineAlone:
		"You are offline, and this browser keeps nothing. Your changes exist only on this page until you are online again.",
	alone:
		"This browser keeps nothing on this device. Unsaved changes are kept on the server shortly after you make them.",
	newer: "A new version of the application is available.",
	reload: "Reload",
	down: "No mail leaves through {name}.",
	domainPaused: "Sending from {name} is paused.",
	domainFailed: "DNS records of {name} are missing.",
	look: "See why",
	held: "The operator of this installation has put all sends on hold. Nothing is sent until they are released.",
	trial: "Trial: all email goes to the built-in mailbox.",
	open: "Open mailbox",
	change: "Change how mail leaves",
	account: "Workspace",
});

/** Strip is the one line under the top bar. */
export function Strip() {
	const line = useLine();
	return line && <section aria-label={words.label}>{line}</section>;
}

/** useLine returns the most important of what concerns the whole workspace. */
function useLine() {
	const newer = useSyncExternalStore(subscribeNewer, hasNewer);
	const live = useSyncExternalStore(subscribeLive, liveState);
	const storesDrafts = useStoresDrafts();
	const shell = useShell().data;
	if (shell?.account.status === "paused") {
		return (
			<p className={`${css.strip} ${css.danger}`}>
				{words.paused} <Link href={to.account()}>{words.account}</Link>
			</p>
		);
	}
	if (shell?.held_since) return <p className={`${css.strip} ${css.danger}`}>{words.held}</p>;
	if (live === "offline")
		return <p className={`${css.strip} ${css.warning}`}>{storesDrafts ? words.offline : words.offlineAlone}</p>;
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
	const trouble = shell?.trouble;
	if (!storesDrafts && !trouble) return <p className={css.strip}>{words.alone}</p>;
	if (shell?.trial) {
		return (
			<p className={css.strip}>
				{words.trial} <Link href={to.mailbox()}>{words.open}</Link> <Link href={to.sending()}>{words.change}</Link>
			</p>
		);
	}
	if (!trouble) return null;
	const messages = {
		down: words.down,
		paused: words.domainPaused,
		failed: words.domainFailed,
	}[trouble.state];
	return (
		<p className={`${css.strip} ${css.danger}`}>
			{messages({ name: trouble.name })}{" "}
			<Link href={trouble.kind === "mta" ? to.mta(trouble.target_id) : to.domain(trouble.target_id)}>{words.look}</Link>
		</p>
	);
}
