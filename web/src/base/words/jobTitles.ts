import { catalogue } from "./catalogue";

// Titles of jobs, which the server has in English.

const words = catalogue("shell.jobTitles", {
	import: "Import of {name}",
	check: "Import of {name} (dry run)",
	undo: "Undo: {title}",
	contacts: "contacts",
	export: "Export of contacts",
	auditLog: "Export of the audit log",
	recipients: "Recipients of {name}",
	bounces: "Bounces of {name}",
	bulk: {
		"add tags": "Bulk action: add tags",
		"remove tags": "Bulk action: remove tags",
		"set stage": "Bulk action: set stage",
		"set field": "Bulk action: set field",
		"set do not contact": "Bulk action: set do not contact",
		subscribe: "Bulk action: subscribe",
		unsubscribe: "Bulk action: unsubscribe",
		"add to list": "Bulk action: add to list",
		"remove from list": "Bulk action: remove from list",
		suppress: "Bulk action: suppress",
		enroll: "Bulk action: enroll",
		"exit sequence": "Bulk action: exit sequence",
		delete: "Bulk action: delete",
		restore: "Bulk action: restore",
		"reset status": "Bulk action: reset status",
		anonymize: "Bulk action: anonymise",
	},
});

/** jobTitle returns what a job does, by the server's title. A file, a broadcast and others are named in it. */
export function jobTitle(title: string): string {
	const undone = title.replace(/^Undo: /, "");
	if (undone !== title) return words.undo({ title: jobTitle(undone) });
	const [, what, name = "", dry] = /^(Import|Recipients|Bounces) of (.+?)( \(dry run\))?$/s.exec(title) ?? [];
	if (what === "Import")
		return (dry ? words.check : words.import)({ name: name === "contacts" ? words.contacts : name });
	if (what) return (what === "Recipients" ? words.recipients : words.bounces)({ name: name + (dry ?? "") });
	if (title === "Export of contacts") return words.export;
	if (title === "Export of the audit log") return words.auditLog;
	const action = title.replace(/^Bulk action: /, "");
	return (words.bulk as { [action: string]: string })[action] ?? title;
}
