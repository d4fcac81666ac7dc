import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { api, url } from "../../api/client";
import { useDisabledReason } from "../../base/session";
import { StateBadge } from "../../ui/Badge";
import { Button, LinkButton } from "../../ui/Button";
import { Progress } from "../../ui/Progress";
import { Failure, Skeleton } from "../../ui/States";
import { toast } from "../../ui/Toast";
import { catalogue } from "../../base/words/catalogue";
import { exactNumber } from "../../base/words/formats";
import { explain, fieldSentence, sentenceFor } from "../../base/words/errors";
import { parseRows } from "../../base/csv";
import css from "./Import.module.css";
import { answer, within } from "../../base/queries";
import { jobQuery } from "../jobs/queries";
import { to } from "../../base/paths";

const words = catalogue("contacts.importJob", {
	checking: "File check",
	running: "Import",
	leave: "You can leave this page. The import continues.",
	cancel: "Cancel",
	rows: "Rows",
	created: "Created",
	updated: "Updated",
	skipped: "Skipped",
	invalid: "Invalid",
	would: { created: "Would be created", updated: "Would be updated", skipped: "Would be skipped", invalid: "Invalid" },
	errors: "Download rows with errors",
	again: "Import another file",
	retry: "Retry these rows",
	retryHelp: "Use this after adding the missing fields or stages. Otherwise correct the downloaded file and import it.",
	first: "The first {count, number} of {all, number} rows with errors",
	all: "{count, plural, one {The row with an error} other {The # rows with errors}}",
	stopped:
		"{count, plural, one {# contact gets no mail because of its status in the file.} other {# contacts get no mail because of their status in the file.}}",
	unfit:
		"{count, plural, one {# row is imported without a value that does not fit its field.} other {# rows are imported without values that do not fit their fields.}}",
	omitted:
		"{count, plural, one {# more row with an error is not in the file.} other {# more rows with errors are not in the file.}}",
	row: "Row",
	column: "Column",
	problem: "Problem",
	fileName: "rows-with-errors.csv",
	value: "Value",
	see: "View contacts",
	of: "{count, number} of {total, number} rows",
	done: "{count, plural, one {# row read} other {# rows read}}",
});

type Result = {
	rows: number;
	created: number;
	updated: number;
	skipped: number;
	invalid: number;
	errors_url?: string;
	errors_omitted?: number;
	stopped?: number;
	unfit?: number;
};

/** How many rows with errors are shown, and how much of their file is read for it. */
const maxRows = 10;
const maxBytes = 64 * 1024;

const errorsOf = (id: string) => url("GET /jobs/{id}/download", { id }, { file: "errors" });

type BadRow = { row: string; column: string; message: string; value: string };

/** rowProblem says why a row was refused. The name is that of its column in the file. */
const rowProblem = (column: string, code: string, message: string) =>
	column
		? fieldSentence({ path: column, message: message.replace(/^[\w.]+: /, "") }, column)
		: sentenceFor(code, message);

/** readErrors reads the first rows that an import refused. */
async function readErrors(id: string, signal: AbortSignal): Promise<BadRow[]> {
	const answer = await fetch(errorsOf(id), { signal });
	if (!answer.ok || !answer.body) throw new Error(answer.statusText);
	const reader = answer.body.getReader();
	const decoder = new TextDecoder();
	let text = "";
	for (let read = 0; read < maxBytes; ) {
		const { done, value } = await reader.read();
		if (done) break;
		read += value.length;
		text += decoder.decode(value, { stream: true });
	}
	void reader.cancel();
	const [header = [], ...rows] = parseRows(text, ",", maxRows + 1);
	return rows.map((cells) => {
		const cell = (name: string) => cells[header.indexOf(name)] ?? "";
		const column = cell("error_column");
		return {
			row: cell("error_row"),
			column,
			message: rowProblem(column, cell("error_code"), cell("error_message")),
			value: column ? cell(column) : "",
		};
	});
}

