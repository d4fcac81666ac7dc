import { to } from "../../base/paths";
/** pageOf is the page that shows a job with its first errors. */
export const pageOf = (j: { id: string; type: string }) =>
	j.type === "import" || j.type === "import_undo" ? to.contactImport({ job: j.id }) : to.contacts({ job: j.id });
