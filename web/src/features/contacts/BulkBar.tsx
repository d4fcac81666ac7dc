import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Tag, X } from "lucide-react";
import { useState } from "react";
import { api, newKey } from "../../api/client";
import type { BulkContactsRequestBody, Contact, ContactSelectorBody, ListContact } from "../../api/schema";
import { useCollection } from "../../base/collections";
import { useDisabledReason } from "../../base/session";
import { fieldOptions } from "../rules/fieldOptions";
import { initialValue } from "../rules/fields";
import { useFields } from "../rules/useFields";
import { ValueEditor } from "../rules/ValueEditor";
import { ActionBar } from "../../ui/ActionBar";
import { Button, IconButton } from "../../ui/Button";
import { Combo, Picks } from "../../ui/Combo";
import { Confirm, Dialog } from "../../ui/Dialog";
import { Checkbox, TextField } from "../../ui/Field";
import { Menu } from "../../ui/Menu";
import { useReturnToTable } from "../../ui/table/useReturnToTable";
import { toast } from "../../ui/Toast";
import { catalogue } from "../../base/words/catalogue";
import { explain } from "../../base/words/errors";
import { resultText } from "../jobs/bulkResult";
import { type BulkAction, type UndoStep, undoSteps } from "./undoSteps";
import { tagsQuery } from "./queries";
import { ofContacts } from "../../base/queries";

const words = catalogue("contacts.bulkBar", {
	selected: "{count, plural, one {# selected} other {# selected}}",
	everybody: "All {count, number} that match",
	chooseAll: "Select all {count, number} that match",
	clear: "Clear",
	tag: "Add tags",
	untag: "Remove tags",
	list: "Add to list",
	unlist: "Remove from list",
	stage: "Set stage",
	dnc: "Do not contact",
	undnc: "Allow contact again",
	subscribe: "Subscribe to email type",
	unsubscribe: "Unsubscribe from email type",
	suppress: "Add to suppression list",
	delete: "Delete",
	restore: "Restore",
	reset: "Reset status",
	export: "Export",
	apply: "Apply",
	tags: "Tags",
	choose: "Choose",
	deleteTitle: "{count, plural, one {Delete # contact?} other {Delete # contacts?}}",
	deleteText: "They get no more email. You can restore them.",
	suppressTitle:
		"{count, plural, one {Add # address to the suppression list?} other {Add # addresses to the suppression list?}}",
	field: "Set field",
	fieldName: "Field",
	empty: "Clear the field",
	enroll: "Add to sequence",
	exit: "Remove from sequence",
	sequence: "Sequence",
	allMail: "All email",
	anonymize: "Anonymise",
	anonymizeTitle: "{count, plural, one {Anonymise # contact?} other {Anonymise # contacts?}}",
	anonymizeText:
		"Names, addresses, fields, tags and events of these people are erased permanently. Only counts in reports remain, and they no longer lead to anybody.",
	keep: "Keep the addresses on the suppression list so that nobody mails them again",
	resetTitle: "{count, plural, one {Reset the status of # contact?} other {Reset the status of # contacts?}}",
	dncTitle: "{count, plural, one {Mark # contact as “do not contact”?} other {Mark # contacts as “do not contact”?}}",
	dncText: "They get no more email until the mark is removed, and they leave their sequences.",
	undncTitle:
		"{count, plural, one {Remove “do not contact” from # contact?} other {Remove “do not contact” from # contacts?}}",
	undncText: "Those who still want email get it again.",
	restoreTitle: "{count, plural, one {Restore # contact?} other {Restore # contacts?}}",
	restoreText: "Deleted contacts get back the status they had before.",
	concerns: "{count, plural, one {# contact is selected.} other {# contacts are selected.}}",
	cannotUndo: "This runs as a job. You can cancel it, but not undo it.",
	leftSequences: "They do not re-enter the sequences they left because of the mark.",
	undone: "{count, plural, one {Undone for # contact} other {Undone for # contacts}}",
	resetText:
		"People who unsubscribed, bounced or reported spam become active again, and their addresses are removed from the suppression list. Do this only if they asked for it.",
	reason: "Internal reason",
	suppressText: "Nothing is ever sent to an address on this list, whoever imports it.",
	limit: "You can select up to 1,000 rows by hand.",
	more: "More",
});

