import { useCollection } from "../../base/collections";
import { EventName } from "../rules/LeafEditor";
import { Properties } from "../rules/Properties";
import type { PropertyFilter } from "../rules/propertyFilters";
import { Combo } from "../../ui/Combo";
import { Checkbox, Radios, Select, TextField } from "../../ui/Field";
import { catalogue } from "../../base/words/catalogue";
import type { Config } from "./graph";
import { DateField, Offset } from "./fields/When";
import type { Names } from "./steps";
import { fieldValue } from "./fieldValue";

const words = catalogue("sequences.trigger", {
	what: "Trigger",
	kinds: {
		"": "None: only manually, by an automation or through the API",
		event: "An event happens",
		segment_entered: "A contact enters a segment",
		segment_left: "A contact leaves a segment",
		list_added: "A contact is added to a list",
		form_submitted: "A form is submitted",
		tag_added: "A tag is added",
		stage_changed: "The stage changes",
		contact_created: "A contact is created",
		field_changed: "A field changes",
		date: "A date field of the contact is reached",
		email_engagement: "An email is opened or clicked",
	},
	segment: "Segment or list",
	existing: "Include people already inside",
	existingHelp: "They enter when the sequence becomes active. Otherwise only people who enter from then on.",
	list: "List",
	form: "Form",
	tag: "Tag",
	from: "From stage",
	any: "Any",
	to: "To stage",
	source: "Source",
	sourceHelp: "Such as form, import or api. Any if empty.",
	field: "Field",
	value: "New value",
	valueHelp: "Any if empty.",
	time: "Time of day",
	timeHelp: "In the contact's time zone. If empty, the time of the date.",
	repeat: "How often",
	repeats: { none: "Once", yearly: "Each year" },
	did: "What happened",
	dids: { opened: "It was opened by a person", clicked: "A person clicked" },
	broadcast: "Broadcast",
	broadcastHelp: "Any email if empty.",
	link: "Link",
	linkHelp: "Any if empty.",
});

type Props = {
	type: string;
	config: Config;
	names: Names;
	/** Something must start it, as with automations. */
	required?: boolean;
	onChange: (type: string, config: Config) => void;
	problem: (path: string) => string | undefined;
};

const initial: { [type: string]: Config } = {
	event: { event_name: "" },
	segment_entered: { segment_key: "" },
	segment_left: { segment_key: "" },
	list_added: { segment_key: "" },
	date: { field: "", repeat: "none" },
	email_engagement: { event: "clicked" },
};

const textOf = (v: unknown) => (typeof v === "string" || typeof v === "number" ? String(v) : "");
const optionsOf = (m: Map<string, string>) => [...m].map(([id, label]) => ({ id, label }));
const choicesOf = (o: { [value: string]: string }) => Object.entries(o).map(([value, label]) => ({ value, label }));

