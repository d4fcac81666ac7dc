import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { api, newKey } from "../../api/client";
import type { JobSession } from "../../api/schema";
import { ofContacts } from "../../base/queries";
import { useDisabledReason } from "../../base/session";
import { isRunning } from "../../base/shell";
import { catalogue } from "../../base/words/catalogue";
import { explain, sentenceFor } from "../../base/words/errors";
import { dateTime, exactNumber } from "../../base/words/formats";
import { Button } from "../../ui/Button";
import { Confirm } from "../../ui/Dialog";
import { Card } from "../../ui/Page";
import { Failure } from "../../ui/States";
import { JobBadge } from "../jobs/JobBadge";
import { jobQuery } from "../jobs/queries";
import css from "./Import.module.css";
import type { ImportResult } from "./report";
import { Running } from "./Running";

const words = catalogue("imports.undo", {
	title: "Undo of the import",
	undo: "Undo import",
	until: "Possible until {at}.",
	ask: "Undo this import?",
	created:
		"{count, plural, one {# contact was created. It is deleted, unless it has got an email, has an event or a form submission, is in a sequence or was changed since.} other {# contacts were created. They are deleted, except for those that have got an email, have an event or a form submission, are in a sequence or were changed since.}}",
	updated:
		"{count, plural, one {# row updated a contact. What it changed goes back, where nobody has changed it since.} other {# rows updated contacts. What they changed goes back, where nobody has changed it since.}}",
	refusals: "Statuses and subscriptions that keep people from getting mail stay as they are.",
	leave: "You can leave this page. The undo continues.",
	deleted: "Deleted",
	restored: "Changed back",
	kept: {
		changed: "{count, plural, one {# contact was changed since.} other {# contacts were changed since.}}",
		mailed: "{count, plural, one {# contact has got an email since.} other {# contacts have got an email since.}}",
		event: "{count, plural, one {# contact has an event since.} other {# contacts have an event since.}}",
		submitted:
			"{count, plural, one {# contact has submitted a form or confirmed since.} other {# contacts have submitted a form or confirmed since.}}",
		enrolled:
			"{count, plural, one {# contact was added to a sequence since.} other {# contacts were added to a sequence since.}}",
		refusal:
			"{count, plural, one {# contact does not want mail, which stays so.} other {# contacts do not want mail, which stays so.}}",
		deleted: "{count, plural, one {# contact was deleted since.} other {# contacts were deleted since.}}",
		anonymized: "{count, plural, one {# contact was anonymised since.} other {# contacts were anonymised since.}}",
		invalid:
			"{count, plural, one {# contact had a value that is not valid any more.} other {# contacts had values that are not valid any more.}}",
	},
	stays: "Something stays as the import left it:",
});

type UndoResult = { deleted: number; restored: number; kept: { [reason: string]: number } };

/** UndoneBy shows the undo of an import by its id. */
export function UndoneBy({ id, of }: { id: string; of: string }) {
	const job = useQuery(jobQuery(id));
	return job.data ? <UndoJob job={job.data} of={of} /> : null;
}

/** UndoButton offers to undo an import as long as that is possible. */
export function UndoButton({ job, result }: { job: JobSession; result: ImportResult }) {
	const client = useQueryClient();
	const disabledReason = useDisabledReason("POST /jobs/{id}/undo");
	const [asking, setAsking] = useState(false);
	const [idempotencyKey] = useState(newKey);
	const start = useMutation({
		mutationFn: () => api("POST /jobs/{id}/undo", { path: { id: job.id }, idempotencyKey }),
		onSuccess: ({ job_id }) => {
			client.setQueryData(jobQuery(job.id).queryKey, {
				...job,
				result: { ...result, undo: { ...result.undo, job_id } },
			});
			setAsking(false);
		},
	});
	const until = result.undo?.until;
	if (!until || result.undo?.job_id || new Date(until) <= new Date()) return null;
	return (
		<div className={css.actions}>
			<Button disabledReason={disabledReason} onClick={() => setAsking(true)}>
				{words.undo}
			</Button>
			<span className={css.muted}>{words.until({ at: dateTime(until) })}</span>
			{asking && (
				<Confirm
					title={words.ask}
					action={words.undo}
					busy={start.isPending}
					error={start.error && <p role="alert">{explain(start.error)}</p>}
					onConfirm={() => start.mutate()}
					onClose={() => setAsking(false)}
				>
					{result.created > 0 && <p>{words.created({ count: result.created })}</p>}
					{result.updated > 0 && <p>{words.updated({ count: result.updated })}</p>}
					<p>{words.refusals}</p>
				</Confirm>
			)}
		</div>
	);
}

/** UndoJob shows the undo of an import while it runs and when it has ended. */
export function UndoJob({ job, of }: { job: JobSession; of?: string }) {
	const client = useQueryClient();
	const running = isRunning(job);
	useEffect(() => {
		if (running) return;
		void client.invalidateQueries(ofContacts());
		if (of && job.status !== "completed") void client.invalidateQueries(jobQuery(of)); // it can be undone again
	}, [running, job.status, of, client]);
	const result = job.result as UndoResult | undefined;
	const kept = Object.entries(words.kept).flatMap(([reason, message]) => {
		const count = result?.kept?.[reason];
		return count ? [{ reason, text: message({ count }) }] : [];
	});
	return (
		<Card title={words.title} actions={<JobBadge job={job} />}>
			{running && <Running job={job} label={words.title} help={words.leave} />}
			{job.error && <Failure error={new Error(sentenceFor(job.error.code, job.error.message))} />}
			{result && (
				<dl className={css.counts}>
					{(["deleted", "restored"] as const).map((outcome) => (
						<div key={outcome}>
							<dt>{words[outcome]}</dt>
							<dd>{exactNumber(result[outcome])}</dd>
						</div>
					))}
				</dl>
			)}
			{kept.length > 0 && (
				<div>
					<p>{words.stays}</p>
					<ul>
						{kept.map(({ reason, text }) => (
							<li key={reason}>{text}</li>
						))}
					</ul>
				</div>
			)}
		</Card>
	);
}
