import { Plus } from "lucide-react";
import { type ReactNode, useState } from "react";
import type { ExpectEntry, GroupEntry, ParameterEntry, SectionEntry, SlotEntry } from "../../api/schema";
import { optionsOf, textOf } from "../binding/binding";
import { Control } from "../binding/Control";
import { Button } from "../../ui/Button";
import { Cards } from "../../ui/Cards";
import { Code } from "../../ui/Code";
import { Picks } from "../../ui/Combo";
import { Checkbox, Select, TextArea, TextField } from "../../ui/Field";
import { catalogue } from "../../base/words/catalogue";
import { type Draft, freeName, newParameter, type Reference, rename, type Schema, schemaOf, withSchema } from "./draft";
import { typeNames, types } from "./fixes";
import css from "./Source.module.css";
import { TagPicks } from "./TagPicks";

const words = catalogue("source.schema", {
	parameters: "Fields",
	sections: "Sections",
	slots: "Slots",
	parts: "{count, plural, one {# part} other {# parts}}",
	groups: "Groups",
	expects: "Expected data",
	about: {
		parameters: "Values that each email sets: '{{param:name}}'.",
		sections: "Parts repeated for each row: '{{#section name}}' … '{{/section}}', with '{{item:field}}' inside.",
		parts: "{count, plural, one {# part} other {# parts}}",
		slots: "Places for blocks: '{{slot:name}}'.",
		groups: "How the form is divided.",
		expects: "Contact data that the Liquid code needs.",
	},
	add: {
		parameters: "Add field",
		sections: "Add section",
		slots: "Add slot",
		groups: "Add group",
		expects: "Add expected data",
		item: "Add field",
	},
	name: "Name",
	nameHelp: "Lower-case letters, digits and _.",
	label: "Label",
	type: "Type",
	required: "Required",
	help: "Help text",
	default: "Default",
	sample: "Sample value for previews",
	minLength: "Minimum length",
	maxLength: "Maximum length",
	pattern: "Pattern",
	schemes: "Allowed URL schemes, separated by commas",
	min: "Minimum",
	max: "Maximum",
	integer: "Whole numbers only",
	options: "Choices",
	optionsHelp: "One per line: a value, or value = label.",
	minItems: "Minimum entries",
	maxItems: "Maximum entries",
	minRows: "Minimum rows",
	maxRows: "Maximum rows",
	fields: "Fields of a row",
	tagFilter: "Tags its blocks must have",
	strategies: "Allowed content",
	strategy: { fixed: "A chosen block", random: "A random block", empty: "Nothing" },
	byDefault: "By default",
	eligible: "{count, plural, one {# active block fits} other {# active blocks fit}}",
	collapsed: "Collapsed initially",
	path: "Path",
	fallback: "Fallback (JSON)",
	sampleJson: "Sample (JSON)",
	rename:
		"Values in drafts and library entries also use this name and must be changed there. {count, plural, one {The code uses it once.} other {The code uses it # times.}}",
	everywhere: "Rename everywhere in this template",
	here: "Rename only here",
	json: "JSON",
	form: "Form",
	badJson: "This is not a valid JSON object yet.",
	jsonLabel: "Schema as JSON",
});

type Props = {
	draft: Draft;
	onChange: (part: Partial<Draft>) => void;
	readOnly?: boolean;
	/** What can be declared: blocks have no slots and expect no data. */
	parts: ("parameters" | "sections" | "slots" | "groups" | "expects")[];
	/** How many blocks fit a slot. */
	eligible?: (tags: string[]) => number | undefined;
	tags?: string[];
};