/** ImportJob shows an import, or the check of a file, while it runs and when it has ended. */
export function ImportJob({
	id,
	dryRun,
	onAgain,
	onRetry,
}: {
	id: string;
	dryRun?: boolean;
	onAgain?: () => void;
	onRetry?: (rows: File) => void;
}) {
	const client = useQueryClient();
	const disabledReason = useDisabledReason("POST /jobs/{id}/cancel");
	const job = useQuery(jobQuery(id, dryRun ? 500 : undefined));
	const cancel = useMutation({
		mutationFn: () => api("POST /jobs/{id}/cancel", { path: { id } }),
		onSuccess: (job) => client.setQueryData(jobQuery(id).queryKey, job),
	});
	const applied = !dryRun && job.data?.status === "completed";
	useEffect(() => {
		if (applied) void client.invalidateQueries(within("contacts"));
	}, [applied, client]);
	if (job.isPending) return <Skeleton rows={3} />;
	if (job.isError) return <Failure error={job.error} retry={() => void job.refetch()} />;
	const j = job.data;
	const result = j.result as Result | undefined;
	const listed = result ? result.invalid + (result.unfit ?? 0) : 0; // rows in the errors file, if it had room
	const ended = ["completed", "failed", "cancelled"].includes(j.status);
	const names = dryRun ? words.would : words;
	return (
		<div className={css.job}>
			<div className={css.actions}>
				<b>{dryRun ? words.checking : words.running}</b>
				<StateBadge kind="job" state={j.status} />
				{!ended && (
					<Button small disabledReason={disabledReason} busy={cancel.isPending} onClick={() => cancel.mutate()}>
						{words.cancel}
					</Button>
				)}
			</div>
			{!ended && (
				<>
					<Progress
						label={words.running}
						value={j.progress.processed}
						max={j.progress.total}
						text={
							j.progress.total
								? words.of({ count: j.progress.processed, total: j.progress.total })
								: words.done({ count: j.progress.processed })
						}
					/>
					{!dryRun && <p className={css.muted}>{words.leave}</p>}
				</>
			)}
			{j.error && <Failure error={new Error(sentenceFor(j.error.code, j.error.message))} />}
			{result && (
				<dl className={css.counts}>
					{(["created", "updated", "skipped", "invalid"] as const).map((outcome) => (
						<div key={outcome} data-bad={(outcome === "invalid" && result.invalid > 0) || undefined}>
							<dt>{names[outcome]}</dt>
							<dd>{exactNumber(result[outcome] ?? 0)}</dd>
						</div>
					))}
				</dl>
			)}
			{ended && listed > 0 && <Errors id={id} all={listed} />}
			{result?.unfit && <p className={css.muted}>{words.unfit({ count: result.unfit })}</p>}
			{result?.stopped && <p className={css.muted}>{words.stopped({ count: result.stopped })}</p>}
			{ended && result?.errors_omitted && (
				<p className={css.muted}>{words.omitted({ count: result.errors_omitted })}</p>
			)}
			{ended && (
				<div className={css.actions}>
					{listed > 0 && !dryRun && (
						<a href={errorsOf(id)} download>
							{words.errors}
						</a>
					)}
					{listed > 0 && onRetry && <Retry id={id} onRetry={onRetry} />}
					{!dryRun && (
						<LinkButton variant="primary" to={to.contacts()}>
							{words.see}
						</LinkButton>
					)}
					{onAgain && <Button onClick={onAgain}>{words.again}</Button>}
				</div>
			)}
		</div>
	);
}

/** Errors shows the first rows that an import refused or of which it left out values, each with its problem. */
function Errors({ id, all }: { id: string; all: number }) {
	const query = useQuery({ ...answer("job.errors", id), queryFn: ({ signal }) => readErrors(id, signal) });
	if (!query.data?.length) return null;
	return (
		<div className={css.scroll}>
			<table className={css.table}>
				<caption className={css.caption}>
					{all > query.data.length ? words.first({ count: query.data.length, all }) : words.all({ count: all })}
				</caption>
				<thead>
					<tr>
						<th scope="col">{words.row}</th>
						<th scope="col">{words.column}</th>
						<th scope="col">{words.value}</th>
						<th scope="col">{words.problem}</th>
					</tr>
				</thead>
				<tbody>
					{query.data.map((row) => (
						<tr key={row.row}>
							<td>{exactNumber(Number(row.row))}</td>
							<td>{row.column}</td>
							<td className={css.sample}>{row.value}</td>
							<td className={css.errors}>{row.message}</td>
						</tr>
					))}
				</tbody>
			</table>
		</div>
	);
}

/** Retry begins another import, of the rows that this one refused. */
function Retry({ id, onRetry }: { id: string; onRetry: (rows: File) => void }) {
	const load = useMutation({
		mutationFn: async () => {
			const answer = await fetch(errorsOf(id));
			if (!answer.ok) throw new Error(answer.statusText);
			return new File([await answer.blob()], words.fileName, { type: "text/csv" });
		},
		onSuccess: onRetry,
		onError: (error) => toast(explain(error), { tone: "danger" }),
	});
	return (
		<Button busy={load.isPending} title={words.retryHelp} onClick={() => load.mutate()}>
			{words.retry}
		</Button>
	);
}
