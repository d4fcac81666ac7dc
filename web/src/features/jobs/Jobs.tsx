import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { Link } from "wouter";
import { api, url } from "../../api/client";
import type { JobSession } from "../../api/schema";
import { useParam } from "../../base/params";
import { useWhyNot } from "../../base/session";
import { jobsChanged } from "../../base/shell";
import { StateBadge } from "../../ui/Badge";
import { Button, LinkButton } from "../../ui/Button";
import { Select } from "../../ui/Field";
import { List } from "../../ui/List";
import { Page } from "../../ui/Page";
import { Progress } from "../../ui/Progress";
import { Empty, Failure, NoMatch, Skeleton } from "../../ui/States";
import { Time } from "../../ui/Time";
import { toast } from "../../ui/Toast";
import { catalogue } from "../../base/words/catalogue";
import { exact, full } from "../../base/words/formats";
import { explain, sentenceFor } from "../../base/words/errors";
import { pageOf } from "./place";
import css from "../settings/Settings.module.css";
import { jobsQuery } from "./queries";
import { to } from "../../base/paths";

const words = catalogue("jobs.jobs", {
	title: "Jobs",
	about: "Imports, exports and bulk actions. Files are kept for seven days.",
	what: "Job",
	status: "Status",
	result: "Result",
	by: "By",
	when: "Started",
	cancel: "Cancel",
	download: "Download",
	errors: "Errors",
	more: "Load earlier jobs",
	none: "No jobs yet",
	noMatch: "No job matches",
	import: "Import contacts",
	noneText: "Imports, exports and bulk actions run as jobs.",
	type: "Type",
	all: "All jobs",
	types: { import: "Imports", export: "Exports", bulk: "Bulk actions" },
	whose: "Whose",
	everybody: "Everybody's",
	mine: "Only mine",
	left: "{days, plural, =0 {files for less than a day} one {files for # more day} other {files for # more days}}",
	failed: "{message} Before: {done}",
	counts: {
		rows: "{count, plural, one {# row} other {# rows}}",
		created: "{count, number} created",
		updated: "{count, number} updated",
		affected: "{count, number} changed",
		skipped: "{count, number} skipped",
		invalid: "{count, number} invalid",
	},
	of: "{count, number} of {total, number}",
});

/** resultOf says what a job has done, and why it failed. */
function resultOf(j: JobSession): string {
	const r = (j.result ?? {}) as { [name: string]: unknown };
	const counts = Object.entries(words.counts).flatMap(([name, say]) => {
		const n = r[name];
		return typeof n === "number" ? [{ n, text: say({ count: n }) }] : [];
	});
	const some = counts.filter((c) => c.n > 0);
	const done = (some.length > 0 ? some : j.error ? [] : counts.slice(0, 1)).map((c) => c.text).join(", ");
	if (!j.error) return done;
	const failed = sentenceFor(j.error.code, j.error.message);
	return done ? words.failed({ message: failed, done }) : failed;
}

const day = 86_400_000;

