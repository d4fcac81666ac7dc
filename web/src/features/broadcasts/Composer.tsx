import { useMutation } from "@tanstack/react-query";
import { Suspense, useCallback, useEffect, useRef, useState } from "react";
import { Redirect, useLocation, useParams } from "wouter";
import type { Versioned } from "../../api/client";
import type { BroadcastSessionView } from "../../api/schema";
import { storesDrafts } from "../../sync/deviceStorage";
import { useDisabledReason } from "../../base/session";
import { useShortcuts } from "../../base/shortcuts";
import { StateBadge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import type { CodeControl } from "../../ui/Code";
import { TextField } from "../../ui/Field";
import { isGone, NotFound } from "../../ui/NotFound";
import { Card, Callout, Page } from "../../ui/Page";
import { Panes, usePane, useWide } from "../../ui/Panes";
import { Fixed } from "../../ui/Locked";
import { catalogue } from "../../base/words/catalogue";
import { dateTime } from "../../base/words/formats";
import { explain } from "../../base/words/errors";
import { lazyComponent } from "../../base/lazy";
import { Skeleton } from "../../ui/States";
import type { Place } from "../../ui/focusField";
import { Audience } from "./Audience";
import css from "./Composer.module.css";
import { Content } from "./Content";
import { Countdown } from "./Countdown";
import { Delivery } from "./Delivery";
import { type Draft, useBroadcast, useBroadcastDraft } from "./draft";
import { refusalText } from "./partNames";
import { useForecast } from "./forecast";
import { From } from "./From";
import { MergedChangesCallout, Merge } from "./Merge";
import { isBody, type MailAt, Opened, Preview, useMail } from "./Preview";
import { ReviewBar } from "./ReviewBar";
import { startPhase } from "./startPhase";
import { unschedule as takeOff } from "./useStartPhase";
import { focusSection, Reveal, Section } from "./sections";
import { sectionOf } from "./sectionOf";
import { sections, useSummaries } from "./summaries";
import { useMjmlView } from "../source/useMjmlView";
import { to } from "../../base/paths";

const Schedule = lazyComponent(() => import("./Schedule").then((module) => ({ default: module.Schedule })));
const NotShown = lazyComponent(() => import("../source/NotShown").then((module) => ({ default: module.NotShown })));

const Variants = lazyComponent(() => import("./Variants").then((module) => ({ default: module.Variants })));
const TestSend = lazyComponent(() => import("./TestSend").then((module) => ({ default: module.TestSend })));

const words = catalogue("broadcasts.composer", {
	broadcasts: "Broadcasts",
	name: "Internal name",
	untitled: "Untitled",
	audience: "Audience",
	from: "From",
	content: "Content",
	variants: "Versions",
	delivery: "Delivery",
	test: "Send test",
	send: "Review and send",
	saving: "Saving",
	saved: "Saved {at, time}",
	allSaved: "Saved",
	brought: "Restored from this device. {saved}",
	refused: "{count, plural, one {Not saved: {first}} other {Not saved: # problems}}",
	offline: "Kept on this device: {problem}",
	alone: "Only on this page: {problem}",
	conflict: "Not saved: choose between two versions",
	conflictTitle: "Somebody else changed the same parts of this draft",
	choose: "Choose",
	scheduled: "This is scheduled for {when}. To change it, unschedule it first.",
	unschedule: "Unschedule and edit",
});

/** The checks that a section has passed when it is finished. */
const guards: { [section: string]: string[] } = {
	audience: ["segment"],
	from: ["email_type", "mta", "identity"],
	content: ["content"],
};

/** initiallyFolded returns the sections that are finished when a draft is opened again. */
function initiallyFolded(broadcast: BroadcastSessionView): Set<string> {
	const readiness = broadcast.view_model.schedule_readiness;
	if (!readiness || !broadcast.scheduled_at) return new Set();
	return new Set(
		sections.filter(
			(section) =>
				!(section === "delivery" && startPhase(broadcast.scheduled_at, Date.now()) === "over") &&
				!readiness.reasons.some((reason) => guards[section]?.includes(reason.guard)) &&
				!(
					section === "audience" &&
					readiness.warnings.some((warning) => warning.code === "EMPTY_AUDIENCE" || warning.code === "AUDIENCE_UNKNOWN")
				),
		),
	);
}

/** Composer is the page on which a broadcast is written, from its audience to its sending. */
export default function Composer() {
	const { id = "" } = useParams<{ id: string }>();
	const query = useBroadcast(id);
	const breadcrumbs = [{ name: words.broadcasts, to: to.broadcasts() }];
	if (!query.data || isGone(query.error))
		return (
			<NotFound
				query={query}
				list={words.broadcasts}
				to={to.broadcasts()}
				breadcrumbs={breadcrumbs}
				unsavedInput={{ kinds: ["broadcast"], id }}
			/>
		);
	return <ComposerEditor key={id} server={query.data} query={query} />;
}

function ComposerEditor({
	server,
	query,
}: {
	server: Versioned<BroadcastSessionView>;
	query: ReturnType<typeof useBroadcast>;
}) {
	const draft = useBroadcastDraft(server, query);
	if (draft.saved.status !== "draft" && draft.saved.status !== "scheduled")
		return <Redirect to={to.broadcast(draft.saved.id)} replace />;
	return (
		<Opened value={draft.isRestored}>
			<Editor draft={draft} saved={draft.saved} value={draft.value} />
		</Opened>
	);
}

function stateText(draft: Draft): string {
	const status = draft.status;
	switch (status.kind) {
		case "saving":
		case "unsaved":
			return words.saving;
		case "refused":
			return words.refused({
				count: status.problems.length,
				first: status.problems[0] ? refusalText(status.problems[0]) : "",
			});
		case "conflict":
			return words.conflict;
		case "offline":
			return (storesDrafts() ? words.offline : words.alone)({ problem: explain(status.error) });
		default: {
			if (!status.at) return words.allSaved;
			const saved = words.saved({ at: status.at });
			return draft.restored === "device" ? words.brought({ saved }) : saved;
		}
	}
}

function Editor({
	draft,
	saved,
	value: broadcast,
}: {
	draft: Draft;
	saved: BroadcastSessionView;
	value: BroadcastSessionView;
}) {
	const [, navigate] = useLocation();
	const disabledReason = useDisabledReason("PUT /broadcasts/{broadcast_id}");
	const testDisabledReason = useDisabledReason("POST /broadcasts/{broadcast_id}/test-send");
	const sendDisabledReason = useDisabledReason("POST /broadcasts/{broadcast_id}/schedule");
	const [testing, setTesting] = useState(false);
	const [scheduling, setScheduling] = useState(false);
	const [showsMerge, setShowsMerge] = useState(true);
	const [reviewing, setReviewing] = useState(false);
	const [, showPane] = usePane();
	const [place, setPlace] = useState<(Place & { path: string }) | null>(null);
	const mail = useMail(broadcast);
	const isWide = useWide();
	const { view } = useMjmlView();
	const [stage, setStage] = useState<HTMLElement | null>(null);
	const [folded, setFolded] = useState(() => initiallyFolded(saved));
	const locked = saved.status === "scheduled";
	const control = useRef<CodeControl>(null);
	const changeHtml = (body_html: string) => draft.change({ content: { body_html, body_mjml: null } });
	const html = locked || disabledReason ? null : { control, onChange: changeHtml };
	const forecast = useForecast(saved);
	const unschedule = useMutation({
		mutationFn: () => takeOff(saved.id),
		onSettled: () => void draft.query.refetch(),
	});
	const openSchedule = async () => {
		await draft.flush();
		await draft.query.refetch();
		setScheduling(true);
	};
	useShortcuts({
		"mod+s": () => void draft.flush(),
		"mod+enter": () => !locked && !sendDisabledReason && void openSchedule(),
	});
	useEffect(() => {
		// What is refused is kept as a working copy; without the server and without storage there is only this page.
		if (draft.status.kind !== "offline" || storesDrafts()) return;
		const stay = (e: BeforeUnloadEvent) => e.preventDefault();
		window.addEventListener("beforeunload", stay);
		return () => window.removeEventListener("beforeunload", stay);
	}, [draft.status.kind]);
	const fold = (section: string, open: boolean) =>
		setFolded((now) => {
			const next = new Set(now);
			if (open) next.delete(section);
			else next.add(section);
			return next;
		});
	const reveal = useCallback(
		(section: string, path?: string, place?: Place) => {
			setFolded((now) => new Set([...now].filter((id) => id !== section)));
			setReviewing(false);
			showPane(section === "preview" ? "preview" : "write");
			setTimeout(() => {
				if (section === "preview") showFooter();
				else if (place && path && isCode(path)) setPlace({ ...place, path });
				else focusSection(section, path, place);
			}, 50);
		},
		[showPane],
	);
	const written = mail.code?.path ?? "";
	const isOpen = written !== "" && !folded.has(sectionOf(written));
	const isDesigned = !locked && isWide && isOpen && view === "design" && written.endsWith("body_mjml") && mail.isShown;
	const mailAt: MailAt = (path) => ({
		picture: path === written ? mail.picture : null,
		// A design in a section that is closed, or of another version, has no picture.
		stage: path !== written || !isOpen ? null : isWide ? stage : undefined,
		problems: path === written ? mail.problems : undefined,
		// Beside the mail, that says it.
		notice: path === written && !isWide && mail.notShown && (
			<Suspense>
				<NotShown
					{...mail.notShown}
					onGo={({ field, line }) => {
						const path = isBody(field) ? written : field;
						reveal(sectionOf(path), path, isBody(field) ? { at: line ?? 1 } : undefined);
					}}
				/>
			</Suspense>
		),
		place: path === place?.path ? place : null,
	});
	const summaries = useSummaries(broadcast, locked, forecast.data);
	const status = draft.status;
	const section = (id: (typeof sections)[number], children: React.ReactNode) => (
		<Section id={id} title={words[id]} summary={summaries[id]} open={!folded.has(id)} onOpen={(open) => fold(id, open)}>
			<Fixed locked={disabledReason !== undefined && id !== "content"}>{children}</Fixed>
		</Section>
	);
	return (
		<Page
			wide
			title={broadcast.name || words.untitled}
			breadcrumbs={[{ name: words.broadcasts, to: to.broadcasts() }]}
			status={<StateBadge kind="broadcast" state={saved.status} />}
			actions={
				<>
					<span
						className={css.saving}
						role="status"
						data-bad={status.kind === "refused" || status.kind === "conflict" || status.kind === "offline" || undefined}
					>
						{stateText(draft)}
					</span>
					<Button disabledReason={testDisabledReason} onClick={() => setTesting(true)}>
						{words.test}
					</Button>
					{!locked && (
						<Button
							variant="primary"
							disabledReason={sendDisabledReason ?? (status.kind === "conflict" ? words.conflict : undefined)}
							onClick={() => void openSchedule()}
						>
							{words.send}
						</Button>
					)}
				</>
			}
		>
			{locked && saved.scheduled_at && (
				<Callout tone="progress" title={words.scheduled({ when: dateTime(saved.scheduled_at) })}>
					<p>
						<Countdown to={saved.scheduled_at} />
					</p>
					<Button
						small
						busy={unschedule.isPending}
						disabledReason={sendDisabledReason}
						onClick={() => unschedule.mutate()}
					>
						{words.unschedule}
					</Button>
					{unschedule.error && <p>{explain(unschedule.error)}</p>}
				</Callout>
			)}
			{disabledReason && !locked && <Callout>{disabledReason}</Callout>}
			{draft.mergedChanges && (
				<MergedChangesCallout mergedChanges={draft.mergedChanges} onDismiss={draft.dismissJoined} />
			)}
			{draft.conflict && (
				<Callout tone="warning" title={words.conflictTitle}>
					<Button small onClick={() => setShowsMerge(true)}>
						{words.choose}
					</Button>
				</Callout>
			)}
			<Reveal value={reveal}>
				<div className={css.composer}>
					<Panes
						preview={
							<Preview
								value={broadcast}
								mail={mail}
								html={html}
								stage={isDesigned ? setStage : undefined}
								onReveal={reveal}
							/>
						}
						write={
							locked ? (
								sections.map((id) => (
									<Card key={id} id={id} title={words[id]}>
										<p className={css.summary}>{summaries[id]}</p>
									</Card>
								))
							) : (
								<fieldset className={css.sections}>
									<legend className="visually-hidden">{broadcast.name}</legend>
									<Card id="name">
										<Fixed locked={disabledReason !== undefined}>
											<TextField
												label={words.name}
												value={broadcast.name}
												path="name"
												maxLength={200}
												error={draft.problem("name")}
												onChange={(name) => draft.change({ name })}
											/>
										</Fixed>
									</Card>
									{section("audience", <Audience draft={draft} value={broadcast} forecast={forecast} />)}
									{section("from", <From draft={draft} value={broadcast} forecast={forecast} />)}
									{section(
										"content",
										<Content
											draft={draft}
											value={broadcast}
											fixed={disabledReason !== undefined}
											mailAt={mailAt}
											html={control}
										/>,
									)}
									{section(
										"variants",
										<Suspense fallback={<Skeleton rows={2} />}>
											<Variants draft={draft} value={broadcast} forecast={forecast} mailAt={mailAt} />
										</Suspense>,
									)}
									{section("delivery", <Delivery draft={draft} value={broadcast} forecast={forecast} />)}
								</fieldset>
							)
						}
					/>
				</div>
				{!locked && (
					<ReviewBar
						saved={saved}
						unsaved={draft.problems}
						forecast={forecast}
						open={reviewing}
						onOpen={setReviewing}
						onChanged={() => void draft.query.refetch()}
					/>
				)}
				<Suspense>
					{testing && (
						<TestSend
							flush={() => draft.flush()}
							value={saved}
							senders={forecast.data?.senders.length ?? Math.max(1, saved.sending_identity_emails?.length ?? 1)}
							onClose={() => setTesting(false)}
						/>
					)}
					{scheduling && (
						<Schedule
							draft={draft}
							saved={saved}
							onClose={() => setScheduling(false)}
							onDone={() => navigate(to.broadcast(saved.id))}
						/>
					)}
				</Suspense>
			</Reveal>
			{draft.conflict && showsMerge && (
				<Merge conflict={draft.conflict} onResolve={draft.settle} onClose={() => setShowsMerge(false)} />
			)}
		</Page>
	);
}

/** isCode reports whether a field is edited in a code editor. */
const isCode = (path: string) => /^content\.body_(mjml|html)$|\.body_mjml$/.test(path);

/** showFooter puts the focus on the mail in the preview, and shows its end. */
function showFooter() {
	const stage = document.querySelector<HTMLElement>("#preview [tabindex='0']");
	stage?.focus();
	stage?.scrollTo({ top: stage.scrollHeight });
	stage?.scrollIntoView({ block: "end" });
}
