import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Tag, X } from "lucide-react";
import { useState } from "react";
import { api, newKey } from "../api/client";
import type { BulkContactsRequestBody, Contact, ContactSelectorBody } from "../api/schema";
import { useKey, useWhyNot } from "../app/session";
import { fieldOptions } from "../rules/fieldOptions";
import { useFields } from "../rules/fields";
import { initialValue, ValueEditor } from "../rules/ValueEditor";
import { Button } from "../ui/Button";
import { Combo, Picks } from "../ui/Combo";
import { Confirm, Dialog } from "../ui/Dialog";
import { Checkbox, TextField } from "../ui/Field";
import { Menu } from "../ui/Menu";
import { toast } from "../ui/Toast";
import { catalogue, full, plural } from "../words/catalogue";
import { explain } from "../words/errors";
import css from "./Contacts.module.css";
import { fieldOf } from "./columns";
import { doneText } from "./skipped";

const words = catalogue({
	selected: (n: number) => plural(n, { one: "# selected", other: "# selected" }),
	everybody: (n: number) => `All ${full(n)} that match`,
	chooseAll: (n: number) => `Select all ${full(n)} that match`,
	clear: "Clear",
	tag: "Add tags",
	untag: "Remove tags",
	list: "Add to a list",
	unlist: "Remove from a list",
	stage: "Set the stage",
	dnc: "Do not contact",
	undnc: "May be contacted again",
	subscribe: "Subscribe to an email type",
	unsubscribe: "Unsubscribe from an email type",
	suppress: "Add to the suppression list",
	delete: "Delete",
	restore: "Restore",
	reset: "Reset the status",
	export: "Export",
	apply: "Apply",
	cancel: "Cancel",
	tags: "Tags",
	choose: "Choose",
	deleteTitle: (n: number) => plural(n, { one: "Delete # contact?", other: "Delete # contacts?" }),
	deleteText: "They get no more mail. They can be restored.",
	suppressTitle: (n: number) => plural(n, { one: "Add # address to the suppression list?", other: "Add # addresses to the suppression list?" }),
	field: "Set a field",
	fieldName: "Field",
	empty: "Leave it empty",
	enroll: "Add to a sequence",
	exit: "Take out of a sequence",
	sequence: "Sequence",
	allMail: "All mail",
	anonymize: "Anonymise",
	anonymizeTitle: (n: number) => plural(n, { one: "Anonymise # contact?", other: "Anonymise # contacts?" }),
	anonymizeText:
		"Names, addresses, fields, tags and events of these people are erased for good. What stays are counts in reports, which no longer lead to anybody.",
	keep: "Keep the addresses on the suppression list, so that nobody mails them again",
	resetTitle: (n: number) => plural(n, { one: "Reset the status of # contact?", other: "Reset the status of # contacts?" }),
	resetText: "People who unsubscribed, bounced or complained become active again, and their addresses leave the suppression list. Do this only when they asked for it.",
	reason: "Reason, for you",
	suppressText: "Nothing is ever sent to an address on this list, whoever imports it.",
	limit: "At most 1,000 rows can be chosen by hand.",
	more: "More",
});

type ActionName = BulkContactsRequestBody["action"];
type Ask = "add_tags" | "remove_tags" | "add_to_list" | "remove_from_list" | "set_stage" | "subscribe" | "unsubscribe" | "enroll" | "exit_sequence" | "set_field";

type Props = {
	contacts: Contact[];
	ids: string[];
	everybody: boolean;
	total?: number;
	selector: ContactSelectorBody;
	onEverybody: (all: boolean) => void;
	onClear: () => void;
	/** Called with the job that changes or exports the contacts. */
	onJob: (id: string) => void;
	/** The fields of an export: those of the columns shown. */
	exported: string[];
};

/** Actions that are undone by another one with the same parameters. */
const opposite: { [A in ActionName]?: ActionName } = { delete: "restore", restore: "delete", add_to_list: "remove_from_list", remove_from_list: "add_to_list" };