/** SchemaEditor edits what a template or a block declares, as a form or as JSON. */
export function SchemaEditor({ draft, onChange, readOnly, parts, eligible, tags = [] }: Props) {
	const schema = schemaOf(draft);
	const [asJson, setAsJson] = useState(false);
	const json = asJson || !schema;
	const views = (
		<div className={css.actions}>
			<Button small onClick={() => setAsJson(!json)} disabledReason={json && !schema ? words.badJson : undefined}>
				{json ? words.form : words.json}
			</Button>
		</div>
	);
	if (json) {
		return (
			<div className={css.stack}>
				{views}
				<Code
					label={words.jsonLabel}
					language="json"
					value={draft.schema}
					readOnly={readOnly}
					onChange={(text) => onChange({ schema: text })}
				/>
				{!schema && <p className={css.bad}>{words.badJson}</p>}
			</div>
		);
	}
	const changeSchema = (change: Partial<Schema>) => onChange(withSchema(draft, { ...schema, ...change }));
	const renamed = (kind: Reference["kind"], section?: string) => (from: string, to: string) =>
		onChange(rename(draft, schema, kind, from, to, section));
	const uses = (pattern: (name: string) => RegExp) => (name: string) =>
		[draft.subject, draft.mjml, draft.html, draft.text].reduce(
			(sum, body) => sum + (body.match(pattern(name))?.length ?? 0),
			0,
		);
	const usesOf = {
		param: uses((name) => new RegExp(`\\{\\{\\s*(param\\s*:\\s*)?${name}\\s*\\}\\}|\\bparam\\.${name}\\b`, "g")),
		section: uses((name) => new RegExp(`\\{\\{\\s*#section\\s+${name}\\s*\\}\\}`, "g")),
		slot: uses((name) => new RegExp(`\\{\\{\\s*slot\\s*:\\s*${name}\\s*\\}\\}`, "g")),
		item: uses((name) => new RegExp(`\\{\\{\\s*item\\s*:\\s*${name}\\s*\\}\\}`, "g")),
	};
	return (
		<div className={css.stack}>
			{views}
			<Part
				title={words.parameters}
				description={words.about.parameters}
				id="parameters_schema"
				add={words.add.parameters}
				readOnly={readOnly}
				onAdd={() =>
					changeSchema({
						parameters_schema: [...schema.parameters_schema, newParameter(freeName("value", schema.parameters_schema))],
					})
				}
			>
				<Parameters
					list={schema.parameters_schema}
					onChange={(parameters_schema) => changeSchema({ parameters_schema })}
					readOnly={readOnly}
					onRename={renamed("param")}
					uses={usesOf.param}
				/>
			</Part>
			<Part
				title={words.sections}
				description={words.about.sections}
				id="sections_schema"
				add={words.add.sections}
				readOnly={readOnly}
				onAdd={() =>
					changeSchema({
						sections_schema: [
							...schema.sections_schema,
							{
								name: freeName("rows", schema.sections_schema),
								label: null,
								help_text: null,
								required: false,
								min: 0,
								max: 200,
								item_schema: [newParameter("title")],
							},
						],
					})
				}
			>
				<Cards
					items={schema.sections_schema}
					onChange={(sections_schema) => changeSchema({ sections_schema })}
					title={(section) => section.label || section.name}
					detail={(section) => section.name}
					readOnly={readOnly}
				>
					{(section, i) => {
						const set = (part: Partial<SectionEntry>) =>
							changeSchema({
								sections_schema: schema.sections_schema.map((section, index) =>
									index === i ? { ...section, ...part } : section,
								),
							});
						return (
							<>
								<Common
									entry={section}
									set={set}
									readOnly={readOnly}
									onRename={renamed("section")}
									uses={usesOf.section}
								/>
								<Numeric
									label={words.minRows}
									value={section.min}
									onChange={(min) => set({ min: min ?? 0 })}
									readOnly={readOnly}
								/>
								<Numeric
									label={words.maxRows}
									value={section.max}
									onChange={(max) => set({ max: max ?? 200 })}
									readOnly={readOnly}
								/>
								<div className={css.inner}>
									<h4>{words.fields}</h4>
									<Parameters
										list={section.item_schema}
										onChange={(item_schema) => set({ item_schema })}
										readOnly={readOnly}
										onRename={renamed("item", section.name)}
										uses={usesOf.item}
									/>
									{!readOnly && (
										<div className={css.actions}>
											<Button
												small
												icon={<Plus aria-hidden />}
												onClick={() =>
													set({
														item_schema: [...section.item_schema, newParameter(freeName("field", section.item_schema))],
													})
												}
											>
												{words.add.item}
											</Button>
										</div>
									)}
								</div>
							</>
						);
					}}
				</Cards>
			</Part>
			{parts.includes("slots") && (
				<Part
					title={words.slots}
					description={words.about.slots}
					id="slots_schema"
					add={words.add.slots}
					readOnly={readOnly}
					onAdd={() =>
						changeSchema({
							slots_schema: [
								...schema.slots_schema,
								{
									name: freeName("place", schema.slots_schema),
									label: null,
									help_text: null,
									required: false,
									tag_filter: [],
									allowed_strategies: ["fixed", "random", "empty"],
									default_strategy: "empty",
								},
							],
						})
					}
				>
					<Cards
						items={schema.slots_schema}
						onChange={(slots_schema) => changeSchema({ slots_schema })}
						title={(slot) => slot.label || slot.name}
						detail={(slot) => slot.name}
						readOnly={readOnly}
					>
						{(slot, i) => {
							const set = (part: Partial<SlotEntry>) =>
								changeSchema({
									slots_schema: schema.slots_schema.map((slot, index) => (index === i ? { ...slot, ...part } : slot)),
								});
							return (
								<>
									<Common entry={slot} set={set} readOnly={readOnly} onRename={renamed("slot")} uses={usesOf.slot} />
									<SlotFields
										slot={slot}
										set={set}
										readOnly={readOnly}
										matches={eligible?.(slot.tag_filter)}
										tags={tags}
									/>
								</>
							);
						}}
					</Cards>
				</Part>
			)}
			<Part
				title={words.groups}
				description={words.about.groups}
				id="groups_schema"
				add={words.add.groups}
				readOnly={readOnly}
				onAdd={() =>
					changeSchema({
						groups_schema: [
							...schema.groups_schema,
							{
								name: freeName("group", schema.groups_schema),
								label: null,
								help_text: null,
								parameters: [],
								sections: [],
								slots: [],
								collapsed: false,
							},
						],
					})
				}
			>
				<Cards
					items={schema.groups_schema}
					onChange={(groups_schema) => changeSchema({ groups_schema })}
					title={(group) => group.label || group.name}
					detail={(group) =>
						words.parts({ count: group.parameters.length + group.sections.length + group.slots.length })
					}
					readOnly={readOnly}
				>
					{(group, i) => {
						const set = (part: Partial<GroupEntry>) =>
							changeSchema({
								groups_schema: schema.groups_schema.map((group, index) =>
									index === i ? { ...group, ...part } : group,
								),
							});
						const unusedOptions = (
							kind: "parameters" | "sections" | "slots",
							all: { name: string; label: string | null }[],
						) =>
							all
								.filter(
									(entry) =>
										group[kind].includes(entry.name) ||
										!schema.groups_schema.some((group) => group[kind].includes(entry.name)),
								)
								.map((entry) => ({ id: entry.name, label: entry.label || entry.name }));
						return (
							<>
								<TextField
									label={words.name}
									value={group.name}
									readOnly={readOnly}
									onChange={(name) => set({ name })}
								/>
								<TextField
									label={words.label}
									optional
									value={group.label ?? ""}
									readOnly={readOnly}
									onChange={(label) => set({ label: label || null })}
								/>
								<TextField
									label={words.help}
									optional
									value={group.help_text ?? ""}
									readOnly={readOnly}
									onChange={(value) => set({ help_text: value || null })}
								/>
								<Checkbox
									label={words.collapsed}
									checked={group.collapsed}
									onChange={(collapsed) => !readOnly && set({ collapsed })}
								/>
								<Picks
									label={words.parameters}
									options={unusedOptions("parameters", schema.parameters_schema)}
									values={group.parameters}
									onChange={(parameters) => !readOnly && set({ parameters })}
								/>
								<Picks
									label={words.sections}
									options={unusedOptions("sections", schema.sections_schema)}
									values={group.sections}
									onChange={(sections) => !readOnly && set({ sections })}
								/>
								{parts.includes("slots") && (
									<Picks
										label={words.slots}
										options={unusedOptions("slots", schema.slots_schema)}
										values={group.slots}
										onChange={(slots) => !readOnly && set({ slots })}
									/>
								)}
							</>
						);
					}}
				</Cards>
			</Part>
			{parts.includes("expects") && (
				<Part
					title={words.expects}
					description={words.about.expects}
					id="expects_schema"
					add={words.add.expects}
					readOnly={readOnly}
					onAdd={() =>
						changeSchema({
							expects_schema: [
								...schema.expects_schema,
								{
									path: "contact.first_name",
									type: "string",
									required: false,
									label: null,
									fallback: null,
									item_schema: [],
									sample: null,
								},
							],
						})
					}
				>
					<Cards
						items={schema.expects_schema}
						onChange={(expects_schema) => changeSchema({ expects_schema })}
						title={(expectation) => expectation.label || expectation.path}
						detail={(expectation) => expectation.type}
						readOnly={readOnly}
					>
						{(expectation, i) => {
							const set = (part: Partial<ExpectEntry>) =>
								changeSchema({
									expects_schema: schema.expects_schema.map((expectation, index) =>
										index === i ? { ...expectation, ...part } : expectation,
									),
								});
							return (
								<>
									<TextField
										label={words.path}
										value={expectation.path}
										readOnly={readOnly}
										spellCheck={false}
										onChange={(path) => set({ path })}
									/>
									<Select
										label={words.type}
										value={expectation.type}
										disabled={readOnly}
										onChange={(value) => set({ type: value as ExpectEntry["type"] })}
										choices={["string", "number", "boolean", "date", "datetime", "array", "object"].map((type) => ({
											value: type,
											label: type,
										}))}
									/>
									<TextField
										label={words.label}
										optional
										value={expectation.label ?? ""}
										readOnly={readOnly}
										onChange={(label) => set({ label: label || null })}
									/>
									<Checkbox
										label={words.required}
										checked={expectation.required}
										onChange={(required) => !readOnly && set({ required })}
									/>
									<JsonField
										label={words.fallback}
										value={expectation.fallback}
										onChange={(value) => set({ fallback: value as ExpectEntry["fallback"] })}
										readOnly={readOnly}
									/>
									<JsonField
										label={words.sampleJson}
										value={expectation.sample}
										onChange={(value) => set({ sample: value as ExpectEntry["sample"] })}
										readOnly={readOnly}
									/>
								</>
							);
						}}
					</Cards>
				</Part>
			)}
		</div>
	);
}