/** Jobs lists imports, exports and bulk actions. */
export default function Jobs() {
	const client = useQueryClient();
	const why = useWhyNot("POST /jobs/{id}/cancel");
	const whyImport = useWhyNot("POST /contacts/import");
	const [type, setType] = useParam("type");
	const [mine, setMine] = useParam("mine");
	const jobs = useInfiniteQuery(jobsQuery(type, mine === "true"));
	const cancel = useMutation({
		mutationFn: (id: string) => api("POST /jobs/{id}/cancel", { path: { id } }),
		onSettled: () => jobsChanged(client),
		onError: (e) => toast(explain(e), { tone: "danger" }),
	});
	const rows = jobs.data?.pages.flatMap((p) => p.data) ?? [];
	const none = jobs.isSuccess && rows.length === 0 && !type && !mine;
	return (
		<Page title={words.title} description={words.about}>
			{!none && (
				<div className={css.filters}>
					<Select
						label={words.type}
						hideLabel
						value={type}
						onChange={setType}
						choices={[
							{ value: "", label: words.all },
							...Object.entries(words.types).map(([value, label]) => ({ value, label })),
						]}
					/>
					<Select
						label={words.whose}
						hideLabel
						value={mine}
						onChange={setMine}
						choices={[
							{ value: "", label: words.everybody },
							{ value: "true", label: words.mine },
						]}
					/>
				</div>
			)}
			{jobs.isPending ? (
				<Skeleton rows={6} />
			) : jobs.isError ? (
				<Failure error={jobs.error} retry={() => void jobs.refetch()} />
			) : none ? (
				<Empty
					title={words.none}
					action={
						<LinkButton look="primary" to={to.contactImport()} why={whyImport}>
							{words.import}
						</LinkButton>
					}
				>
					{words.noneText}
				</Empty>
			) : rows.length === 0 ? (
				<NoMatch
					title={words.noMatch}
					filters={[
						type !== "" && { name: (words.types as { [t: string]: string })[type] ?? type, drop: () => setType("") },
						mine !== "" && { name: words.mine, drop: () => setMine("") },
					]}
				/>
			) : (
				<List
					label={words.title}
					rows={rows}
					rowKey={(j) => j.id}
					columns={[
						{ id: "what", name: words.what, cell: (j) => <Link href={pageOf(j)}>{j.title}</Link> },
						{ id: "status", beside: true, name: words.status, cell: (j) => <StateBadge kind="job" state={j.status} /> },
						{
							id: "result",
							name: words.result,
							cell: (j) =>
								j.status === "running" ? (
									<Progress
										label={j.title}
										value={j.progress.processed}
										max={j.progress.total}
										text={
											j.progress.total
												? words.of({ count: j.progress.processed, total: j.progress.total })
												: full(j.progress.processed)
										}
									/>
								) : (
									resultOf(j)
								),
						},
						{ id: "by", name: words.by, cell: (j) => <span className={css.line}>{j.created_by.name}</span> },
						{ id: "when", name: words.when, cell: (j) => <Time at={j.created_at} /> },
						{
							id: "actions",
							name: "",
							end: true,
							cell: (j) => (
								<span className={css.actions}>
									{(j.status === "queued" || j.status === "running") && (
										<Cancel
											why={why}
											busy={cancel.isPending && cancel.variables === j.id}
											onCancel={() => cancel.mutate(j.id)}
										/>
									)}
									{j.type === "export" && j.status === "completed" && j.files_until && (
										<a href={url("GET /jobs/{id}/download", { id: j.id })} download>
											{words.download}
										</a>
									)}
									{j.type === "import" && j.files_until && (j.result as { invalid?: number } | undefined)?.invalid ? (
										<a href={url("GET /jobs/{id}/download", { id: j.id }, { file: "errors" })} download>
											{words.errors}
										</a>
									) : null}
									{j.files_until && (
										<span className={css.muted} title={exact(j.files_until)}>
											{words.left({
												days: Math.max(0, Math.floor((new Date(j.files_until).getTime() - Date.now()) / day)),
											})}
										</span>
									)}
								</span>
							),
						},
					]}
				/>
			)}
			{jobs.hasNextPage && (
				<div>
					<Button busy={jobs.isFetchingNextPage} onClick={() => void jobs.fetchNextPage()}>
						{words.more}
					</Button>
				</div>
			)}
		</Page>
	);
}

/** Cancel cancels a job. When it goes with the focus, the name of the job takes it. */
function Cancel({ why, busy, onCancel }: { why?: string; busy: boolean; onCancel: () => void }) {
	const here = useRef<HTMLSpanElement>(null);
	useEffect(() => {
		const row = here.current?.closest("tr, li");
		return () => {
			requestAnimationFrame(
				() => document.activeElement === document.body && row?.querySelector("a")?.focus({ preventScroll: true }),
			);
		};
	}, []);
	return (
		<span ref={here}>
			<Button small why={why} busy={busy} onClick={onCancel}>
				{words.cancel}
			</Button>
		</span>
	);
}
