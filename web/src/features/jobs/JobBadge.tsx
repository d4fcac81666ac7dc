import type { JobSession } from "../../api/schema";
import { catalogue } from "../../base/words/catalogue";
import { Badge, StateBadge } from "../../ui/Badge";

const words = catalogue("jobs.badge", { nothing: "Nothing imported", some: "Completed with errors" });

/** JobBadge shows the state of a job. An import that has ended is no success if rows of its file were refused. */
export function JobBadge({ job }: { job: JobSession }) {
	const result = job.result as { created?: number; updated?: number; invalid?: number } | undefined;
	if (job.type !== "import" || job.status !== "completed" || !result?.invalid)
		return <StateBadge kind="job" state={job.status} />;
	const changed = (result.created ?? 0) + (result.updated ?? 0);
	return changed > 0 ? <Badge tone="warning">{words.some}</Badge> : <Badge tone="danger">{words.nothing}</Badge>;
}