function Part({
	title,
	description,
	id,
	add,
	onAdd,
	readOnly,
	children,
}: {
	title: string;
	description: string;
	id: string;
	add: string;
	onAdd: () => void;
	readOnly?: boolean;
	children: ReactNode;
}) {
	return (
		<section className={css.part} data-part={id} tabIndex={-1} aria-label={title}>
			<div className={css.partHead}>
				<h2>{title}</h2>
				{!readOnly && (
					<Button small icon={<Plus aria-hidden />} onClick={onAdd}>
						{add}
					</Button>
				)}
			</div>
			<p className={css.hint}>{description}</p>
			{children}
		</section>
	);
}

type Named = { name: string; label: string | null; help_text: string | null; required: boolean };
type Renaming = { onRename: (from: string, to: string) => void; uses: (name: string) => number };

/** Common edits what all entries have. A name that the code uses is changed there, too, if the author wants. */
function Common({
	entry,
	set,
	readOnly,
	onRename,
	uses,
}: { entry: Named; set: (part: Partial<Named>) => void; readOnly?: boolean } & Renaming) {
	const [name, setName] = useState<string | null>(null);
	const shown = name ?? entry.name;
	const count = uses(entry.name);
	const valid = /^[a-z][a-z0-9_]{0,63}$/.test(shown);
	return (
		<>
			<TextField
				label={words.name}
				help={words.nameHelp}
				value={shown}
				readOnly={readOnly}
				spellCheck={false}
				onChange={setName}
				onBlur={() => {
					if (name === null || name === entry.name) setName(null);
					else if (count === 0) {
						set({ name });
						setName(null);
					}
				}}
			/>
			<TextField
				label={words.label}
				optional
				value={entry.label ?? ""}
				readOnly={readOnly}
				onChange={(label) => set({ label: label || null })}
			/>
			{name !== null && name !== entry.name && count > 0 && (
				<div className={css.rename}>
					<p>{words.rename({ count })}</p>
					<Button
						small
						variant="primary"
						disabledReason={valid ? undefined : words.nameHelp}
						onClick={() => {
							onRename(entry.name, name);
							setName(null);
						}}
					>
						{words.everywhere}
					</Button>
					<Button
						small
						onClick={() => {
							set({ name });
							setName(null);
						}}
					>
						{words.here}
					</Button>
				</div>
			)}
			<TextField
				label={words.help}
				optional
				value={entry.help_text ?? ""}
				readOnly={readOnly}
				onChange={(value) => set({ help_text: value || null })}
			/>
			<Checkbox
				label={words.required}
				checked={entry.required}
				onChange={(required) => !readOnly && set({ required })}
			/>
		</>
	);
}

