import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api } from "../../api/client";
import type { JobSession } from "../../api/schema";
import { useDisabledReason } from "../../base/session";
import { catalogue } from "../../base/words/catalogue";
import { explain } from "../../base/words/errors";
import { Button } from "../../ui/Button";
import { Progress } from "../../ui/Progress";
import { toast } from "../../ui/Toast";
import { jobQuery } from "../jobs/queries";
import css from "./Import.module.css";

const words = catalogue("imports.running", {
	cancel: "Cancel",
	of: "{count, number} of {total, number}",
	done: "{count, number}",
});

/** Running shows how far a job is, and cancels it. */
export function Running({ job, label, help }: { job: JobSession; label: string; help: string }) {
	const client = useQueryClient();
	const disabledReason = useDisabledReason("POST /jobs/{id}/cancel");
	const cancel = useMutation({
		mutationFn: () => api("POST /jobs/{id}/cancel", { path: { id: job.id } }),
		onSuccess: (cancelled) => client.setQueryData(jobQuery(job.id).queryKey, cancelled),
		onError: (error) => toast(explain(error), { tone: "danger" }),
	});
	const { processed, total } = job.progress;
	return (
		<>
			<Progress
				label={label}
				value={processed}
				max={total}
				text={total ? words.of({ count: processed, total }) : words.done({ count: processed })}
			/>
			<div className={css.actions}>
				<span className={css.muted}>{help}</span>
				<Button small disabledReason={disabledReason} busy={cancel.isPending} onClick={() => cancel.mutate()}>
					{words.cancel}
				</Button>
			</div>
		</>
	);
}