type PendingAction =
	| "add_tags"
	| "remove_tags"
	| "add_to_list"
	| "remove_from_list"
	| "set_stage"
	| "subscribe"
	| "unsubscribe"
	| "enroll"
	| "exit_sequence"
	| "set_field";

type Props = {
	/** The selected contacts, as they were last seen. */
	contacts: Contact[];
	ids: string[];
	allMatching: boolean;
	total?: number;
	selector: ContactSelectorBody;
	onAllMatching: (all: boolean) => void;
	onClear: () => void;
	/** Called with the job that changes or exports the contacts. */
	onJob: (id: string) => void;
	/** The fields of an export: those of the columns shown. */
	exportColumns: string[];
};

/** filterMembers returns which of some contacts are members of a list. */
async function filterMembers(ids: string[], list: unknown): Promise<Set<string>> {
	const members = new Set<string>();
	let cursor: string | null = null;
	do {
		const page: ListContact = await api("POST /contacts/search", {
			body: {
				filters: [
					{ field: "id", operator: "in", value: ids },
					{ field: "list", operator: "in", value: [list] },
				],
				limit: 200,
				cursor,
			},
		});
		for (const contact of page.data) members.add(contact.id);
		cursor = page.next_cursor;
	} while (cursor);
	return members;
}

/** Actions after which the contacts are gone from most views, so that nothing more is done with them. */
const removingActions: BulkAction[] = ["delete", "anonymize"];

type Question = "delete" | "suppress" | "anonymize" | "reset_status" | "restore" | "block" | "unblock";

