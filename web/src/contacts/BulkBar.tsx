import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Tag, X } from "lucide-react";
import { useState } from "react";
import { api, newKey } from "../api/client";
import type { BulkContactsRequestBody, Contact, ContactSelectorBody } from "../api/schema";
import { useKey, useWhyNot } from "../app/session";
import { Button } from "../ui/Button";
import { Combo, Picks } from "../ui/Combo";
import { Confirm, Dialog } from "../ui/Dialog";
import { Menu } from "../ui/Menu";
import { toast } from "../ui/Toast";
import { catalogue, full, plural } from "../words/catalogue";
import { explain } from "../words/errors";
import css from "./Contacts.module.css";

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
	done: (n: number, skipped: number) =>
		plural(n, { one: "# contact changed", other: "# contacts changed" }) + (skipped ? `, ${full(skipped)} left as they were` : ""),
	deleteTitle: (n: number) => plural(n, { one: "Delete # contact?", other: "Delete # contacts?" }),
	deleteText: "They get no more mail. They can be restored.",
	suppressTitle: (n: number) => plural(n, { one: "Add # address to the suppression list?", other: "Add # addresses to the suppression list?" }),
	suppressText: "Nothing is ever sent to an address on this list, whoever imports it.",
	limit: "At most 1,000 rows can be chosen by hand.",
	more: "More",
});

type ActionName = BulkContactsRequestBody["action"];
type Ask = "add_tags" | "remove_tags" | "add_to_list" | "remove_from_list" | "set_stage" | "subscribe" | "unsubscribe";

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
	const [confirm, setConfirm] = useState<"delete" | "suppress" | null>(null);
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
				toast(words.done(answer.affected ?? 0, answer.skipped ?? 0), { undo });
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
					{ id: "subscribe", label: words.subscribe, why: why ?? tooMany, run: () => setAsk("subscribe") },
					{ id: "unsubscribe", label: words.unsubscribe, why: why ?? tooMany, run: () => setAsk("unsubscribe") },
					{ id: "dnc", label: words.dnc, why: why ?? tooMany, run: () => void send("set_do_not_contact", { value: true }) },
					{ id: "undnc", label: words.undnc, why: why ?? tooMany, run: () => void send("set_do_not_contact", { value: false }) },
					{ id: "export", label: words.export, why, run: () => void exportThem() },
					{ id: "restore", label: words.restore, why: why ?? tooMany, run: () => void send("restore") },
					{ id: "reset", label: words.reset, why: adminOnly ?? tooMany, run: () => void send("reset_status") },
					{ id: "suppress", label: words.suppress, danger: true, why: why ?? tooMany, run: () => setConfirm("suppress") },
					{ id: "delete", label: words.delete, danger: true, why: why ?? tooMany, run: () => (everybody ? setConfirm("delete") : void send("delete")) },
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
					title={confirm === "delete" ? words.deleteTitle(count) : words.suppressTitle(count)}
					action={confirm === "delete" ? words.delete : words.suppress}
					error={error && <p>{error}</p>}
					onConfirm={() => void send(confirm)}
					onClose={() => setConfirm(null)}
				>
					<p>{confirm === "delete" ? words.deleteText : words.suppressText}</p>
				</Confirm>
			)}
		</div>
	);
}

const titles: { [A in Ask]: string } = {
	add_tags: words.tag,
	remove_tags: words.untag,
	add_to_list: words.list,
	remove_from_list: words.unlist,
	set_stage: words.stage,
	subscribe: words.subscribe,
	unsubscribe: words.unsubscribe,
};

function AskDialog({ kind, error, onClose, onApply }: { kind: Ask; error: string; onClose: () => void; onApply: (params: { [name: string]: unknown }) => void }) {
	const key = useKey();
	const [tags, setTags] = useState<string[]>([]);
	const [typed, setTyped] = useState("");
	const [choice, setChoice] = useState<string | null>(null);
	const tagged = kind === "add_tags" || kind === "remove_tags";
	const segments = useQuery({ queryKey: key("segments"), queryFn: () => api("GET /segments", {}), enabled: kind.endsWith("_list") });
	const stages = useQuery({ queryKey: key("stages"), queryFn: () => api("GET /settings/stages", {}), enabled: kind === "set_stage" });
	const types = useQuery({ queryKey: key("email-types"), queryFn: () => api("GET /email-types", {}), enabled: kind.endsWith("subscribe") });
	const known = useQuery({ queryKey: key("suggestions", "tags", typed), queryFn: () => api("GET /suggestions", { query: { for: "tags", q: typed } }), enabled: tagged, retry: false, placeholderData: (b) => b });
	const fresh = typed.trim();
	const tagOptions = (known.data?.data ?? []).map((s) => ({ id: s.value, label: s.value, detail: s.count }));
	if (fresh && !tagOptions.some((o) => o.id === fresh)) tagOptions.push({ id: fresh, label: fresh, detail: undefined });
	const options =
		kind === "set_stage"
			? (stages.data?.data ?? []).map((s) => ({ id: s.id, label: s.name }))
			: kind.endsWith("_list")
				? (segments.data?.data ?? []).filter((s) => s.type === "static").map((s) => ({ id: s.segment_key, label: s.name }))
				: (types.data?.data ?? []).map((t) => ({ id: t.type_key, label: t.display_name }));
	const ready = tagged ? tags.length > 0 : choice !== null;
	const params = (): { [name: string]: unknown } =>
		tagged ? { tags } : kind === "set_stage" ? { stage_id: choice } : kind.endsWith("_list") ? { segment_key: choice } : { email_type_key: choice };
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
				<Combo autoFocus label={words.choose} options={options} value={choice} onChange={setChoice} error={error} />
			)}
		</Dialog>
	);
}