function Parameters({
	list,
	onChange,
	readOnly,
	onRename,
	uses,
}: { list: ParameterEntry[]; onChange: (list: ParameterEntry[]) => void; readOnly?: boolean } & Renaming) {
	return (
		<Cards
			items={list}
			onChange={onChange}
			title={(parameter) => parameter.label || parameter.name}
			detail={(parameter) => `${parameter.name}, ${typeNames[parameter.type] ?? parameter.type}`}
			copy={(parameter) => ({ ...structuredClone(parameter), name: freeName(parameter.name, list) })}
			readOnly={readOnly}
		>
			{(parameter, i) => {
				const set = (part: Partial<ParameterEntry>) =>
					onChange(list.map((parameter, index) => (index === i ? { ...parameter, ...part } : parameter)));
				return (
					<>
						<Select
							label={words.type}
							value={parameter.type}
							disabled={readOnly}
							onChange={(value) =>
								set({
									type: value as ParameterEntry["type"],
									validation: value === "select" ? { options: ["one", "two"] } : {},
									default: null,
									sample: null,
								})
							}
							choices={types.map((type) => ({ value: type, label: typeNames[type] }))}
						/>
						<Common entry={parameter} set={set} readOnly={readOnly} onRename={onRename} uses={uses} />
						<Rules parameter={parameter} set={(validation) => set({ validation })} readOnly={readOnly} />
						<Value
							parameter={parameter}
							label={words.default}
							value={parameter.default}
							onChange={(value) => set({ default: value as ParameterEntry["default"] })}
							readOnly={readOnly}
						/>
						<Value
							parameter={parameter}
							label={words.sample}
							value={parameter.sample}
							onChange={(value) => set({ sample: value as ParameterEntry["sample"] })}
							readOnly={readOnly}
						/>
					</>
				);
			}}
		</Cards>
	);
}