/** BulkBar acts on the selected contacts, or on all that match the filters. */
export function BulkBar({
	contacts,
	ids,
	allMatching,
	total,
	selector,
	onAllMatching,
	onClear,
	onJob,
	exportColumns,
}: Props) {
	const client = useQueryClient();
	const disabledReason = useDisabledReason("POST /contacts/bulk");
	const anonymizeDisabledReason = useDisabledReason("POST /contacts/{id}/anonymize");
	const [pendingAction, setPendingAction] = useState<PendingAction | null>(null);
	const [confirm, setConfirm] = useState<Question | null>(null);
	const [suppress, setSuppress] = useState(true);
	const [reason, setReason] = useState("");
	const [error, setError] = useState("");
	const [busy, setBusy] = useState(false);
	const count = allMatching ? (total ?? 0) : ids.length;
	const limitReason = !allMatching && ids.length > 1000 ? words.limit : undefined;

	const tableFocus = useReturnToTable();

	const bulk = (body: BulkContactsRequestBody) => api("POST /contacts/bulk", { idempotencyKey: newKey(), body });
	// The job takes the focus.
	const onStarted = (job: string) => {
		tableFocus.stay();
		onJob(job);
	};
	const changed = () => void client.invalidateQueries(ofContacts());
	const undoAction = async (steps: UndoStep[]) => {
		const unavailable = new Set<string>();
		try {
			for (const { action, params, ids } of steps) {
				await bulk({ action, params, contact_ids: ids });
				for (const id of ids) unavailable.add(id);
			}
			const marksDoNotContact = steps.some(
				(step) => step.action === "set_do_not_contact" && step.params?.value === false,
			);
			toast(
				marksDoNotContact
					? `${words.undone({ count: unavailable.size })}. ${words.leftSequences}`
					: words.undone({ count: unavailable.size }),
			);
		} catch (error) {
			toast(explain(error), { tone: "danger" });
		}
		changed();
	};
	// An undo changes only the contacts that the action changed. It is offered if all are known as they were before.
	const undoStepsFor = async (action: BulkAction, params?: { [name: string]: unknown }): Promise<UndoStep[]> => {
		if (action === "add_to_list" || action === "remove_from_list") {
			const members = await filterMembers(ids, params?.segment_key);
			return action === "add_to_list"
				? [{ action: "remove_from_list", params, ids: ids.filter((id) => !members.has(id)) }]
				: [{ action: "add_to_list", params, ids: ids.filter((id) => members.has(id)) }];
		}
		return contacts.length === ids.length ? undoSteps(action, contacts, params) : [];
	};
	const send = async (action: BulkAction, params?: { [name: string]: unknown }) => {
		if (busy) return;
		setBusy(true);
		try {
			if (allMatching) {
				const { job_id } = await bulk({ action, params, selector });
				if (job_id) onStarted(job_id);
			} else {
				const steps = (await undoStepsFor(action, params)).filter((step) => step.ids.length > 0);
				const answer = await bulk({ action, params, contact_ids: ids });
				toast(resultText(answer), {
					undo: steps.length > 0 && (answer.affected ?? 0) > 0 ? () => void undoAction(steps) : undefined,
				});
				if (removingActions.includes(action)) onClear();
			}
			changed();
			setPendingAction(null);
			setConfirm(null);
			setError("");
		} catch (error) {
			if (pendingAction || confirm) setError(explain(error));
			else toast(explain(error), { tone: "danger" });
		}
		setBusy(false);
	};
	// Jobs cannot be undone, so what else happens at once is asked about.
	const runOrConfirm = (question: Question, action: BulkAction, params?: { [name: string]: unknown }) =>
		allMatching ? setConfirm(question) : void send(action, params);
	const exportContacts = async () => {
		try {
			const { job_id } = await api("POST /contacts/export", {
				idempotencyKey: newKey(),
				body: {
					format: "csv",
					bom: true,
					fields: exportColumns,
					selector: allMatching ? selector : { filters: [{ field: "id", operator: "in", value: ids }] },
				},
			});
			onStarted(job_id);
		} catch (error) {
			toast(explain(error), { tone: "danger" });
		}
	};
	return (
		<ActionBar>
			<p role="status">{allMatching ? words.everybody({ count }) : words.selected({ count })}</p>
			{!allMatching && total !== undefined && total > ids.length && (
				<Button small variant="quiet" onClick={() => onAllMatching(true)}>
					{words.chooseAll({ count: total })}
				</Button>
			)}
			<Button
				small
				icon={<Tag aria-hidden />}
				disabledReason={disabledReason ?? limitReason}
				onClick={() => setPendingAction("add_tags")}
			>
				{words.tag}
			</Button>
			<Button small disabledReason={disabledReason ?? limitReason} onClick={() => setPendingAction("add_to_list")}>
				{words.list}
			</Button>
			<Menu
				small
				label={words.more}
				actions={[
					{
						id: "untag",
						label: words.untag,
						disabledReason: disabledReason ?? limitReason,
						run: () => setPendingAction("remove_tags"),
					},
					{
						id: "unlist",
						label: words.unlist,
						disabledReason: disabledReason ?? limitReason,
						run: () => setPendingAction("remove_from_list"),
					},
					{
						id: "stage",
						label: words.stage,
						disabledReason: disabledReason ?? limitReason,
						run: () => setPendingAction("set_stage"),
					},
					{
						id: "field",
						label: words.field,
						disabledReason: disabledReason ?? limitReason,
						run: () => setPendingAction("set_field"),
					},
					{
						id: "enroll",
						label: words.enroll,
						disabledReason: disabledReason ?? limitReason,
						run: () => setPendingAction("enroll"),
					},
					{
						id: "exit",
						label: words.exit,
						disabledReason: disabledReason ?? limitReason,
						run: () => setPendingAction("exit_sequence"),
					},
					{
						id: "subscribe",
						label: words.subscribe,
						disabledReason: disabledReason ?? limitReason,
						run: () => setPendingAction("subscribe"),
					},
					{
						id: "unsubscribe",
						label: words.unsubscribe,
						disabledReason: disabledReason ?? limitReason,
						run: () => setPendingAction("unsubscribe"),
					},
					{
						id: "dnc",
						label: words.dnc,
						disabledReason: disabledReason ?? limitReason,
						run: () => runOrConfirm("block", "set_do_not_contact", { value: true }),
					},
					{
						id: "undnc",
						label: words.undnc,
						disabledReason: disabledReason ?? limitReason,
						run: () => runOrConfirm("unblock", "set_do_not_contact", { value: false }),
					},
					{ id: "export", label: words.export, disabledReason, run: () => void exportContacts() },
					{
						id: "restore",
						label: words.restore,
						disabledReason: disabledReason ?? limitReason,
						run: () => runOrConfirm("restore", "restore"),
					},
					{
						id: "reset",
						label: words.reset,
						disabledReason: anonymizeDisabledReason ?? limitReason,
						run: () => setConfirm("reset_status"),
					},
					{
						id: "suppress",
						label: words.suppress,
						danger: true,
						disabledReason: disabledReason ?? limitReason,
						run: () => setConfirm("suppress"),
					},
					{
						id: "delete",
						label: words.delete,
						danger: true,
						disabledReason: disabledReason ?? limitReason,
						run: () => runOrConfirm("delete", "delete"),
					},
					{
						id: "anonymize",
						label: words.anonymize,
						danger: true,
						disabledReason: anonymizeDisabledReason ?? limitReason,
						run: () => setConfirm("anonymize"),
					},
				]}
			/>
			<IconButton small label={words.clear} icon={<X aria-hidden />} onClick={onClear} />
			{pendingAction && (
				<BulkActionDialog
					kind={pendingAction}
					count={count}
					job={allMatching}
					busy={busy}
					error={error}
					onClose={() => {
						setPendingAction(null);
						setError("");
					}}
					onApply={(params) => void send(pendingAction, params)}
				/>
			)}
			{confirm && (
				<Confirm
					title={asks()[confirm].title({ count })}
					action={asks()[confirm].action}
					type={confirm === "anonymize" || confirm === "reset_status" ? String(count) : undefined}
					busy={busy}
					danger={confirm !== "restore" && confirm !== "unblock"}
					error={error && <p role="alert">{error}</p>}
					onConfirm={() =>
						void send(
							asks()[confirm].bulkAction,
							confirm === "anonymize"
								? { suppress }
								: confirm === "suppress" && reason
									? { reason }
									: asks()[confirm].params,
						)
					}
					onClose={() => {
						setConfirm(null);
						setError("");
					}}
				>
					<p>{asks()[confirm].text}</p>
					{allMatching && <p>{words.cannotUndo}</p>}
					{confirm === "anonymize" && <Checkbox label={words.keep} checked={suppress} onChange={setSuppress} />}
					{confirm === "suppress" && <TextField label={words.reason} optional value={reason} onChange={setReason} />}
				</Confirm>
			)}
		</ActionBar>
	);
}

