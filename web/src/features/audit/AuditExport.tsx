import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { api, newKey } from "../../api/client";
import { jobsChanged } from "../../base/shell";
import { catalogue } from "../../base/words/catalogue";
import { explain } from "../../base/words/errors";
import { Button } from "../../ui/Button";
import { toast } from "../../ui/Toast";

const words = catalogue("audit.export", { export: "Export as CSV" });

type Props = {
	/** What the filters of the page select. */
	query: object;
	/** Called with the job that writes the file. */
	onStarted: (job: string) => void;
};

/** AuditExport starts the export of the entries that the filters of the page select. */
export function AuditExport({ query, onStarted }: Props) {
	const client = useQueryClient();
	const run = useMutation({
		mutationFn: () =>
			api("POST /audit-log/export", { idempotencyKey: newKey(), body: { format: "csv", bom: true, ...query } }),
		onSuccess: ({ job_id }) => {
			jobsChanged(client);
			onStarted(job_id);
		},
		onError: (error) => toast(explain(error), { tone: "danger" }),
	});
	return (
		<Button icon={<Download aria-hidden />} busy={run.isPending} onClick={() => run.mutate()}>
			{words.export}
		</Button>
	);
}
