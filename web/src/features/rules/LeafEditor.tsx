import { useContext } from "react";
import { useCollection } from "../../base/collections";
import { Combo, Picks } from "../../ui/Combo";
import { NumberField, Select, TextField } from "../../ui/Field";
import { catalogue } from "../../base/words/catalogue";
import { fieldOptions } from "./fieldOptions";
import { type FieldInfo, initialValue, operatorName, operators, shapeOf } from "./fields";
import { type Kind, kindOf, type Leaf, leafWords, newLeaf } from "./leaves";
import { EventFilters, EventName, EventSequence } from "./EventParts";
import { type ErrorOf, OperatorOf, type Part, When } from "./LeafParts";
import { Condition } from "./Properties";
import { StartEvent } from "./startEvent";
import { ValueEditor } from "./ValueEditor";

const words = catalogue("rules.leafEditor", {
	about: "Type",
	field: "Field",
	condition: "Condition",
	lists: "Lists",
	segments: "Segments",
	event: "What happened",
	types: "Email types",
	anyType: "Any",
	broadcast: "Broadcast",
	link: "Link (any if empty)",
	url: "URL",
	match: "Match",
	form: "Form",
	type: "Email type",
	sequence: "Sequence",
	level: "Counted",
	count: "How often",
	times: "Times",
	any: "at least once",
});

type Props = {
	leaf: Leaf;
	fields: FieldInfo[];
	onChange: (leaf: Leaf) => void;
	/** The first problem of the condition, which the conditions show that have a single part to enter. */
	error?: string;
	errorOf: ErrorOf;
};

/** LeafEditor edits one condition as a sentence: about what, which condition, with what value, when, how often. */
export function LeafEditor({ leaf, fields, onChange, error, errorOf }: Props) {
	const kind = kindOf(leaf);
	const set = (part: Partial<Leaf>) => onChange({ ...leaf, ...part });
	const startEvent = useContext(StartEvent);
	const kinds = Object.entries(leafWords.kinds)
		.filter(([value]) => startEvent !== null || value === kind || value !== "trigger_event")
		.map(([value, label]) => ({ value, label }));
	return (
		<>
			<Select
				label={words.about}
				value={kind}
				onChange={(value) => onChange(newLeaf(value as Kind, fields))}
				choices={kinds}
			/>
			{kind === "field" ? (
				<FieldParts leaf={leaf} fields={fields} onChange={onChange} error={error} />
			) : kind === "trigger_event" ? (
				<Condition
					eventName={startEvent ?? undefined}
					filter={{ property: leaf.property ?? "", operator: leaf.operator ?? "equals", value: leaf.value }}
					onChange={(filter) => onChange({ type: kind, ...filter })}
					error={error}
				/>
			) : kind === "event_sequence" ? (
				<EventSequence leaf={leaf} set={set} errorOf={errorOf} />
			) : (
				<OtherParts key={kind} kind={kind} leaf={leaf} set={set} error={error} errorOf={errorOf} />
			)}
		</>
	);
}

function FieldParts({ leaf, fields, onChange, error }: Omit<Props, "errorOf">) {
	const field = fields.find((field) => field.field === leaf.field);
	return (
		<>
			<Combo
				label={words.field}
				options={fieldOptions(fields.filter((field) => field.kind !== "list"))}
				value={leaf.field ?? null}
				onChange={(id) => {
					const next = fields.find((field) => field.field === id);
					const operator = next && operators[next.kind][0];
					if (next && operator) onChange({ field: next.field, operator, value: initialValue(operator, next.kind) });
				}}
				error={field ? undefined : error}
			/>
			{field && (
				<Select
					label={words.condition}
					value={leaf.operator ?? ""}
					onChange={(operator) =>
						onChange({
							...leaf,
							operator,
							value:
								shapeOf(operator) === shapeOf(leaf.operator ?? "") ? leaf.value : initialValue(operator, field.kind),
						})
					}
					choices={operators[field.kind].map((operator) => ({ value: operator, label: operatorName(operator) }))}
				/>
			)}
			{field && leaf.operator && (
				<ValueEditor
					field={field}
					operator={leaf.operator}
					value={leaf.value}
					onChange={(value) => onChange({ ...leaf, value })}
					error={error}
				/>
			)}
		</>
	);
}