/** BulkBar acts on the selected contacts, or on all that match the filters. */
export function BulkBar({ contacts, ids, everybody, total, selector, onEverybody, onClear, onJob, exported }: Props) {
	const client = useQueryClient();
	const key = useKey();
	const why = useWhyNot("POST /contacts/bulk");
	const adminOnly = useWhyNot("POST /contacts/{id}/anonymize");
	const [ask, setAsk] = useState<Ask | null>(null);
	const [confirm, setConfirm] = useState<"delete" | "suppress" | "anonymize" | "reset_status" | null>(null);
	const [suppress, setSuppress] = useState(true);
	const [reason, setReason] = useState("");
	const [error, setError] = useState("");
	const count = everybody ? (total ?? 0) : ids.length;
	const tooMany = !everybody && ids.length > 1000 ? words.limit : undefined;

	const send = async (action: ActionName, params?: { [name: string]: unknown }, only = ids, undoing = false) => {
		try {
			const answer = await api("POST /contacts/bulk", {
				idempotencyKey: newKey(),
				body: everybody && !undoing ? { action, params, selector } : { action, params, contact_ids: only },
			});
			void client.invalidateQueries({ queryKey: key("contacts") });
			if (answer.job_id) {
				onJob(answer.job_id);
			} else {
				const undo = undoing ? undefined : undoOf(action, params);
				toast(doneText(answer), { undo });
			}
			setAsk(null);
			setConfirm(null);
			setError("");
		} catch (e) {
			setError(explain(e));
			if (!ask && !confirm) toast(explain(e), { tone: "danger" });
		}
	};
	// An undo changes only the contacts that the action changed: those that were otherwise before.
	const undoOf = (action: ActionName, params?: { [name: string]: unknown }): (() => void) | undefined => {
		const back = opposite[action];
		if (back) return () => void send(back, params, ids, true);
		if (action === "add_tags" && Array.isArray(params?.tags)) {
			const lacking = params.tags.map((t: string) => ({ t, ids: contacts.filter((c) => !c.tags.includes(t)).map((c) => c.id) }));
			return () => {
				for (const { t, ids: only } of lacking) if (only.length) void send("remove_tags", { tags: [t] }, only, true);
			};
		}
		if (action === "remove_tags" && Array.isArray(params?.tags)) {
			const having = params.tags.map((t: string) => ({ t, ids: contacts.filter((c) => c.tags.includes(t)).map((c) => c.id) }));
			return () => {
				for (const { t, ids: only } of having) if (only.length) void send("add_tags", { tags: [t] }, only, true);
			};
		}
		if (action === "set_do_not_contact") {
			const changed = contacts.filter((c) => c.do_not_contact !== params?.value).map((c) => c.id);
			return () => void send("set_do_not_contact", { value: !params?.value }, changed, true);
		}
		if (action === "set_stage") {
			const stages = new Set(contacts.map((c) => c.stage_id));
			return () => {
				for (const stage of stages) void send("set_stage", { stage_id: stage }, contacts.filter((c) => c.stage_id === stage).map((c) => c.id), true);
			};
		}
		if (action === "set_field" && typeof params?.field === "string") {
			const field = params.field;
			const before = new Map<string, { value: unknown; ids: string[] }>();
			for (const c of contacts) {
				const value = fieldOf(c, field) ?? null;
				const same = before.get(JSON.stringify(value)) ?? { value, ids: [] };
				same.ids.push(c.id);
				before.set(JSON.stringify(value), same);
			}
			return () => {
				for (const { value, ids: only } of before.values()) void send("set_field", { field, value }, only, true);
			};
		}
		return undefined;
	};
	const exportThem = async () => {
		try {
			const { job_id } = await api("POST /contacts/export", {
				idempotencyKey: newKey(),
				body: { format: "csv", fields: exported, selector: everybody ? selector : { filters: [{ field: "id", operator: "in", value: ids }] } },
			});
			onJob(job_id);
		} catch (e) {
			toast(explain(e), { tone: "danger" });
		}
	};
	return (
		<div className={css.bulk}>
			<p role="status">{everybody ? words.everybody(count) : words.selected(count)}</p>
			{!everybody && total !== undefined && total > ids.length && (
				<Button small look="quiet" onClick={() => onEverybody(true)}>
					{words.chooseAll(total)}
				</Button>
			)}
			<Button small icon={<Tag aria-hidden />} why={why ?? tooMany} onClick={() => setAsk("add_tags")}>
				{words.tag}
			</Button>
			<Button small why={why ?? tooMany} onClick={() => setAsk("add_to_list")}>
				{words.list}
			</Button>
			<Menu
				small
				label={words.more}
				actions={[
					{ id: "untag", label: words.untag, why: why ?? tooMany, run: () => setAsk("remove_tags") },
					{ id: "unlist", label: words.unlist, why: why ?? tooMany, run: () => setAsk("remove_from_list") },
					{ id: "stage", label: words.stage, why: why ?? tooMany, run: () => setAsk("set_stage") },
					{ id: "field", label: words.field, why: why ?? tooMany, run: () => setAsk("set_field") },
					{ id: "enroll", label: words.enroll, why: why ?? tooMany, run: () => setAsk("enroll") },
					{ id: "exit", label: words.exit, why: why ?? tooMany, run: () => setAsk("exit_sequence") },
					{ id: "subscribe", label: words.subscribe, why: why ?? tooMany, run: () => setAsk("subscribe") },
					{ id: "unsubscribe", label: words.unsubscribe, why: why ?? tooMany, run: () => setAsk("unsubscribe") },
					{ id: "dnc", label: words.dnc, why: why ?? tooMany, run: () => void send("set_do_not_contact", { value: true }) },
					{ id: "undnc", label: words.undnc, why: why ?? tooMany, run: () => void send("set_do_not_contact", { value: false }) },
					{ id: "export", label: words.export, why, run: () => void exportThem() },
					{ id: "restore", label: words.restore, why: why ?? tooMany, run: () => void send("restore") },
					{ id: "reset", label: words.reset, why: adminOnly ?? tooMany, run: () => setConfirm("reset_status") },
					{ id: "suppress", label: words.suppress, danger: true, why: why ?? tooMany, run: () => setConfirm("suppress") },
					{ id: "delete", label: words.delete, danger: true, why: why ?? tooMany, run: () => (everybody ? setConfirm("delete") : void send("delete")) },
					{ id: "anonymize", label: words.anonymize, danger: true, why: adminOnly ?? tooMany, run: () => setConfirm("anonymize") },
				]}
			/>
			<Button small look="quiet" icon={<X aria-hidden />} onClick={onClear}>
				{words.clear}
			</Button>
			{ask && (
				<AskDialog
					kind={ask}
					error={error}
					onClose={() => {
						setAsk(null);
						setError("");
					}}
					onApply={(params) => void send(ask, params)}
				/>
			)}
			{confirm && (
				<Confirm
					title={asks[confirm].title(count)}
					action={asks[confirm].action}
					type={confirm === "anonymize" || confirm === "reset_status" ? String(count) : undefined}
					error={error && <p>{error}</p>}
					onConfirm={() => void send(confirm, confirm === "anonymize" ? { suppress } : confirm === "suppress" && reason ? { reason } : undefined)}
					onClose={() => {
						setConfirm(null);
						setError("");
					}}
				>
					<p>{asks[confirm].text}</p>
					{confirm === "anonymize" && <Checkbox label={words.keep} checked={suppress} onChange={setSuppress} />}
					{confirm === "suppress" && <TextField label={words.reason} optional value={reason} onChange={setReason} />}
				</Confirm>
			)}
		</div>
	);
}