const asks = (): {
	[Q in Question]: {
		title: (values: { count: number }) => string;
		text: string;
		action: string;
		bulkAction: BulkAction;
		params?: { [name: string]: unknown };
	};
} => ({
	delete: {
		title: words.deleteTitle,
		text: words.deleteText,
		action: words.delete,
		bulkAction: "delete",
	},
	suppress: {
		title: words.suppressTitle,
		text: words.suppressText,
		action: words.suppress,
		bulkAction: "suppress",
	},
	anonymize: {
		title: words.anonymizeTitle,
		text: words.anonymizeText,
		action: words.anonymize,
		bulkAction: "anonymize",
	},
	reset_status: {
		title: words.resetTitle,
		text: words.resetText,
		action: words.reset,
		bulkAction: "reset_status",
	},
	restore: {
		title: words.restoreTitle,
		text: words.restoreText,
		action: words.restore,
		bulkAction: "restore",
	},
	block: {
		title: words.dncTitle,
		text: words.dncText,
		action: words.dnc,
		bulkAction: "set_do_not_contact",
		params: { value: true },
	},
	unblock: {
		title: words.undncTitle,
		text: words.undncText,
		action: words.undnc,
		bulkAction: "set_do_not_contact",
		params: { value: false },
	},
});

const titles = (): { [A in PendingAction]: string } => ({
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
});

/** Fields that the program counts or writes. */
const computedFields = /^(total_|last_(activity|email)|created_at|updated_at|prospect_score|customer_score|full_name$)/;

/** The id that stands for all mail where an email type is chosen. */
const allEmailTypes = "*";

/** Fields that an action on many contacts cannot set: each has its own value, or an action of its own. */
const singleValueFields = [
	"email",
	"email_domain",
	"external_id",
	"stage",
	"tags",
	"list",
	"global_status",
	"deliverability_status",
	"do_not_contact",
];

type BulkActionProps = {
	kind: PendingAction;
	count: number;
	/** Whether it runs as a job. */
	job: boolean;
	busy: boolean;
	error: string;
	onClose: () => void;
	onApply: (params: { [name: string]: unknown }) => void;
};

