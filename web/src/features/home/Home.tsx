import { useQuery } from "@tanstack/react-query";
import { Check, Circle, X } from "lucide-react";
import { Suspense, useState } from "react";
import { Link } from "wouter";
import { lazyComponent } from "../../base/lazy";
import { useParam } from "../../base/params";
import { useOptions, useDisabledReason } from "../../base/session";
import { StateBadge } from "../../ui/Badge";
import { Button, IconButton, LinkButton } from "../../ui/Button";
import { Figure, Figures } from "../../ui/Figure";
import { Card, Page } from "../../ui/Page";
import { Progress } from "../../ui/Progress";
import { Failure, Skeleton } from "../../ui/States";
import { isOld } from "../../ui/Time";
import { catalogue } from "../../base/words/catalogue";
import { withProblemTexts } from "../../base/words/errors";
import { ago, exactNumber, percent } from "../../base/words/formats";
import { accountTerms, partOf, type Term } from "../../base/words/accountTerms";
import css from "./Home.module.css";
import { missing, optional, type Step, stepWords } from "./steps";
import { Unfinished } from "./Unfinished";
import { overviewQuery } from "./queries";
import { to } from "../../base/paths";

const Setup = lazyComponent(() => import("./Setup"));
const Attention = lazyComponent(() => withProblemTexts(() => import("./Attention")));

const words = catalogue("home.home", {
	title: "Home",
	setup: "Before your email can go out",
	ready: "Everything is set up.",
	worth: "Recommended",
	hide: "Hide: {name}",
	isDone: "Done",
	progress: "{done, number} of {all, number} done",
	begin: "Start",
	beginStep: "Start: {name}",
	isOpen: "To do",
	left: "{count, plural, one {# step is left.} other {# steps are left.}}",
	demo: "Send for real",
	demoText: "The demo keeps all email in its mailbox. Your own workspace also needs these two.",
	live: "In progress",
	month: "Last 30 days",
	sent: "Recipients",
	delivered: "Delivered",
	opened: "Open rate",
	clicked: "Click rate",
	contacts: "Contacts",
	sendable: "Can be mailed",
	counted: "Counted {when}",
	before: "Before: {count}",
	of: "{count, number} of {all, number}",
	sum: "{count, number} {what} ÷ {all, number} emails",
	start: "What next?",
	broadcast: "Write a broadcast",
	segment: "Create a segment",
	sequence: "Start a sequence",
	mailbox: "Open mailbox",
});

/** Where each optional step is made. */
const places: { [key: string]: string } = {
	dmarc: to.sending(),
	second_owner: to.members(),
	segment: to.newSegment(),
	webhooks: to.webhooks(),
};

const dismissedKey = "packetboat-worth-doing";

/** useDismissed is which optional steps are hidden on this device. */
function useDismissed(): [string[], (key: string) => void] {
	const [keys, setKeys] = useState<string[]>(() => {
		try {
			return (localStorage.getItem(dismissedKey) ?? "").split(" ");
		} catch {
			return [];
		}
	});
	return [
		keys,
		(key) => {
			const next = [...keys, key];
			setKeys(next);
			try {
				localStorage.setItem(dismissedKey, next.join(" "));
			} catch {
				// Storage is off: it is shown again next time.
			}
		},
	];
}

