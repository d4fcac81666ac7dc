import { useMutation } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { type Answer, api } from "../../api/client";
import { csvText, download } from "../../base/csv";
import { catalogue } from "../../base/words/catalogue";
import { explain } from "../../base/words/errors";
import { Button } from "../../ui/Button";
import { toast } from "../../ui/Toast";

const words = catalogue("settings.auditExport", {
	export: "Download as CSV",
	cut: "The file has the latest {count, number} entries. Choose fewer days for earlier ones.",
});

/** How many entries a file has at most: fifty requests. */
const maxEntries = 10_000;

type Entry = Answer<"GET /audit-log">["data"][number];

const rowOf = (entry: Entry) => [
	entry.created_at,
	entry.actor.type,
	entry.actor.name,
	entry.ip,
	entry.action,
	entry.target_type,
	entry.target_id,
	entry.target_name,
	entry.changes.length > 0 ? JSON.stringify(entry.changes) : null,
];

const header = [
	"created_at",
	"actor_type",
	"actor_name",
	"ip",
	"action",
	"target_type",
	"target_id",
	"target_name",
	"changes",
];

/** AuditExport saves the entries that the filters of the page select as a file. */
export function AuditExport({ query }: { query: object }) {
	const run = useMutation({
		mutationFn: async () => {
			const entries: Entry[] = [];
			let cursor: string | null = null;
			do {
				const page: Answer<"GET /audit-log"> = await api("GET /audit-log", {
					query: { ...query, cursor: cursor ?? undefined, limit: 200 },
				});
				entries.push(...page.data);
				cursor = page.next_cursor;
			} while (cursor && entries.length < maxEntries);
			download("audit-log.csv", csvText(header, entries.map(rowOf)));
			if (cursor) toast(words.cut({ count: entries.length }));
		},
		onError: (error) => toast(explain(error)),
	});
	return (
		<Button icon={<Download aria-hidden />} busy={run.isPending} onClick={() => run.mutate()}>
			{words.export}
		</Button>
	);
}
