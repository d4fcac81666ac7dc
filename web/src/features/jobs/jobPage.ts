import { to } from "../../base/paths";

/** pageOf is the page that shows a job with its first errors. */
export function pageOf({ id: job, type, result }: { id: string; type: string; result?: unknown }): string {
	if (type === "import" || type === "import_undo") return to.contactImport({ job });
	return (result as { what?: string } | null | undefined)?.what === "audit_log"
		? to.audit({ job })
		: to.contacts({ job });
}
