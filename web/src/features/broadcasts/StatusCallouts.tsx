import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import type { BroadcastSessionView, FailureInfo } from "../../api/schema";
import { useCollection } from "../../base/collections";
import { StateBadge } from "../../ui/Badge";
import { Callout } from "../../ui/Page";
import { catalogue } from "../../base/words/catalogue";
import { dateTime } from "../../base/words/formats";
import { stateOf } from "../../base/words/status";
import css from "./Report.module.css";
import { sentenceFor } from "../../base/words/errors";
import { attemptError } from "../../base/words/replies";
import { domainsQuery } from "../sending/queries";
import { to } from "../../base/paths";

const words = catalogue("broadcasts.stopped", {
	gone: "The cause is resolved. You can resume.",
	active: "You can resume once the cause is resolved.",
	configs: "Sending servers",
	types: "Email types",
	senders: "Senders",
	account: "Workspace settings",
	failed: "The send failed on {at}",
	count: "{count, plural, one {# email failed.} other {# emails failed.}}",
	samples: "Some of them",
	all: "All failures",
	fixes: {
		EMAIL_TYPE_DELETED: "Duplicate the broadcast and choose another email type.",
		MTA_CONFIG_DELETED: "Duplicate the broadcast and choose another sending server.",
		NO_IDENTITY: "Make a sender of this email type usable, then duplicate the broadcast.",
		RENDER_FAILED: "Duplicate the broadcast and correct its content.",
		ALL_FAILED: "Check why the emails failed, fix it, then duplicate the broadcast.",
	},
});

const fixPages = (): { [code: string]: { to: string; name: string } } => ({
	EMAIL_TYPE_DELETED: { to: to.emailTypes(), name: words.types },
	MTA_CONFIG_DELETED: { to: to.sending(), name: words.configs },
	NO_IDENTITY: { to: to.senders(), name: words.senders },
});

/** PauseCallout says why a send is paused, what is behind it, and whether it can go on. */
export function PauseCallout({ broadcast }: { broadcast: BroadcastSessionView }) {
	const reason = broadcast.pause_reason ?? "user";
	const platform = reason !== "user";
	const lanes = useCollection("mta_configs", { enabled: reason === "capacity_collapsed" });
	const domains = useQuery({ ...domainsQuery(), enabled: reason === "domain_paused" });
	const state = stateOf("pause", reason);
	const can = broadcast.view_model.available_actions.includes("resume");
	const failingLanes = (lanes.data?.data ?? []).filter((lane) => lane.health.state !== "healthy");
	const paused = (domains.data?.data ?? []).filter((domain) => domain.paused);
	return (
		<Callout tone="warning" title={`${state.word}. ${state.sentence ?? ""}`}>
			{platform && <p>{can ? words.gone : words.active}</p>}
			<ul className={css.causes}>
				{failingLanes.map((lane) => (
					<li key={lane.id}>
						<Link href={to.mta(lane.id)}>{lane.name}</Link> <StateBadge kind="mta" state={lane.health.state} />{" "}
						{lane.health.last_error && attemptError(lane.health.last_error)}
					</li>
				))}
				{paused.map((domain) => (
					<li key={domain.id}>
						<Link href={to.domain(domain.id)}>{domain.domain}</Link>{" "}
						{stateOf("domainPause", domain.pause_reason ?? "").word}
					</li>
				))}
				{reason === "tenant_paused" && (
					<li>
						<Link href={to.account()}>{words.account}</Link>
					</li>
				)}
			</ul>
		</Callout>
	);
}

/** FailureCallout says why a send failed, with samples and what to do. */
export function FailureCallout({ id, failure }: { id: string; failure: FailureInfo }) {
	const fix = (words.fixes as { [code: string]: string })[failure.code];
	const page = fixPages()[failure.code];
	return (
		<Callout tone="danger" title={words.failed({ at: dateTime(failure.failed_at) })}>
			<p>{sentenceFor(failure.code, failure.message)}</p>
			{fix && (
				<p>
					{fix} {page && <Link href={page.to}>{page.name}</Link>}
				</p>
			)}
			{failure.failed_count > 0 && (
				<p>
					{words.count({ count: failure.failed_count })}{" "}
					<Link href={to.broadcast(id, { tab: "people", status: "failed" })}>{words.all}</Link>
				</p>
			)}
			{failure.samples.length > 0 && (
				<ul className={css.causes} aria-label={words.samples}>
					{failure.samples.map((sample) => (
						<li key={sample.email}>
							{sample.email}: {attemptError(sample.error)}
						</li>
					))}
				</ul>
			)}
		</Callout>
	);
}
