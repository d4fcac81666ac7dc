import type { ReactNode } from "react";
import { catalogue } from "../../base/words/catalogue";
import { TextField } from "../../ui/Field";
import { matchAt, ofBroadcast, ofSequence, withField, withMatch } from "./edits";
import { EventName } from "./EventName";
import { unitsWithin } from "./eventSequence";
import type { FieldInfo } from "./fields";
import { kindOf, type Leaf } from "./leaves";
import type { Control } from "./PartButton";
import { Broadcasts, Consents, FieldChoice, Forms, Lists, Sequences, Types } from "./RecordFields";
import { ValueEditor } from "./ValueEditor";
import { Duration, HowOften, When } from "./WhenFields";

const words = catalogue("rules.partFields", {
	field: "Field",
	value: "Value",
	lists: "Lists",
	segments: "Segments",
	types: "Email types",
	type: "Email type",
	broadcast: "Broadcast",
	sequence: "Sequence",
	form: "Form",
	url: "URL",
	link: "Link",
	count: "How often",
	version: "Version",
	versionHelp: "It counts in one version of the broadcast only.",
	step: "Email",
	stepHelp: "It counts in one email of the sequence only.",
	window: "When",
	added: "Added",
	within: "Within",
	name: "Event",
	first: "First event",
	next: "Event that follows",
});

/** Edited is a condition that is changed. */
export type Edited = { leaf: Leaf; fields: FieldInfo[]; onChange: (leaf: Leaf) => void };

/** Editing is what the fields of a part need. */
type Editing = Edited & { set: (part: Partial<Leaf>) => void; label: string; error: string | undefined };

type Editor = { label: (leaf: Leaf) => string; fields: (editing: Editing) => ReactNode };

/** textEditor changes an address that is typed. */
const textEditor = (member: "url" | "link_url", label: () => string): Editor => ({
	label,
	fields: ({ leaf, set, ...rest }) => (
		<TextField
			autoFocus
			label={rest.label}
			error={rest.error}
			value={leaf[member] ?? ""}
			onChange={(url) => set({ [member]: url })}
		/>
	),
});

/** windowEditor changes when something happened. */
const windowEditor = (member: "window" | "added", label: () => string): Editor => ({
	label,
	fields: ({ leaf, set, error }) => {
		const window = leaf[member];
		return window && <When window={window} onChange={(next) => set({ [member]: next })} error={error} />;
	},
});

/** eventEditor changes the name of an event: that of the condition, or one of two. */
const eventEditor = (id: string, label: () => string): Editor => ({
	label,
	fields: ({ leaf, onChange, ...rest }) => {
		const match = matchAt(leaf, id);
		return (
			<EventName
				autoFocus
				label={rest.label}
				error={rest.error}
				leaf={match}
				set={({ event_name }) => onChange(withMatch(leaf, id, { ...match, event_name }))}
			/>
		);
	},
});

const editors: { [part: string]: Editor } = {
	field: {
		label: () => words.field,
		fields: ({ leaf, fields, onChange, label, error }) => (
			<FieldChoice
				label={label}
				error={error}
				fields={fields}
				value={leaf.field}
				onChange={(field) => onChange(withField(field))}
			/>
		),
	},
	value: {
		label: () => words.value,
		fields: ({ leaf, fields, set, error }) => (
			<ValueEditor
				autoFocus
				error={error}
				field={
					fields.find((field) => field.field === leaf.field) ?? {
						field: leaf.field ?? "",
						name: "",
						group: "",
						kind: "reference",
					}
				}
				operator={leaf.operator ?? ""}
				value={leaf.value}
				onChange={(value) => set({ value })}
			/>
		),
	},
	segment_keys: {
		label: (leaf) => (kindOf(leaf) === "list" ? words.lists : words.segments),
		fields: ({ leaf, set, label, error }) => (
			<Lists
				label={label}
				error={error}
				isStatic={kindOf(leaf) === "list"}
				values={leaf.segment_keys ?? []}
				onChange={(segment_keys) => set({ segment_keys })}
			/>
		),
	},
	email_type_keys: {
		label: () => words.types,
		fields: ({ leaf, set, label, error }) => (
			<Types
				label={label}
				error={error}
				values={leaf.email_type_keys ?? []}
				onChange={(keys) => set({ email_type_keys: keys.length ? keys : undefined })}
			/>
		),
	},
	email_type_key: {
		label: () => words.type,
		fields: ({ leaf, set, label, error }) => (
			<Consents label={label} error={error} type={leaf.email_type_key} category={leaf.category_id} onChange={set} />
		),
	},
	broadcast_id: {
		label: () => words.broadcast,
		fields: ({ leaf, onChange, label, error }) => (
			<Broadcasts
				label={label}
				error={error}
				value={leaf.broadcast_id}
				onChange={(id) => onChange(ofBroadcast(leaf, id))}
			/>
		),
	},
	sequence_id: {
		label: () => words.sequence,
		fields: ({ leaf, onChange, label, error }) => (
			<Sequences
				label={label}
				error={error}
				value={leaf.sequence_id}
				onChange={(id) => onChange(ofSequence(leaf, id))}
			/>
		),
	},
	variant_id: { label: () => words.version, fields: () => <p>{words.versionHelp}</p> },
	node_id: { label: () => words.step, fields: () => <p>{words.stepHelp}</p> },
	form_slug: {
		label: () => words.form,
		fields: ({ leaf, set, label, error }) => (
			<Forms label={label} error={error} value={leaf.form_slug} onChange={(form_slug) => set({ form_slug })} />
		),
	},
	url: textEditor("url", () => words.url),
	link_url: textEditor("link_url", () => words.link),
	count: {
		label: () => words.count,
		fields: ({ leaf, set, error }) =>
			leaf.count && <HowOften count={leaf.count} onChange={(count) => set({ count })} error={error} />,
	},
	window: windowEditor("window", () => words.window),
	added: windowEditor("added", () => words.added),
	within: {
		label: () => words.within,
		fields: ({ leaf, set, label, error }) => (
			<Duration
				autoFocus
				label={label}
				error={error}
				units={unitsWithin}
				value={leaf.within ?? { amount: 7, unit: "day" }}
				onChange={(within) => set({ within })}
			/>
		),
	},
	event_name: eventEditor("event_name", () => words.name),
	"first.event_name": eventEditor("first.event_name", () => words.first),
	"then.event_name": eventEditor("then.event_name", () => words.next),
};

/** partFields returns what changes a part of a condition by fields of its own. */
export function partFields(id: string, edited: Edited): Control {
	const editor = editors[id];
	if (!editor) return { label: id };
	const { leaf, onChange } = edited;
	const label = editor.label(leaf);
	return {
		label,
		fields: (error) => editor.fields({ ...edited, set: (part) => onChange({ ...leaf, ...part }), label, error }),
	};
}
