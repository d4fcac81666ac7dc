import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api, newKey } from "../../api/client";
import type { BroadcastSessionView } from "../../api/schema";
import { useDisabledReason } from "../../base/session";
import { jobsChanged } from "../../base/shell";
import { toast } from "../../ui/Toast";
import { catalogue } from "../../base/words/catalogue";
import { type Cell, csvText, download } from "../../base/csv";
import { explain } from "../../base/words/errors";

const words = catalogue("broadcasts.useExport", {
	job: "More than {most, number} rows: a job creates the file. Find it under Jobs.",
});

/** The most rows that a file made in the browser has; a job makes files with more. */
const maxRows = 10_000;

type Page<R> = { data: R[]; next_cursor: string | null };

type Props<R> = {
	broadcast: BroadcastSessionView;
	subject: "recipients" | "bounces";
	/** What is selected, as the list and the job take it. */
	query: { status?: string; search?: string; variant_id?: string };
	/** How many rows there are, if it is known. */
	total?: number;
	read: (cursor: string | null) => Promise<Page<R>>;
	/** The columns of the file. */
	fields: readonly (keyof R & string)[];
};

/** useExport makes a file of what became of a broadcast: here if there are few rows, else in a job. */
export function useExport<R>({ broadcast, subject, query, total, read, fields }: Props<R>) {
	const client = useQueryClient();
	const disabledReason = useDisabledReason("POST /broadcasts/{broadcast_id}/export");
	const needsJob = total !== undefined && total > maxRows;
	const exportInJob = async () => {
		await api("POST /broadcasts/{broadcast_id}/export", {
			path: { broadcast_id: broadcast.id },
			idempotencyKey: newKey(),
			body: { what: subject, format: "csv", bom: true, ...query },
		});
		jobsChanged(client);
		toast(words.job({ most: maxRows }));
	};
	const run = useMutation({
		mutationFn: async () => {
			if (needsJob) return exportInJob();
			const all: R[] = [];
			let cursor: string | null = null;
			do {
				const page: Page<R> = await read(cursor);
				all.push(...page.data);
				cursor = page.next_cursor;
			} while (cursor && all.length < maxRows);
			if (cursor) return exportInJob();
			download(
				`${subject}.csv`,
				csvText(
					[...fields],
					all.map((row) => fields.map((field) => row[field] as Cell)),
				),
			);
		},
		onError: (error) => toast(explain(error), { tone: "danger" }),
	});
	return { save: () => run.mutate(), busy: run.isPending, disabledReason: needsJob ? disabledReason : undefined };
}
