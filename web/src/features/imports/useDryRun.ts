import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { ApiError, api, newKey } from "../../api/client";
import type { ImportOptions, JobSession } from "../../api/schema";
import { isRunning } from "../../base/shell";
import { catalogue } from "../../base/words/catalogue";
import { sentenceFor } from "../../base/words/errors";
import { useDebounced } from "../../ui/useDebounced";
import { jobQuery } from "../jobs/queries";
import { type ImportResult, type Report, resultOf } from "./report";

const words = catalogue("imports.dryRun", {
	changed: "The file has changed since it was chosen, or cannot be read. Choose it again.",
	cancelled: "The check was cancelled.",
	noRoom: "The result of the check cannot be kept, because the workspace has no room for more files.",
});

/** The files that the server keeps, with the sheet that it has read of a workbook. */
const kept = new WeakMap<File, { id: string; sheet: ImportOptions["sheet"] }>();

/**
 * sendImport has the server import a file with these options, and returns the id of the job. The file of a dry run is not
 * sent again as long as the server has it.
 */
export async function sendImport(file: File, options: ImportOptions, signal?: AbortSignal): Promise<string> {
	const known = kept.get(file);
	if (known && known.sheet === options.sheet) {
		try {
			return await send(file, { ...options, file_id: known.id }, signal);
		} catch (error) {
			if (!isGone(error)) throw error;
		}
	}
	return send(file, options, signal);
}

async function send(file: File, options: ImportOptions, signal?: AbortSignal): Promise<string> {
	const body = new FormData();
	body.set("options", JSON.stringify(options));
	try {
		await file.slice(0, 1).arrayBuffer(); // not even the copy of the server is of the file as it is on the disk now
	} catch {
		throw new Error(words.changed);
	}
	if (!options.file_id) body.set("file", file);
	const { job_id, file_id } = await api("POST /contacts/import", { body, idempotencyKey: newKey(), signal });
	if (file_id) kept.set(file, { id: file_id, sheet: options.sheet });
	else kept.delete(file);
	return job_id;
}

/** isGone reports whether the server does not have a file any more. */
const isGone = (error: unknown) =>
	error instanceof ApiError && error.status === 404 && error.fields.some(({ path }) => path === "options.file_id");

/** How long options have to stay the same before the file is checked again, and how often its job is read, in milliseconds. */
const pause = 250;
const pace = 400;

export type DryRun = {
	/** What the last completed run has found, which may be of earlier options. */
	found: { report: Report; result: ImportResult } | null;
	/** Whether that is of the current options. */
	isCurrent: boolean;
	/** Why there is none of the current options. */
	error: unknown;
	/** The job while it runs. */
	progress: { processed: number; total?: number } | null;
	retry: () => void;
};

/** failureOf says why a job that has ended has found nothing. */
function failureOf(job: JobSession): Error | null {
	if (job.error) return new Error(sentenceFor(job.error.code, job.error.message));
	if (job.status !== "completed") return new Error(words.cancelled);
	return resultOf(job)?.report ? null : new Error(words.noRoom);
}

/**
 * useDryRun has the server read a file and say what an import with these options would do. When the options change it
 * does so again, and cancels the run before.
 */
export function useDryRun(file: File, options: object): DryRun {
	const client = useQueryClient();
	const wanted = JSON.stringify(options);
	const settled = useDebounced(wanted, pause);
	const [started, setStarted] = useState<{ options: string; id: string } | null>(null);
	const [attempt, setAttempt] = useState(0);
	const [refusal, setRefusal] = useState<{ options: string; error: unknown } | null>(null);
	const [found, setFound] = useState<({ options: string } & NonNullable<DryRun["found"]>) | null>(null);
	const job = useQuery({ ...jobQuery(started?.id ?? "", pace), enabled: started !== null });

	// biome-ignore lint/correctness/useExhaustiveDependencies: another attempt sends the same again
	useEffect(() => {
		const controller = new AbortController();
		let id = "";
		sendImport(file, JSON.parse(settled), controller.signal)
			.then((job) => {
				id = job;
				if (controller.signal.aborted) void cancel(job);
				else setStarted({ options: settled, id: job });
			})
			.catch((error) => {
				if (!controller.signal.aborted) setRefusal({ options: settled, error });
			});
		const cancel = async (id: string) => {
			const job = client.getQueryData(jobQuery(id).queryKey);
			if (job && !isRunning(job)) return;
			const now = await api("GET /jobs/{id}", { path: { id } });
			if (isRunning(now)) await api("POST /jobs/{id}/cancel", { path: { id } });
		};
		return () => {
			controller.abort();
			if (id) cancel(id).catch(() => {}); // it ends by itself
		};
	}, [file, settled, client, attempt]);

	const ended = started && job.data?.id === started.id && !isRunning(job.data) ? job.data : null;
	const result = ended?.status === "completed" ? resultOf(ended) : undefined;
	useEffect(() => {
		if (started && result?.report) setFound({ options: started.options, report: result.report, result });
	}, [started, result]);

	const isCurrent = found?.options === wanted;
	const failure =
		(refusal?.options === wanted && refusal.error) ||
		(started?.options === wanted && (job.error ?? (ended && failureOf(ended))));
	return {
		found,
		isCurrent,
		error: isCurrent ? null : failure || null,
		progress: isCurrent || failure ? null : (started?.options === wanted && job.data?.progress) || { processed: 0 },
		retry: () => {
			setStarted(null);
			setRefusal(null);
			setAttempt(attempt + 1);
		},
	};
}