/** Value edits a default or a sample with the control of its type. */
function Value({
	parameter,
	label,
	value,
	onChange,
	readOnly,
}: {
	parameter: ParameterEntry;
	label: string;
	value: unknown;
	onChange: (value: unknown) => void;
	readOnly?: boolean;
}) {
	const isWide = ["textarea", "rich_text", "html", "list"].includes(parameter.type);
	return (
		<div className={isWide ? css.wide : undefined}>
			<Control
				parameter={{
					...parameter,
					name: label,
					label,
					help_text: null,
					required: false,
					default: null,
					validation: parameter.type === "select" ? parameter.validation : {},
				}}
				path={`${parameter.name} ${label}`}
				value={value}
				onChange={(value) => onChange(value ?? null)}
				readOnly={readOnly}
			/>
		</div>
	);
}

/** Rules edits the rules for the values of a type. */
function Rules({
	parameter,
	set,
	readOnly,
}: {
	parameter: ParameterEntry;
	set: (validation: ParameterEntry["validation"]) => void;
	readOnly?: boolean;
}) {
	const parsed = parameter.validation;
	const setValidation = (name: string, value: unknown) => {
		const { [name]: _, ...rest } = parsed;
		set(value === undefined ? rest : { ...rest, [name]: value });
	};
	const numeric = (name: string, label: string) => (
		<Numeric
			label={label}
			optional
			value={typeof parsed[name] === "number" ? (parsed[name] as number) : undefined}
			onChange={(value) => setValidation(name, value)}
			readOnly={readOnly}
		/>
	);
	const textField = (name: string, label: string) => (
		<TextField
			label={label}
			optional
			value={textOf(parsed[name])}
			readOnly={readOnly}
			spellCheck={false}
			onChange={(value) => setValidation(name, value || undefined)}
		/>
	);
	switch (parameter.type) {
		case "text":
			return (
				<>
					{numeric("min_length", words.minLength)}
					{numeric("max_length", words.maxLength)}
					{textField("pattern", words.pattern)}
				</>
			);
		case "textarea":
			return (
				<>
					{numeric("min_length", words.minLength)}
					{numeric("max_length", words.maxLength)}
				</>
			);
		case "rich_text":
		case "html":
		case "image":
			return numeric("max_length", words.maxLength);
		case "url":
			return (
				<>
					<TextField
						label={words.schemes}
						optional
						value={Array.isArray(parsed.schemes) ? parsed.schemes.join(", ") : ""}
						readOnly={readOnly}
						placeholder="http, https, mailto, tel"
						onChange={(value) =>
							setValidation("schemes", value.trim() ? value.split(/[\s,]+/).filter(Boolean) : undefined)
						}
					/>
					{numeric("max_length", words.maxLength)}
				</>
			);
		case "number":
			return (
				<>
					{numeric("min", words.min)}
					{numeric("max", words.max)}
					<Checkbox
						label={words.integer}
						checked={parsed.integer === true}
						onChange={(checked) => !readOnly && setValidation("integer", checked || undefined)}
					/>
				</>
			);
		case "date":
		case "datetime":
			return (
				<>
					{textField("min", words.min)}
					{textField("max", words.max)}
				</>
			);
		case "select":
			return (
				<Options parameter={parameter} onChange={(options) => setValidation("options", options)} readOnly={readOnly} />
			);
		case "list":
			return (
				<>
					{numeric("min_items", words.minItems)}
					{numeric("max_items", words.maxItems)}
				</>
			);
		default:
			return null;
	}
}

