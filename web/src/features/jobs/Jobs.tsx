import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { Link } from "wouter";
import { api, url } from "../../api/client";
import type { JobSession } from "../../api/schema";
import { useParam } from "../../base/params";
import { useDisabledReason } from "../../base/session";
import { jobsChanged } from "../../base/shell";
import { Button, LinkButton } from "../../ui/Button";
import { Select } from "../../ui/Field";
import { List } from "../../ui/List";
import { Page } from "../../ui/Page";
import { Progress } from "../../ui/Progress";
import { Empty, Failure, NoMatch, Skeleton } from "../../ui/States";
import { Time } from "../../ui/Time";
import { toast } from "../../ui/Toast";
import { catalogue } from "../../base/words/catalogue";
import { jobTitle } from "../../base/words/jobTitles";
import { exact, exactNumber } from "../../base/words/formats";
import { explain, sentenceFor } from "../../base/words/errors";
import { JobBadge } from "./JobBadge";
import { pageOf } from "./jobPage";
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
	types: { import: "Imports", import_undo: "Undone imports", export: "Exports", bulk: "Bulk actions" },
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
		deleted: "{count, number} deleted",
		restored: "{count, number} changed back",
		skipped: "{count, number} skipped",
		invalid: "{count, number} invalid",
	},
	of: "{count, number} of {total, number}",
});

/** resultOf says what a job has done, and why it failed. */
function resultOf(job: JobSession): string {
	const result = (job.result ?? {}) as { [name: string]: unknown };
	const counts = Object.entries(words.counts).flatMap(([name, message]) => {
		const n = result[name];
		return typeof n === "number" ? [{ n, text: message({ count: n }) }] : [];
	});
	const some = counts.filter((count) => count.n > 0);
	const done = (some.length > 0 ? some : job.error ? [] : counts.slice(0, 1)).map((count) => count.text).join(", ");
	if (!job.error) return done;
	const failed = sentenceFor(job.error.code, job.error.message);
	return done ? words.failed({ message: failed, done }) : failed;
}

const day = 86_400_000;

/** Jobs lists imports, exports and bulk actions. */
export default function Jobs() {
	const client = useQueryClient();
	const disabledReason = useDisabledReason("POST /jobs/{id}/cancel");
	const importDisabledReason = useDisabledReason("POST /contacts/import");
	const [type, setType] = useParam("type");
	const [mine, setMine] = useParam("mine");
	const jobs = useInfiniteQuery(jobsQuery(type, mine === "true"));
	const cancel = useMutation({
		mutationFn: (id: string) => api("POST /jobs/{id}/cancel", { path: { id } }),
		onSettled: () => jobsChanged(client),
		onError: (error) => toast(explain(error), { tone: "danger" }),
	});
	const rows = jobs.data?.pages.flatMap((page) => page.data) ?? [];
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
						<LinkButton variant="primary" to={to.contactImport()} disabledReason={importDisabledReason}>
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
						type !== "" && {
							name: (words.types as { [key: string]: string })[type] ?? type,
							remove: () => setType(""),
						},
						mine !== "" && { name: words.mine, remove: () => setMine("") },
					]}
				/>
			) : (
				<List
					label={words.title}
					rows={rows}
					rowKey={(job) => job.id}
					columns={[
						{ id: "what", name: words.what, cell: (job) => <Link href={pageOf(job)}>{jobTitle(job.title)}</Link> },
						{
							id: "status",
							beside: true,
							name: words.status,
							cell: (job) => <JobBadge job={job} />,
						},
						{
							id: "result",
							name: words.result,
							cell: (job) =>
								job.status === "running" ? (
									<Progress
										label={jobTitle(job.title)}
										value={job.progress.processed}
										max={job.progress.total}
										text={
											job.progress.total
												? words.of({ count: job.progress.processed, total: job.progress.total })
												: exactNumber(job.progress.processed)
										}
									/>
								) : (
									resultOf(job)
								),
						},
						{ id: "by", name: words.by, cell: (job) => <span className={css.line}>{job.created_by.name}</span> },
						{ id: "when", name: words.when, cell: (job) => <Time at={job.created_at} /> },
						{
							id: "actions",
							name: "",
							end: true,
							cell: (job) => (
								<span className={css.actions}>
									{(job.status === "queued" || job.status === "running") && (
										<Cancel
											disabledReason={disabledReason}
											busy={cancel.isPending && cancel.variables === job.id}
											onCancel={() => cancel.mutate(job.id)}
										/>
									)}
									{job.type === "export" && job.status === "completed" && job.files_until && (
										<a href={url("GET /jobs/{id}/download", { id: job.id })} download>
											{words.download}
										</a>
									)}
									{job.type === "import" &&
									job.files_until &&
									(job.result as { invalid?: number } | undefined)?.invalid ? (
										<a href={url("GET /jobs/{id}/download", { id: job.id }, { file: "errors" })} download>
											{words.errors}
										</a>
									) : null}
									{job.files_until && (
										<span className={css.muted} title={exact(job.files_until)}>
											{words.left({
												days: Math.max(0, Math.floor((new Date(job.files_until).getTime() - Date.now()) / day)),
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

/** Cancel cancels a job. When it is removed while it has the focus, the name of the job takes it. */
function Cancel({ disabledReason, busy, onCancel }: { disabledReason?: string; busy: boolean; onCancel: () => void }) {
	const anchorRef = useRef<HTMLSpanElement>(null);
	useEffect(() => {
		const row = anchorRef.current?.closest("tr, li");
		return () => {
			requestAnimationFrame(
				() => document.activeElement === document.body && row?.querySelector("a")?.focus({ preventScroll: true }),
			);
		};
	}, []);
	return (
		<span ref={anchorRef}>
			<Button small disabledReason={disabledReason} busy={busy} onClick={onCancel}>
				{words.cancel}
			</Button>
		</span>
	);
}