function OtherParts({ kind, leaf, set, error, errorOf }: Part & { kind: Exclude<Kind, "field">; errorOf: ErrorOf }) {
	const hasTimeWindow = ["email", "event", "page_view", "form", "sequence"].includes(kind) || kind === "list";
	const aboutMail = ["email", "broadcast", "sequence_email"].includes(kind);
	const counted = ["email", "event", "page_view"].includes(kind);
	return (
		<>
			<OperatorOf kind={kind} leaf={leaf} set={set} />
			{(kind === "list" || kind === "segment") && <Members kind={kind} leaf={leaf} set={set} error={error} />}
			{aboutMail && (
				<Select
					label={words.event}
					value={leaf.event ?? ""}
					onChange={(event) => set({ event })}
					choices={Object.entries(leafWords.events)
						.filter(([event]) => kind === "broadcast" || (event !== "recipient" && event !== "engaged"))
						.map(([value, label]) => ({ value, label }))}
				/>
			)}
			{kind === "email" && <Types leaf={leaf} set={set} />}
			{kind === "broadcast" && <Broadcast leaf={leaf} set={set} error={error} />}
			{aboutMail && (leaf.event === "opened" || leaf.event === "engaged") && (
				<Select
					label={words.level}
					value={leaf.level ?? "verified"}
					onChange={(level) => set({ level: level === "verified" ? undefined : level })}
					choices={Object.entries(leafWords.levels).map(([value, label]) => ({ value, label }))}
				/>
			)}
			{kind === "event" && <EventName leaf={leaf} set={set} error={errorOf("filters") ? undefined : error} />}
			{kind === "page_view" && (
				<>
					<Select
						label={words.match}
						value={leaf.match ?? "contains"}
						onChange={(match) => set({ match })}
						choices={Object.entries(leafWords.matches).map(([value, label]) => ({ value, label }))}
					/>
					<TextField label={words.url} value={leaf.url ?? ""} onChange={(url) => set({ url })} error={error} />
				</>
			)}
			{kind === "form" && <FormName leaf={leaf} set={set} error={error} />}
			{kind === "subscription" && <Type leaf={leaf} set={set} error={error} />}
			{(kind === "sequence" || kind === "sequence_email") && <Sequence leaf={leaf} set={set} error={error} />}
			{counted && <FrequencyFields leaf={leaf} set={set} />}
			{hasTimeWindow && kind !== "list" && <When leaf={leaf} set={set} />}
			{kind === "event" && <EventFilters match={leaf} onChange={(filters) => set({ filters })} errorOf={errorOf} />}
		</>
	);
}

function Members({ kind, leaf, set, error }: Part & { kind: "list" | "segment" }) {
	const segments = useCollection("segments");
	const options = (segments.data?.data ?? [])
		.filter((segment) => (segment.type === "static") === (kind === "list"))
		.map((segment) => ({ id: segment.segment_key, label: segment.name }));
	return (
		<Picks
			label={kind === "list" ? words.lists : words.segments}
			options={options}
			values={leaf.segment_keys ?? []}
			onChange={(segment_keys) => set({ segment_keys })}
			error={error}
		/>
	);
}

function useTypes() {
	const types = useCollection("email_types");
	return (types.data?.data ?? []).map((emailType) => ({ id: emailType.type_key, label: emailType.display_name }));
}

function Types({ leaf, set }: Part) {
	return (
		<Picks
			label={words.types}
			placeholder={words.anyType}
			options={useTypes()}
			values={leaf.email_type_keys ?? []}
			onChange={(value) => set({ email_type_keys: value.length ? value : undefined })}
		/>
	);
}

function Type({ leaf, set, error }: Part) {
	return (
		<Combo
			label={words.type}
			options={useTypes()}
			value={leaf.email_type_key ?? null}
			onChange={(value) => set({ email_type_key: value ?? undefined })}
			error={error}
		/>
	);
}

function Broadcast({ leaf, set, error }: Part) {
	const all = useCollection("broadcasts");
	return (
		<>
			<Combo
				label={words.broadcast}
				options={(all.data?.data ?? []).map((broadcast) => ({ id: broadcast.id, label: broadcast.name }))}
				value={leaf.broadcast_id ?? null}
				onChange={(id) => set({ broadcast_id: id ?? undefined })}
				error={error}
			/>
			{leaf.event === "clicked" && (
				<TextField
					label={words.link}
					value={leaf.link_url ?? ""}
					onChange={(value) => set({ link_url: value || undefined })}
				/>
			)}
		</>
	);
}

function FormName({ leaf, set, error }: Part) {
	const forms = useCollection("forms");
	return (
		<Combo
			label={words.form}
			options={(forms.data?.data ?? []).map((form) => ({ id: form.slug, label: form.name }))}
			value={leaf.form_slug ?? null}
			onChange={(value) => set({ form_slug: value ?? undefined })}
			error={error}
		/>
	);
}

function Sequence({ leaf, set, error }: Part) {
	const all = useCollection("sequences");
	return (
		<Combo
			label={words.sequence}
			options={(all.data?.data ?? []).map((sequence) => ({ id: sequence.id, label: sequence.name }))}
			value={leaf.sequence_id ?? null}
			onChange={(id) => set({ sequence_id: id ?? undefined })}
			error={error}
		/>
	);
}

function FrequencyFields({ leaf, set }: Part) {
	const count = leaf.count;
	return (
		<>
			<Select
				label={words.count}
				value={count?.operator ?? ""}
				onChange={(operator) => set({ count: operator ? { operator, value: count?.value ?? 2 } : undefined })}
				choices={[
					{ value: "", label: words.any },
					...Object.entries(leafWords.counts).map(([value, label]) => ({ value, label })),
				]}
			/>
			{count && (
				<NumberField
					label={words.times}
					min={0}
					value={count.value}
					onChange={(value) => set({ count: { ...count, value } })}
				/>
			)}
		</>
	);
}
