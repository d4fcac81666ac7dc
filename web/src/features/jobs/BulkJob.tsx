import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { X } from "lucide-react";
import { useEffect, useRef } from "react";
import { Link } from "wouter";
import { api, url } from "../../api/client";
import { useDisabledReason } from "../../base/session";
import { jobsChanged } from "../../base/shell";
import { StateBadge } from "../../ui/Badge";
import { Button, IconButton } from "../../ui/Button";
import { ActionBar } from "../../ui/ActionBar";
import { Progress } from "../../ui/Progress";
import { useReturnToTable } from "../../ui/table/useReturnToTable";
import { toast } from "../../ui/Toast";
import { catalogue } from "../../base/words/catalogue";
import { jobTitle } from "../../base/words/jobTitles";
import { exactNumber } from "../../base/words/formats";
import { explain, sentenceFor } from "../../base/words/errors";
import css from "./BulkJob.module.css";
import { resultText, reasonOf } from "./bulkResult";
import { jobQuery } from "./queries";
import { ofContacts } from "../../base/queries";
import { to } from "../../base/paths";

const words = catalogue("jobs.bulkJob", {
	of: "{count, number} of {total, number}",
	cancel: "Cancel",
	cancelled:
		"{count, plural, one {Cancelled. # contact had already been changed and stays changed.} other {Cancelled. # contacts had already been changed and stay changed.}}",
	stopped: "Cancelled.",
	failed: "{message} Before: {done}.",
	exported: "{count, plural, one {# row exported} other {# rows exported}}",
	download: "Download",
	close: "Close",
	contact: "1 contact",
});

const ended = ["completed", "failed", "cancelled"];
const maxShown = 3; // errors

type Result = {
	affected?: number;
	skipped?: number;
	errors_truncated?: boolean;
	rows?: number;
	errors?: { contact_id: string; code: string }[];
	results?: { status: string }[];
};

type Props = {
	id: string;
	onClose: () => void;
	/** Called when the job has ended. */
	onEnded?: () => void;
};

/** BulkJob shows a job that changes or exports contacts: its progress, a way to cancel it, and then its result. */
export function BulkJob({ id, onClose, onEnded }: Props) {
	const client = useQueryClient();
	const disabledReason = useDisabledReason("POST /jobs/{id}/cancel");
	const job = useQuery(jobQuery(id));
	const cancel = useMutation({
		mutationFn: () => api("POST /jobs/{id}/cancel", { path: { id } }),
		onSuccess: () => void job.refetch(),
		onSettled: () => jobsChanged(client),
		onError: (error) => toast(explain(error), { tone: "danger" }),
	});
	const j = job.data;
	const done = j !== undefined && ended.includes(j.status);
	const ending = useRef(onEnded);
	ending.current = onEnded;
	useEffect(() => {
		if (!done) return;
		void client.invalidateQueries(ofContacts());
		ending.current?.();
	}, [done, client]);
	useReturnToTable();
	const section = useRef<HTMLElement>(null);
	const shown = j !== undefined;
	useEffect(() => {
		// The button that began the job is gone.
		if (shown && (document.activeElement === null || document.activeElement === document.body))
			section.current?.focus();
	}, [shown]);
	if (!j) return null;
	const result = (j.result ?? {}) as Result;
	const failed = j.error && sentenceFor(j.error.code, j.error.message);
	const text = failed
		? result.affected
			? words.failed({ message: failed, done: resultText(result) })
			: failed
		: j.status === "cancelled"
			? j.type === "bulk"
				? words.cancelled({ count: result.affected ?? 0 })
				: words.stopped
			: j.type === "export"
				? words.exported({ count: result.rows ?? j.progress.processed })
				: resultText(result);
	return (
		<ActionBar ref={section} label={jobTitle(j.title)}>
			<p>
				{jobTitle(j.title)} <StateBadge kind="job" state={j.status} />
			</p>
			{done ? (
				<span role="status">{text}</span>
			) : (
				<>
					<Progress
						label={jobTitle(j.title)}
						value={j.progress.processed}
						max={j.progress.total}
						text={
							j.progress.total
								? words.of({ count: j.progress.processed, total: j.progress.total })
								: exactNumber(j.progress.processed)
						}
					/>
					<Button small disabledReason={disabledReason} busy={cancel.isPending} onClick={() => cancel.mutate()}>
						{words.cancel}
					</Button>
				</>
			)}
			{j.type === "export" && j.status === "completed" && (
				<a href={url("GET /jobs/{id}/download", { id })} download>
					{words.download}
				</a>
			)}
			{done && <IconButton small label={words.close} icon={<X aria-hidden />} onClick={onClose} />}
			{done && result.errors && result.errors.length > 0 && (
				<ul className={css.refused}>
					{result.errors.slice(0, maxShown).map((error) => (
						<li key={error.contact_id}>
							<Link href={to.contact(error.contact_id)}>{words.contact}</Link>: {reasonOf(error.code)}
						</li>
					))}
				</ul>
			)}
		</ActionBar>
	);
}