function Options({
	parameter,
	onChange,
	readOnly,
}: {
	parameter: ParameterEntry;
	onChange: (options: unknown[]) => void;
	readOnly?: boolean;
}) {
	const [text, setText] = useState(() =>
		optionsOf(parameter)
			.map((option) => (option.label === option.value ? option.value : `${option.value} = ${option.label}`))
			.join("\n"),
	);
	return (
		<div className={css.wide}>
			<TextArea
				label={words.options}
				help={words.optionsHelp}
				value={text}
				readOnly={readOnly}
				onChange={(value) => {
					setText(value);
					const lines = value
						.split("\n")
						.map((line) => line.trim())
						.filter(Boolean);
					onChange(
						lines.map((line) => {
							const separator = line.indexOf(" = ");
							return separator < 0
								? line
								: { value: line.slice(0, separator).trim(), label: line.slice(separator + 3).trim() };
						}),
					);
				}}
			/>
		</div>
	);
}

function SlotFields({
	slot,
	set,
	readOnly,
	matches,
	tags,
}: {
	slot: SlotEntry;
	set: (part: Partial<SlotEntry>) => void;
	readOnly?: boolean;
	matches?: number;
	tags: string[];
}) {
	const strategies = ["fixed", "random", "empty"] as const;
	const options = [...new Set([...tags, ...slot.tag_filter])].map((tag) => ({ id: tag, label: tag }));
	return (
		<>
			<TagPicks
				label={words.tagFilter}
				help={matches === undefined ? undefined : words.eligible({ count: matches })}
				options={options}
				values={slot.tag_filter}
				onChange={(tag_filter) => !readOnly && set({ tag_filter })}
			/>
			<fieldset className={css.checks}>
				<legend>{words.strategies}</legend>
				{strategies.map((strategy) => (
					<Checkbox
						key={strategy}
						label={words.strategy[strategy]}
						checked={slot.allowed_strategies.includes(strategy)}
						onChange={(checked) =>
							!readOnly &&
							set({
								allowed_strategies: strategies.filter((o) =>
									o === strategy ? checked : slot.allowed_strategies.includes(o),
								),
							})
						}
					/>
				))}
			</fieldset>
			<Select
				label={words.byDefault}
				value={slot.default_strategy}
				disabled={readOnly}
				onChange={(value) => set({ default_strategy: value as SlotEntry["default_strategy"] })}
				choices={strategies.map((strategy) => ({ value: strategy, label: words.strategy[strategy] }))}
			/>
		</>
	);
}

function Numeric({
	label,
	value,
	onChange,
	optional,
	readOnly,
}: {
	label: string;
	value: number | undefined;
	onChange: (value: number | undefined) => void;
	optional?: boolean;
	readOnly?: boolean;
}) {
	return (
		<TextField
			label={label}
			optional={optional}
			type="number"
			readOnly={readOnly}
			value={value === undefined ? "" : String(value)}
			onChange={(value) => onChange(value === "" ? undefined : Number(value))}
		/>
	);
}

function JsonField({
	label,
	value,
	onChange,
	readOnly,
}: {
	label: string;
	value: unknown;
	onChange: (value: unknown) => void;
	readOnly?: boolean;
}) {
	const [text, setText] = useState(() => (value === null || value === undefined ? "" : JSON.stringify(value)));
	const [isInvalid, setIsInvalid] = useState(false);
	return (
		<TextField
			label={label}
			optional
			value={text}
			spellCheck={false}
			readOnly={readOnly}
			error={isInvalid ? words.badJson : undefined}
			onChange={(value) => {
				setText(value);
				try {
					onChange(value.trim() === "" ? null : JSON.parse(value));
					setIsInvalid(false);
				} catch {
					setIsInvalid(true);
				}
			}}
		/>
	);
}