/** Home shows what is left to set up, what is sent now, what needs attention, and the last 30 days. */
export default function Home() {
	const overview = useQuery(overviewQuery());
	const [dismissed, dismiss] = useDismissed();
	const [open, setOpen] = useParam("step");
	const options = useOptions();
	const disabledReason = useDisabledReason("POST /broadcasts");
	if (overview.isPending) {
		return (
			<Page title={words.title}>
				<Skeleton rows={10} />
			</Page>
		);
	}
	if (overview.isError) {
		return (
			<Page title={words.title}>
				<Failure error={overview.error} retry={() => void overview.refetch()} />
			</Page>
		);
	}
	const account = overview.data;
	const steps = account.setup.filter((step) => !optional.includes(step.key));
	const relevantSteps = account.setup.filter(
		(step) => optional.includes(step.key) && !step.done && !dismissed.includes(step.key),
	);
	const namedSteps = steps.map((step) => ({ ...step, ...stepWords(step.key) }));
	const current = namedSteps.find((step) => step.key === open);
	const done = steps.every((step) => step.done);
	const { totals: now, previous: before } = account;
	const figure = (term: Term, count?: number) => ({
		definition: term.definition,
		sum:
			count === undefined || now.total_recipients === 0
				? undefined
				: words.sum({ count, what: partOf(term), all: now.total_recipients }),
		asOf: new Date(overview.dataUpdatedAt).toISOString(),
		report: to.reports(),
	});
	const sent = now.total_recipients + before.total_recipients;
	return (
		<Page
			title={words.title}
			actions={
				done && (
					<LinkButton variant="primary" to={to.newBroadcast()} disabledReason={disabledReason}>
						{words.broadcast}
					</LinkButton>
				)
			}
		>
			{!done && (
				<Card
					title={words.setup}
					actions={
						<span className={css.muted}>
							{words.progress({ done: steps.filter((step) => step.done).length, all: steps.length })}
						</span>
					}
				>
					<Steps steps={steps} next={namedSteps.find((step) => !step.done)?.key} onOpen={setOpen} />
				</Card>
			)}
			{done && options.data?.demo && (
				<Card title={words.demo}>
					<p>{words.demoText}</p>
					<Steps
						steps={steps
							.filter((step) => step.key === "mta_config" || step.key === "sending_domain")
							.map((step) => ({ ...step, done: false }))}
						onOpen={setOpen}
					/>
				</Card>
			)}
			<p className="visually-hidden" role="status">
				{done ? words.ready : words.left({ count: steps.filter((step) => !step.done).length })}
			</p>
			{account.attention.length > 0 && (
				<Suspense>
					<Attention notices={account.attention} />
				</Suspense>
			)}
			{account.live.length > 0 && (
				<Card title={words.live}>
					{account.live.map((broadcast) => (
						<div key={broadcast.id} className={css.live}>
							<p>
								<Link href={to.broadcast(broadcast.id)}>{broadcast.name}</Link>{" "}
								<StateBadge kind="broadcast" state={broadcast.status} />
							</p>
							{broadcast.delivery_progress && (
								<Progress
									label={broadcast.name}
									value={broadcast.delivery_progress.sent}
									max={broadcast.delivery_progress.total_recipients}
									text={words.of({
										count: broadcast.delivery_progress.sent,
										all: broadcast.delivery_progress.total_recipients,
									})}
								/>
							)}
						</div>
					))}
				</Card>
			)}
			<Unfinished />
			<Card title={words.month}>
				<Figures>
					<Figure
						name={words.sent}
						value={exactNumber(now.total_recipients)}
						detail={sent > 0 ? words.before({ count: exactNumber(before.total_recipients) }) : undefined}
						description={figure(accountTerms.mails)}
					/>
					<Figure
						name={words.delivered}
						value={exactNumber(now.total_delivered)}
						detail={sent > 0 ? words.before({ count: exactNumber(before.total_delivered) }) : undefined}
						description={figure(accountTerms.mailsDelivered)}
					/>
					<Figure
						name={words.opened}
						value={now.total_recipients ? percent(now.verified_open_rate) : "–"}
						detail={before.total_recipients ? words.before({ count: percent(before.verified_open_rate) }) : undefined}
						description={figure(accountTerms.openedThen, now.verified_opened)}
					/>
					<Figure
						name={words.clicked}
						value={now.total_recipients ? percent(now.click_rate) : "–"}
						detail={before.total_recipients ? words.before({ count: percent(before.click_rate) }) : undefined}
						description={figure(accountTerms.clickedThen, now.total_clicked)}
					/>
					<Figure
						name={words.contacts}
						value={exactNumber(account.counts.contacts)}
						description={{ definition: accountTerms.contacts.definition, people: to.contacts() }}
					/>
					<Figure
						name={words.sendable}
						value={account.counts.sendable === null ? "–" : exactNumber(account.counts.sendable)}
						detail={
							isOld(account.counts.counted_at)
								? words.counted({ when: ago(account.counts.counted_at ?? "") })
								: undefined
						}
						description={{
							definition: accountTerms.mailable.definition,
							asOf: account.counts.counted_at,
							people: to.segment("all_sendable", { tab: "members" }),
						}}
					/>
				</Figures>
			</Card>
			{relevantSteps.length > 0 && (
				<Card title={words.worth}>
					<Steps steps={relevantSteps} onDismiss={dismiss} />
				</Card>
			)}
			{done && (
				<Card title={words.start}>
					<div className={css.next}>
						<LinkButton to={to.sequences()}>{words.sequence}</LinkButton>
						<LinkButton to={to.newSegment()}>{words.segment}</LinkButton>
						<LinkButton to={to.mailbox()}>{words.mailbox}</LinkButton>
					</div>
				</Card>
			)}
			{current && (
				<Suspense>
					<Setup
						step={current}
						next={namedSteps.find((step) => !step.done)}
						onOpen={setOpen}
						onClose={() => setOpen("")}
					/>
				</Suspense>
			)}
		</Page>
	);
}

/** Steps lists rows of the checklist. Each opens its drawer, or the page where it is done. */
function Steps({
	steps,
	next,
	onOpen,
	onDismiss,
}: {
	steps: Step[];
	next?: string;
	onOpen?: (key: string) => void;
	onDismiss?: (key: string) => void;
}) {
	return (
		<ol className={css.steps}>
			{steps.map((step) => {
				const { name } = stepWords(step.key);
				return (
					<li key={step.key} data-done={step.done || undefined}>
						{step.done ? <Check aria-label={words.isDone} size={18} /> : <Circle aria-label={words.isOpen} size={18} />}
						<div>
							{onOpen ? (
								<button type="button" className={css.open} onClick={() => onOpen(step.key)}>
									{name}
								</button>
							) : (
								<Link href={places[step.key] ?? to.home()}>{name}</Link>
							)}
							<p>{missing(step)}</p>
						</div>
						{onOpen && step.key === next && (
							<Button small variant="primary" aria-label={words.beginStep({ name })} onClick={() => onOpen(step.key)}>
								{words.begin}
							</Button>
						)}
						{onDismiss && (
							<IconButton
								small
								label={words.hide({ name })}
								icon={<X aria-hidden />}
								onClick={() => onDismiss(step.key)}
							/>
						)}
					</li>
				);
			})}
		</ol>
	);
}