/** TriggerFields edits what starts a sequence or an automation. */
export function TriggerFields({ type, config: c, names, required, onChange, problem }: Props) {
	const set = (part: Config) =>
		onChange(type, Object.fromEntries(Object.entries({ ...c, ...part }).filter(([, v]) => v !== undefined)));
	const segments = useCollection("segments");
	const broadcasts = useCollection("broadcasts", { enabled: type === "email_engagement" });
	const lists = (segments.data?.data ?? [])
		.filter((s) => s.type === "static")
		.map((s) => ({ id: s.segment_key, label: s.name }));
	const stages = [{ value: "", label: words.any }, ...[...names.stages].map(([value, label]) => ({ value, label }))];
	return (
		<>
			<Select
				label={words.what}
				path="trigger_type"
				value={type}
				onChange={(t) => onChange(t, { ...(initial[t] ?? {}), ...(c.definition ? { definition: c.definition } : {}) })}
				choices={choicesOf(words.kinds).filter((o) => o.value !== "" || !required)}
				error={problem("trigger_type")}
			/>
			{type === "event" && (
				<>
					<EventName
						leaf={{ event_name: textOf(c.event_name) }}
						set={(v) => set({ event_name: v.event_name || undefined })}
						error={problem("event_name")}
					/>
					<Properties
						eventName={textOf(c.event_name)}
						filters={(c.filters as PropertyFilter[] | undefined) ?? []}
						onChange={(f) => set({ filters: f.length > 0 ? f : undefined })}
						errorOf={(i) => problem(`filters[${i}]`)}
					/>
				</>
			)}
			{(type === "segment_entered" || type === "segment_left") && (
				<Combo
					label={words.segment}
					options={optionsOf(names.segments)}
					value={textOf(c.segment_key) || null}
					onChange={(k) => set({ segment_key: k ?? undefined })}
					error={problem("segment_key")}
				/>
			)}
			{type === "segment_entered" && (
				<Checkbox
					label={words.existing}
					help={words.existingHelp}
					checked={c.include_existing === true}
					onChange={(on) => set({ include_existing: on || undefined })}
				/>
			)}
			{type === "list_added" && (
				<Combo
					label={words.list}
					options={lists}
					value={textOf(c.segment_key) || null}
					onChange={(k) => set({ segment_key: k ?? undefined })}
					error={problem("segment_key")}
				/>
			)}
			{type === "form_submitted" && (
				<Combo
					label={words.form}
					options={optionsOf(names.forms)}
					value={textOf(c.form_slug) || null}
					onChange={(k) => set({ form_slug: k ?? undefined })}
					error={problem("form_slug")}
				/>
			)}
			{type === "tag_added" && (
				<TextField
					label={words.tag}
					value={textOf(c.tag)}
					onChange={(tag) => set({ tag: tag || undefined })}
					error={problem("tag")}
				/>
			)}
			{type === "stage_changed" && (
				<>
					<Select
						label={words.from}
						value={textOf(c.from_stage_id)}
						onChange={(s) => set({ from_stage_id: s || undefined })}
						choices={stages}
						error={problem("from_stage_id")}
					/>
					<Combo
						label={words.to}
						options={optionsOf(names.stages)}
						value={textOf(c.to_stage_id) || null}
						onChange={(s) => set({ to_stage_id: s ?? undefined })}
						error={problem("to_stage_id")}
					/>
				</>
			)}
			{type === "contact_created" && (
				<TextField
					label={words.source}
					help={words.sourceHelp}
					optional
					value={textOf(c.source)}
					onChange={(s) => set({ source: s || undefined })}
					error={problem("source")}
				/>
			)}
			{type === "field_changed" && (
				<>
					<Combo
						label={words.field}
						options={names.fields
							.filter((f) => !["list", "subscription"].includes(f.kind))
							.map((f) => ({ id: f.field, label: f.name, detail: f.group }))}
						value={textOf(c.field) || null}
						onChange={(f) => set({ field: f ?? undefined })}
						error={problem("field")}
					/>
					<TextField
						label={words.value}
						help={words.valueHelp}
						optional
						value={c.to === undefined || c.to === null ? "" : String(c.to)}
						onChange={(v) => set({ to: v === "" ? undefined : fieldValue(names.fields, textOf(c.field), v) })}
						error={problem("to")}
					/>
				</>
			)}
			{type === "date" && (
				<>
					<DateField
						names={names}
						value={textOf(c.field)}
						onChange={(field) => set({ field })}
						error={problem("field")}
					/>
					<Offset value={c.offset} onChange={(offset) => set({ offset })} />
					<TextField
						label={words.time}
						help={words.timeHelp}
						optional
						type="time"
						value={textOf(c.time)}
						onChange={(t) => set({ time: t || undefined })}
						error={problem("time")}
					/>
					<Radios
						label={words.repeat}
						row
						value={textOf(c.repeat) || "none"}
						onChange={(repeat) => set({ repeat })}
						choices={choicesOf(words.repeats)}
					/>
				</>
			)}
			{type === "email_engagement" && (
				<>
					<Radios
						label={words.did}
						row
						value={textOf(c.event)}
						onChange={(event) => set({ event, ...(event === "opened" ? { link_url: undefined } : {}) })}
						choices={choicesOf(words.dids)}
					/>
					<Combo
						label={words.broadcast}
						help={words.broadcastHelp}
						options={(broadcasts.data?.data ?? []).map((b) => ({ id: b.id, label: b.name }))}
						value={textOf(c.broadcast_id) || null}
						onChange={(b) => set({ broadcast_id: b ?? undefined })}
						error={problem("broadcast_id")}
					/>
					{c.event === "clicked" && (
						<TextField
							label={words.link}
							help={words.linkHelp}
							optional
							type="url"
							value={textOf(c.link_url)}
							onChange={(u) => set({ link_url: u || undefined })}
							error={problem("link_url")}
						/>
					)}
				</>
			)}
		</>
	);
}