const asks = {
	delete: { title: words.deleteTitle, text: words.deleteText, action: words.delete },
	suppress: { title: words.suppressTitle, text: words.suppressText, action: words.suppress },
	anonymize: { title: words.anonymizeTitle, text: words.anonymizeText, action: words.anonymize },
	reset_status: { title: words.resetTitle, text: words.resetText, action: words.reset },
};

const titles: { [A in Ask]: string } = {
	add_tags: words.tag,
	remove_tags: words.untag,
	add_to_list: words.list,
	remove_from_list: words.unlist,
	set_stage: words.stage,
	subscribe: words.subscribe,
	unsubscribe: words.unsubscribe,
	enroll: words.enroll,
	exit_sequence: words.exit,
	set_field: words.field,
};

/** Fields that the program counts or writes. */
const computed = /^(total_|last_(activity|email)|created_at|updated_at|prospect_score|customer_score|full_name$)/;

/** The id that stands for all mail where an email type is chosen. */
const allMail = "*";

/** Fields that an action on many contacts cannot set: each has its own value, or an action of its own. */
const notMany = ["email", "email_domain", "external_id", "stage", "tags", "list", "global_status", "deliverability_status", "do_not_contact"];

function AskDialog({ kind, error, onClose, onApply }: { kind: Ask; error: string; onClose: () => void; onApply: (params: { [name: string]: unknown }) => void }) {
	const key = useKey();
	const [tags, setTags] = useState<string[]>([]);
	const [typed, setTyped] = useState("");
	const [value, setValue] = useState<unknown>("");
	const [empty, setEmpty] = useState(false);
	const ofSequence = kind === "enroll" || kind === "exit_sequence";
	const [choice, setChoice] = useState<string | null>(null);
	const tagged = kind === "add_tags" || kind === "remove_tags";
	const segments = useQuery({ queryKey: key("segments"), queryFn: () => api("GET /segments", {}), enabled: kind.endsWith("_list") });
	const stages = useQuery({ queryKey: key("stages"), queryFn: () => api("GET /settings/stages", {}), enabled: kind === "set_stage" });
	const types = useQuery({ queryKey: key("email-types"), queryFn: () => api("GET /email-types", {}), enabled: kind.endsWith("subscribe") });
	const known = useQuery({ queryKey: key("suggestions", "tags", typed), queryFn: () => api("GET /suggestions", { query: { for: "tags", q: typed } }), enabled: tagged, retry: false, placeholderData: (b) => b });
	const sequences = useQuery({ queryKey: key("sequences"), queryFn: () => api("GET /sequences", {}), enabled: ofSequence });
	const settable = useFields().filter((f) => !notMany.includes(f.field) && !computed.test(f.field));
	const field = settable.find((f) => f.field === choice);
	const fresh = typed.trim();
	const tagOptions = (known.data?.data ?? []).map((s) => ({ id: s.value, label: s.value, detail: s.count }));
	if (fresh && !tagOptions.some((o) => o.id === fresh)) tagOptions.push({ id: fresh, label: fresh, detail: undefined });
	const options =
		kind === "set_stage"
			? (stages.data?.data ?? []).map((s) => ({ id: s.id, label: s.name }))
			: kind.endsWith("_list")
				? (segments.data?.data ?? []).filter((s) => s.type === "static").map((s) => ({ id: s.segment_key, label: s.name }))
				: ofSequence
					? (sequences.data?.data ?? []).filter((q) => q.status !== "archived").map((q) => ({ id: q.id, label: q.name }))
					: kind === "set_field"
						? fieldOptions(settable)
						: [...(types.data?.data ?? []).map((t) => ({ id: t.type_key, label: t.display_name })), { id: allMail, label: words.allMail }];
	const ready = tagged ? tags.length > 0 : kind === "set_field" ? field !== undefined && (empty || (value !== "" && value !== null)) : choice !== null;
	const params = (): { [name: string]: unknown } =>
		tagged ? { tags } : kind === "set_stage" ? { stage_id: choice } : kind.endsWith("_list") ? { segment_key: choice } : ofSequence ? { sequence_id: choice } : kind === "set_field" ? { field: choice, value: empty ? null : value } : choice === allMail ? {} : { email_type_key: choice };
	return (
		<Dialog
			title={titles[kind]}
			onClose={onClose}
			onSubmit={() => ready && onApply(params())}
			footer={
				<>
					<Button onClick={onClose}>{words.cancel}</Button>
					<Button type="submit" look="primary" why={ready ? undefined : words.choose}>
						{words.apply}
					</Button>
				</>
			}
		>
			{tagged ? (
				<Picks autoFocus label={words.tags} options={tagOptions} values={tags} onChange={setTags} onSearch={setTyped} error={error} />
			) : (
				<>
					<Combo
						autoFocus
						label={ofSequence ? words.sequence : kind === "set_field" ? words.fieldName : words.choose}
						options={options}
						value={choice}
						onChange={(id) => {
							const next = settable.find((f) => f.field === id);
							setChoice(id);
							if (kind === "set_field") setValue(next && (next.kind === "tags" ? [] : initialValue("equals", next.kind)));
						}}
						error={field ? undefined : error}
					/>
					{kind === "set_field" && field && (
						<>
							{!empty && <ValueEditor field={field} operator={field.kind === "tags" ? "has_any" : "equals"} value={value} onChange={setValue} error={error} />}
							<Checkbox label={words.empty} checked={empty} onChange={setEmpty} />
						</>
					)}
				</>
			)}
		</Dialog>
	);
}