function BulkActionDialog({ kind, count, job, busy, error, onClose, onApply }: BulkActionProps) {
	const [tags, setTags] = useState<string[]>([]);
	const [text, setText] = useState("");
	const [value, setValue] = useState<unknown>("");
	const [empty, setEmpty] = useState(false);
	const needsSequence = kind === "enroll" || kind === "exit_sequence";
	const [choice, setChoice] = useState<string | null>(null);
	const needsTags = kind === "add_tags" || kind === "remove_tags";
	const segments = useCollection("segments", { enabled: kind.endsWith("_list") });
	const stages = useCollection("stages", { enabled: kind === "set_stage" });
	const types = useCollection("email_types", { enabled: kind.endsWith("subscribe") });
	const known = useQuery({ ...tagsQuery(text), enabled: needsTags });
	const sequences = useCollection("sequences", { enabled: needsSequence });
	const settableFields = useFields().filter(
		(useField) => !singleValueFields.includes(useField.field) && !computedFields.test(useField.field),
	);
	const field = settableFields.find((field) => field.field === choice);
	const newTag = text.trim();
	const tagOptions = (known.data?.data ?? []).map((suggestion) => ({
		id: suggestion.value,
		label: suggestion.value,
		detail: suggestion.count,
	}));
	if (newTag && !tagOptions.some((tagOption) => tagOption.id === newTag))
		tagOptions.push({ id: newTag, label: newTag, detail: undefined });
	const options =
		kind === "set_stage"
			? (stages.data?.data ?? []).map((stage) => ({ id: stage.id, label: stage.name }))
			: kind.endsWith("_list")
				? (segments.data?.data ?? [])
						.filter((segment) => segment.type === "static")
						.map((segment) => ({ id: segment.segment_key, label: segment.name }))
				: needsSequence
					? (sequences.data?.data ?? [])
							.filter((sequence) => kind === "exit_sequence" || sequence.status === "active")
							.map((sequence) => ({ id: sequence.id, label: sequence.name }))
					: kind === "set_field"
						? fieldOptions(settableFields)
						: [
								...(types.data?.data ?? []).map((emailType) => ({
									id: emailType.type_key,
									label: emailType.display_name,
								})),
								{ id: allEmailTypes, label: words.allMail },
							];
	const ready = needsTags
		? tags.length > 0
		: kind === "set_field"
			? field !== undefined && (empty || (value !== "" && value !== null))
			: choice !== null;
	const params = (): { [name: string]: unknown } =>
		needsTags
			? { tags }
			: kind === "set_stage"
				? { stage_id: choice }
				: kind.endsWith("_list")
					? { segment_key: choice }
					: needsSequence
						? { sequence_id: choice }
						: kind === "set_field"
							? { field: choice, value: empty ? null : value }
							: choice === allEmailTypes
								? {}
								: { email_type_key: choice };
	return (
		<Dialog
			title={titles()[kind]}
			onClose={onClose}
			onSubmit={() => ready && onApply(params())}
			submit={{ label: words.apply, busy, disabledReason: ready ? undefined : words.choose }}
		>
			<p>
				{words.concerns({ count })} {job && words.cannotUndo}
			</p>
			{needsTags ? (
				<Picks
					autoFocus
					label={words.tags}
					options={tagOptions}
					values={tags}
					onChange={setTags}
					onSearch={setText}
					error={error}
				/>
			) : (
				<>
					<Combo
						autoFocus
						label={needsSequence ? words.sequence : kind === "set_field" ? words.fieldName : words.choose}
						options={options}
						value={choice}
						onChange={(id) => {
							const next = settableFields.find((field) => field.field === id);
							setChoice(id);
							if (kind === "set_field")
								setValue(next && (next.kind === "tags" ? [] : initialValue("equals", next.kind)));
						}}
						error={field ? undefined : error}
					/>
					{kind === "set_field" && field && (
						<>
							{!empty && (
								<ValueEditor
									field={field}
									operator={field.kind === "tags" ? "has_any" : "equals"}
									value={value}
									onChange={setValue}
									error={error}
								/>
							)}
							<Checkbox label={words.empty} checked={empty} onChange={setEmpty} />
						</>
					)}
				</>
			)}
		</Dialog>
	);
}
