import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { url } from "../../api/client";
import type { JobSession } from "../../api/schema";
import { to } from "../../base/paths";
import { ofContacts } from "../../base/queries";
import { isRunning } from "../../base/shell";
import { catalogue } from "../../base/words/catalogue";
import { explain, sentenceFor } from "../../base/words/errors";
import { Button, LinkButton } from "../../ui/Button";
import { Card } from "../../ui/Page";
import { Failure, Skeleton } from "../../ui/States";
import { toast } from "../../ui/Toast";
import { JobBadge } from "../jobs/JobBadge";
import { jobQuery } from "../jobs/queries";
import { Counts } from "./Counts";
import { Faults } from "./Faults";
import css from "./Import.module.css";
import { type ImportResult, type Report, resultOf } from "./report";
import { Running } from "./Running";
import { UndoButton, UndoJob, UndoneBy } from "./Undo";
import type { Preset } from "./Wizard";

const words = catalogue("imports.job", {
	running: "Import",
	checking: "File check",
	leave: "You can leave this page. The import continues.",
	errors: "Download rows with errors",
	again: "Import another file",
	retry: "Retry these rows",
	retryHelp: "Use this after adding the missing fields or stages. Otherwise correct the downloaded file and import it.",
	omitted:
		"{count, plural, one {# more row with an error is not in the file.} other {# more rows with errors are not in the file.}}",
	fileName: "rows-with-errors.csv",
	see: "View contacts",
	seeThese: "View these contacts",
});

const errorsOf = (id: string) => url("GET /jobs/{id}/download", { id }, { file: "errors" });

/** peopleOf returns the page of the contacts that have the tags of an import, or of all if it has none. */
const peopleOf = (tags: string[]) =>
	to.contacts(
		tags.length > 0 ? { filters: JSON.stringify([{ field: "tags", operator: "has_all", value: tags }]) } : {},
	);

/** ImportJob shows an import while it runs and when it has ended. */
export function ImportJob({
	id,
	onAgain,
	onRetry,
}: {
	id: string;
	onAgain: () => void;
	onRetry: (rows: File, preset: Preset | null) => void;
}) {
	const client = useQueryClient();
	const job = useQuery(jobQuery(id));
	const applied = job.data?.status === "completed" && !resultOf(job.data)?.dry_run;
	useEffect(() => {
		if (applied) void client.invalidateQueries(ofContacts());
	}, [applied, client]);
	if (job.isPending) return <Skeleton rows={3} />;
	if (job.isError) return <Failure error={job.error} retry={() => void job.refetch()} />;
	const j = job.data;
	if (j.type === "import_undo") return <UndoJob job={j} />;
	const result = resultOf(j);
	const undoneBy = result?.undo?.job_id;
	return (
		<>
			<Card title={result?.dry_run ? words.checking : words.running} actions={<JobBadge job={j} />}>
				{isRunning(j) && <Running job={j} label={words.running} help={words.leave} />}
				{j.error && <Failure error={new Error(sentenceFor(j.error.code, j.error.message))} />}
				{result && <Counts result={result} would={result.dry_run} />}
				{result?.report && <Faults report={result.report} />}
				{!isRunning(j) && <Ended job={j} result={result} onAgain={onAgain} onRetry={onRetry} />}
			</Card>
			{undoneBy && <UndoneBy id={undoneBy} of={id} />}
		</>
	);
}

/** Ended offers what can be done after an import: its people, and the rows that it refused. */
function Ended({
	job,
	result,
	onAgain,
	onRetry,
}: {
	job: JobSession;
	result: ImportResult | undefined;
	onAgain: () => void;
	onRetry: (rows: File, preset: Preset | null) => void;
}) {
	const listed = result ? result.invalid + (result.unfit ?? 0) : 0; // rows in the errors file, if it had room
	const kept = listed > 0 && job.files_until !== null;
	const tags = result?.report?.options?.tags ?? [];
	return (
		<>
			{result?.errors_omitted && <p className={css.muted}>{words.omitted({ count: result.errors_omitted })}</p>}
			<div className={css.actions}>
				{!result?.dry_run && (
					<LinkButton variant="primary" to={peopleOf(tags)}>
						{tags.length > 0 ? words.seeThese : words.see}
					</LinkButton>
				)}
				{kept && (
					<a href={errorsOf(job.id)} download>
						{words.errors}
					</a>
				)}
				{kept && <Retry id={job.id} report={result?.report} onRetry={onRetry} />}
				<Button onClick={onAgain}>{words.again}</Button>
			</div>
			{result && <UndoButton job={job} result={result} />}
		</>
	);
}

/** Retry begins another import, of the rows that this one refused, with its options. The server knows their columns. */
function Retry({
	id,
	report,
	onRetry,
}: {
	id: string;
	report: Report | undefined;
	onRetry: (rows: File, preset: Preset | null) => void;
}) {
	const load = useMutation({
		mutationFn: async () => {
			const answer = await fetch(errorsOf(id));
			if (!answer.ok) throw new Error(answer.statusText);
			return new File([await answer.blob()], words.fileName, { type: "text/csv" });
		},
		onSuccess: (rows) => onRetry(rows, report ? { ...report.options, tags: report.options?.tags ?? [] } : null),
		onError: (error) => toast(explain(error), { tone: "danger" }),
	});
	return (
		<Button busy={load.isPending} title={words.retryHelp} onClick={() => load.mutate()}>
			{words.retry}
		</Button>
	);
}
