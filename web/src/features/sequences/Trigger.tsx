import { useCollection } from "../../base/collections";
import { EventName } from "../rules/EventName";
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

const textOf = (value: unknown) => (typeof value === "string" || typeof value === "number" ? String(value) : "");
const optionsOf = (names: Map<string, string>) => [...names].map(([id, label]) => ({ id, label }));
const choicesOf = (labels: { [value: string]: string }) =>
	Object.entries(labels).map(([value, label]) => ({ value, label }));

/** TriggerFields edits what starts a sequence or an automation. */
export function TriggerFields({ type, config, names, required, onChange, problem }: Props) {
	const set = (part: Config) =>
		onChange(
			type,
			Object.fromEntries(Object.entries({ ...config, ...part }).filter(([, value]) => value !== undefined)),
		);
	const segments = useCollection("segments");
	const broadcasts = useCollection("broadcasts", { enabled: type === "email_engagement" });
	const lists = (segments.data?.data ?? [])
		.filter((segment) => segment.type === "static")
		.map((segment) => ({ id: segment.segment_key, label: segment.name }));
	const stages = [{ value: "", label: words.any }, ...[...names.stages].map(([value, label]) => ({ value, label }))];
	return (
		<>
			<Select
				label={words.what}
				path="trigger_type"
				value={type}
				onChange={(value) =>
					onChange(value, {
						...(initial[value] ?? {}),
						...(config.definition ? { definition: config.definition } : {}),
					})
				}
				choices={choicesOf(words.kinds).filter((option) => option.value !== "" || !required)}
				error={problem("trigger_type")}
			/>
			{type === "event" && (
				<>
					<EventName
						leaf={{ event_name: textOf(config.event_name) }}
						set={(part) => set({ event_name: part.event_name || undefined })}
						error={problem("event_name")}
					/>
					<Properties
						eventName={textOf(config.event_name)}
						filters={(config.filters as PropertyFilter[] | undefined) ?? []}
						onChange={(value) => set({ filters: value.length > 0 ? value : undefined })}
						errorOf={(i) => problem(`filters[${i}]`)}
					/>
				</>
			)}
			{(type === "segment_entered" || type === "segment_left") && (
				<Combo
					label={words.segment}
					options={optionsOf(names.segments)}
					value={textOf(config.segment_key) || null}
					onChange={(value) => set({ segment_key: value ?? undefined })}
					error={problem("segment_key")}
				/>
			)}
			{type === "segment_entered" && (
				<Checkbox
					label={words.existing}
					help={words.existingHelp}
					checked={config.include_existing === true}
					onChange={(checked) => set({ include_existing: checked || undefined })}
				/>
			)}
			{type === "list_added" && (
				<Combo
					label={words.list}
					options={lists}
					value={textOf(config.segment_key) || null}
					onChange={(value) => set({ segment_key: value ?? undefined })}
					error={problem("segment_key")}
				/>
			)}
			{type === "form_submitted" && (
				<Combo
					label={words.form}
					options={optionsOf(names.forms)}
					value={textOf(config.form_slug) || null}
					onChange={(value) => set({ form_slug: value ?? undefined })}
					error={problem("form_slug")}
				/>
			)}
			{type === "tag_added" && (
				<TextField
					label={words.tag}
					value={textOf(config.tag)}
					onChange={(tag) => set({ tag: tag || undefined })}
					error={problem("tag")}
				/>
			)}
			{type === "stage_changed" && (
				<>
					<Select
						label={words.from}
						value={textOf(config.from_stage_id)}
						onChange={(value) => set({ from_stage_id: value || undefined })}
						choices={stages}
						error={problem("from_stage_id")}
					/>
					<Combo
						label={words.to}
						options={optionsOf(names.stages)}
						value={textOf(config.to_stage_id) || null}
						onChange={(value) => set({ to_stage_id: value ?? undefined })}
						error={problem("to_stage_id")}
					/>
				</>
			)}
			{type === "contact_created" && (
				<TextField
					label={words.source}
					help={words.sourceHelp}
					optional
					value={textOf(config.source)}
					onChange={(value) => set({ source: value || undefined })}
					error={problem("source")}
				/>
			)}
			{type === "field_changed" && (
				<>
					<Combo
						label={words.field}
						options={names.fields
							.filter((field) => !["list", "subscription"].includes(field.kind))
							.map((field) => ({ id: field.field, label: field.name, detail: field.group }))}
						value={textOf(config.field) || null}
						onChange={(value) => set({ field: value ?? undefined })}
						error={problem("field")}
					/>
					<TextField
						label={words.value}
						help={words.valueHelp}
						optional
						value={config.to === undefined || config.to === null ? "" : String(config.to)}
						onChange={(value) =>
							set({ to: value === "" ? undefined : fieldValue(names.fields, textOf(config.field), value) })
						}
						error={problem("to")}
					/>
				</>
			)}
			{type === "date" && (
				<>
					<DateField
						names={names}
						value={textOf(config.field)}
						onChange={(field) => set({ field })}
						error={problem("field")}
					/>
					<Offset value={config.offset} onChange={(offset) => set({ offset })} />
					<TextField
						label={words.time}
						help={words.timeHelp}
						optional
						type="time"
						value={textOf(config.time)}
						onChange={(value) => set({ time: value || undefined })}
						error={problem("time")}
					/>
					<Radios
						label={words.repeat}
						row
						value={textOf(config.repeat) || "none"}
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
						value={textOf(config.event)}
						onChange={(event) => set({ event, ...(event === "opened" ? { link_url: undefined } : {}) })}
						choices={choicesOf(words.dids)}
					/>
					<Combo
						label={words.broadcast}
						help={words.broadcastHelp}
						options={(broadcasts.data?.data ?? []).map((broadcast) => ({ id: broadcast.id, label: broadcast.name }))}
						value={textOf(config.broadcast_id) || null}
						onChange={(value) => set({ broadcast_id: value ?? undefined })}
						error={problem("broadcast_id")}
					/>
					{config.event === "clicked" && (
						<TextField
							label={words.link}
							help={words.linkHelp}
							optional
							type="url"
							value={textOf(config.link_url)}
							onChange={(value) => set({ link_url: value || undefined })}
							error={problem("link_url")}
						/>
					)}
				</>
			)}
		</>
	);
}
