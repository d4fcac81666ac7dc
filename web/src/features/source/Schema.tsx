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
	addTag: "Add a tag",
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
			<Button small onClick={() => setAsJson(!json)} why={json && !schema ? words.badJson : undefined}>
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
	const put = (change: Partial<Schema>) => onChange(withSchema(draft, { ...schema, ...change }));
	const renamed = (kind: Reference["kind"], section?: string) => (from: string, to: string) =>
		onChange(rename(draft, schema, kind, from, to, section));
	const uses = (pattern: (name: string) => RegExp) => (name: string) =>
		[draft.subject, draft.mjml, draft.html, draft.text].reduce(
			(n, body) => n + (body.match(pattern(name))?.length ?? 0),
			0,
		);
	const usesOf = {
		param: uses((n) => new RegExp(`\\{\\{\\s*(param\\s*:\\s*)?${n}\\s*\\}\\}|\\bparam\\.${n}\\b`, "g")),
		section: uses((n) => new RegExp(`\\{\\{\\s*#section\\s+${n}\\s*\\}\\}`, "g")),
		slot: uses((n) => new RegExp(`\\{\\{\\s*slot\\s*:\\s*${n}\\s*\\}\\}`, "g")),
		item: uses((n) => new RegExp(`\\{\\{\\s*item\\s*:\\s*${n}\\s*\\}\\}`, "g")),
	};
	return (
		<div className={css.stack}>
			{views}
			<Part
				title={words.parameters}
				about={words.about.parameters}
				id="parameters_schema"
				add={words.add.parameters}
				readOnly={readOnly}
				onAdd={() =>
					put({
						parameters_schema: [...schema.parameters_schema, newParameter(freeName("value", schema.parameters_schema))],
					})
				}
			>
				<Parameters
					list={schema.parameters_schema}
					onChange={(parameters_schema) => put({ parameters_schema })}
					readOnly={readOnly}
					onRename={renamed("param")}
					uses={usesOf.param}
				/>
			</Part>
			<Part
				title={words.sections}
				about={words.about.sections}
				id="sections_schema"
				add={words.add.sections}
				readOnly={readOnly}
				onAdd={() =>
					put({
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
					onChange={(sections_schema) => put({ sections_schema })}
					title={(s) => s.label || s.name}
					detail={(s) => s.name}
					readOnly={readOnly}
				>
					{(s, i) => {
						const set = (part: Partial<SectionEntry>) =>
							put({ sections_schema: schema.sections_schema.map((x, n) => (n === i ? { ...x, ...part } : x)) });
						return (
							<>
								<Common entry={s} set={set} readOnly={readOnly} onRename={renamed("section")} uses={usesOf.section} />
								<Numeric
									label={words.minRows}
									value={s.min}
									onChange={(min) => set({ min: min ?? 0 })}
									readOnly={readOnly}
								/>
								<Numeric
									label={words.maxRows}
									value={s.max}
									onChange={(max) => set({ max: max ?? 200 })}
									readOnly={readOnly}
								/>
								<div className={css.inner}>
									<h4>{words.fields}</h4>
									<Parameters
										list={s.item_schema}
										onChange={(item_schema) => set({ item_schema })}
										readOnly={readOnly}
										onRename={renamed("item", s.name)}
										uses={usesOf.item}
									/>
									{!readOnly && (
										<div className={css.actions}>
											<Button
												small
												icon={<Plus aria-hidden />}
												onClick={() =>
													set({ item_schema: [...s.item_schema, newParameter(freeName("field", s.item_schema))] })
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
					about={words.about.slots}
					id="slots_schema"
					add={words.add.slots}
					readOnly={readOnly}
					onAdd={() =>
						put({
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
						onChange={(slots_schema) => put({ slots_schema })}
						title={(s) => s.label || s.name}
						detail={(s) => s.name}
						readOnly={readOnly}
					>
						{(s, i) => {
							const set = (part: Partial<SlotEntry>) =>
								put({ slots_schema: schema.slots_schema.map((x, n) => (n === i ? { ...x, ...part } : x)) });
							return (
								<>
									<Common entry={s} set={set} readOnly={readOnly} onRename={renamed("slot")} uses={usesOf.slot} />
									<SlotFields slot={s} set={set} readOnly={readOnly} fits={eligible?.(s.tag_filter)} tags={tags} />
								</>
							);
						}}
					</Cards>
				</Part>
			)}
			<Part
				title={words.groups}
				about={words.about.groups}
				id="groups_schema"
				add={words.add.groups}
				readOnly={readOnly}
				onAdd={() =>
					put({
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
					onChange={(groups_schema) => put({ groups_schema })}
					title={(g) => g.label || g.name}
					detail={(g) => words.parts({ count: g.parameters.length + g.sections.length + g.slots.length })}
					readOnly={readOnly}
				>
					{(g, i) => {
						const set = (part: Partial<GroupEntry>) =>
							put({ groups_schema: schema.groups_schema.map((x, n) => (n === i ? { ...x, ...part } : x)) });
						const free = (kind: "parameters" | "sections" | "slots", all: { name: string; label: string | null }[]) =>
							all
								.filter((e) => g[kind].includes(e.name) || !schema.groups_schema.some((x) => x[kind].includes(e.name)))
								.map((e) => ({ id: e.name, label: e.label || e.name }));
						return (
							<>
								<TextField label={words.name} value={g.name} readOnly={readOnly} onChange={(name) => set({ name })} />
								<TextField
									label={words.label}
									optional
									value={g.label ?? ""}
									readOnly={readOnly}
									onChange={(label) => set({ label: label || null })}
								/>
								<TextField
									label={words.help}
									optional
									value={g.help_text ?? ""}
									readOnly={readOnly}
									onChange={(t) => set({ help_text: t || null })}
								/>
								<Checkbox
									label={words.collapsed}
									checked={g.collapsed}
									onChange={(collapsed) => !readOnly && set({ collapsed })}
								/>
								<Picks
									label={words.parameters}
									options={free("parameters", schema.parameters_schema)}
									values={g.parameters}
									onChange={(parameters) => !readOnly && set({ parameters })}
								/>
								<Picks
									label={words.sections}
									options={free("sections", schema.sections_schema)}
									values={g.sections}
									onChange={(sections) => !readOnly && set({ sections })}
								/>
								{parts.includes("slots") && (
									<Picks
										label={words.slots}
										options={free("slots", schema.slots_schema)}
										values={g.slots}
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
					about={words.about.expects}
					id="expects_schema"
					add={words.add.expects}
					readOnly={readOnly}
					onAdd={() =>
						put({
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
						onChange={(expects_schema) => put({ expects_schema })}
						title={(e) => e.label || e.path}
						detail={(e) => e.type}
						readOnly={readOnly}
					>
						{(e, i) => {
							const set = (part: Partial<ExpectEntry>) =>
								put({ expects_schema: schema.expects_schema.map((x, n) => (n === i ? { ...x, ...part } : x)) });
							return (
								<>
									<TextField
										label={words.path}
										value={e.path}
										readOnly={readOnly}
										spellCheck={false}
										onChange={(path) => set({ path })}
									/>
									<Select
										label={words.type}
										value={e.type}
										disabled={readOnly}
										onChange={(t) => set({ type: t as ExpectEntry["type"] })}
										choices={["string", "number", "boolean", "date", "datetime", "array", "object"].map((t) => ({
											value: t,
											label: t,
										}))}
									/>
									<TextField
										label={words.label}
										optional
										value={e.label ?? ""}
										readOnly={readOnly}
										onChange={(label) => set({ label: label || null })}
									/>
									<Checkbox
										label={words.required}
										checked={e.required}
										onChange={(required) => !readOnly && set({ required })}
									/>
									<JsonField
										label={words.fallback}
										value={e.fallback}
										onChange={(v) => set({ fallback: v as ExpectEntry["fallback"] })}
										readOnly={readOnly}
									/>
									<JsonField
										label={words.sampleJson}
										value={e.sample}
										onChange={(v) => set({ sample: v as ExpectEntry["sample"] })}
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
	about,
	id,
	add,
	onAdd,
	readOnly,
	children,
}: {
	title: string;
	about: string;
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
			<p className={css.hint}>{about}</p>
			{children}
		</section>
	);
}

type Named = { name: string; label: string | null; help_text: string | null; required: boolean };
type Renaming = { onRename: (from: string, to: string) => void; uses: (name: string) => number };

/** Common edits what all entries have. A name that the code uses is changed there, too, if the author wants. */
function Common({
	entry: e,
	set,
	readOnly,
	onRename,
	uses,
}: { entry: Named; set: (part: Partial<Named>) => void; readOnly?: boolean } & Renaming) {
	const [name, setName] = useState<string | null>(null);
	const shown = name ?? e.name;
	const count = uses(e.name);
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
					if (name === null || name === e.name) setName(null);
					else if (count === 0) {
						set({ name });
						setName(null);
					}
				}}
			/>
			<TextField
				label={words.label}
				optional
				value={e.label ?? ""}
				readOnly={readOnly}
				onChange={(label) => set({ label: label || null })}
			/>
			{name !== null && name !== e.name && count > 0 && (
				<div className={css.rename}>
					<p>{words.rename({ count })}</p>
					<Button
						small
						look="primary"
						why={valid ? undefined : words.nameHelp}
						onClick={() => {
							onRename(e.name, name);
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
				value={e.help_text ?? ""}
				readOnly={readOnly}
				onChange={(t) => set({ help_text: t || null })}
			/>
			<Checkbox label={words.required} checked={e.required} onChange={(required) => !readOnly && set({ required })} />
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
			title={(p) => p.label || p.name}
			detail={(p) => `${p.name}, ${typeNames[p.type] ?? p.type}`}
			copy={(p) => ({ ...structuredClone(p), name: freeName(p.name, list) })}
			readOnly={readOnly}
		>
			{(p, i) => {
				const set = (part: Partial<ParameterEntry>) => onChange(list.map((x, n) => (n === i ? { ...x, ...part } : x)));
				return (
					<>
						<Select
							label={words.type}
							value={p.type}
							disabled={readOnly}
							onChange={(t) =>
								set({
									type: t as ParameterEntry["type"],
									validation: t === "select" ? { options: ["one", "two"] } : {},
									default: null,
									sample: null,
								})
							}
							choices={types.map((t) => ({ value: t, label: typeNames[t] }))}
						/>
						<Common entry={p} set={set} readOnly={readOnly} onRename={onRename} uses={uses} />
						<Rules p={p} set={(validation) => set({ validation })} readOnly={readOnly} />
						<Value
							p={p}
							label={words.default}
							value={p.default}
							onChange={(v) => set({ default: v as ParameterEntry["default"] })}
							readOnly={readOnly}
						/>
						<Value
							p={p}
							label={words.sample}
							value={p.sample}
							onChange={(v) => set({ sample: v as ParameterEntry["sample"] })}
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
	p,
	label,
	value,
	onChange,
	readOnly,
}: {
	p: ParameterEntry;
	label: string;
	value: unknown;
	onChange: (v: unknown) => void;
	readOnly?: boolean;
}) {
	const wide = ["textarea", "rich_text", "html", "list"].includes(p.type);
	return (
		<div className={wide ? css.wide : undefined}>
			<Control
				p={{
					...p,
					name: label,
					label,
					help_text: null,
					required: false,
					default: null,
					validation: p.type === "select" ? p.validation : {},
				}}
				path={`${p.name} ${label}`}
				value={value}
				onChange={(v) => onChange(v ?? null)}
				readOnly={readOnly}
			/>
		</div>
	);
}

/** Rules edits the rules for the values of a type. */
function Rules({
	p,
	set,
	readOnly,
}: {
	p: ParameterEntry;
	set: (validation: ParameterEntry["validation"]) => void;
	readOnly?: boolean;
}) {
	const v = p.validation;
	const put = (name: string, value: unknown) => {
		const { [name]: _, ...rest } = v;
		set(value === undefined ? rest : { ...rest, [name]: value });
	};
	const numeric = (name: string, label: string) => (
		<Numeric
			label={label}
			optional
			value={typeof v[name] === "number" ? (v[name] as number) : undefined}
			onChange={(n) => put(name, n)}
			readOnly={readOnly}
		/>
	);
	const plain = (name: string, label: string) => (
		<TextField
			label={label}
			optional
			value={textOf(v[name])}
			readOnly={readOnly}
			spellCheck={false}
			onChange={(t) => put(name, t || undefined)}
		/>
	);
	switch (p.type) {
		case "text":
			return (
				<>
					{numeric("min_length", words.minLength)}
					{numeric("max_length", words.maxLength)}
					{plain("pattern", words.pattern)}
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
						value={Array.isArray(v.schemes) ? v.schemes.join(", ") : ""}
						readOnly={readOnly}
						placeholder="http, https, mailto, tel"
						onChange={(t) => put("schemes", t.trim() ? t.split(/[\s,]+/).filter(Boolean) : undefined)}
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
						checked={v.integer === true}
						onChange={(yes) => !readOnly && put("integer", yes || undefined)}
					/>
				</>
			);
		case "date":
		case "datetime":
			return (
				<>
					{plain("min", words.min)}
					{plain("max", words.max)}
				</>
			);
		case "select":
			return <Options p={p} onChange={(options) => put("options", options)} readOnly={readOnly} />;
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
	p,
	onChange,
	readOnly,
}: {
	p: ParameterEntry;
	onChange: (options: unknown[]) => void;
	readOnly?: boolean;
}) {
	const [text, setText] = useState(() =>
		optionsOf(p)
			.map((o) => (o.label === o.value ? o.value : `${o.value} = ${o.label}`))
			.join("\n"),
	);
	return (
		<div className={css.wide}>
			<TextArea
				label={words.options}
				help={words.optionsHelp}
				value={text}
				readOnly={readOnly}
				onChange={(t) => {
					setText(t);
					const lines = t
						.split("\n")
						.map((l) => l.trim())
						.filter(Boolean);
					onChange(
						lines.map((l) => {
							const at = l.indexOf(" = ");
							return at < 0 ? l : { value: l.slice(0, at).trim(), label: l.slice(at + 3).trim() };
						}),
					);
				}}
			/>
		</div>
	);
}

function SlotFields({
	slot: s,
	set,
	readOnly,
	fits,
	tags,
}: {
	slot: SlotEntry;
	set: (part: Partial<SlotEntry>) => void;
	readOnly?: boolean;
	fits?: number;
	tags: string[];
}) {
	const strategies = ["fixed", "random", "empty"] as const;
	const options = [...new Set([...tags, ...s.tag_filter])].map((t) => ({ id: t, label: t }));
	return (
		<>
			<TagPicks
				label={words.tagFilter}
				help={fits === undefined ? undefined : words.eligible({ count: fits })}
				options={options}
				values={s.tag_filter}
				onChange={(tag_filter) => !readOnly && set({ tag_filter })}
			/>
			<fieldset className={css.checks}>
				<legend>{words.strategies}</legend>
				{strategies.map((x) => (
					<Checkbox
						key={x}
						label={words.strategy[x]}
						checked={s.allowed_strategies.includes(x)}
						onChange={(yes) =>
							!readOnly &&
							set({ allowed_strategies: strategies.filter((o) => (o === x ? yes : s.allowed_strategies.includes(o))) })
						}
					/>
				))}
			</fieldset>
			<Select
				label={words.byDefault}
				value={s.default_strategy}
				disabled={readOnly}
				onChange={(d) => set({ default_strategy: d as SlotEntry["default_strategy"] })}
				choices={strategies.map((x) => ({ value: x, label: words.strategy[x] }))}
			/>
		</>
	);
}

/** TagPicks chooses labels, of those that exist or new ones. */
export function TagPicks({
	label,
	help,
	options,
	values,
	onChange,
	readOnly,
}: {
	label: string;
	help?: string;
	options: { id: string; label: string }[];
	values: string[];
	onChange: (values: string[]) => void;
	readOnly?: boolean;
}) {
	const [typed, setTyped] = useState("");
	const fresh = typed.trim();
	return (
		<Picks
			label={label}
			help={readOnly ? undefined : help}
			options={[
				...options.filter((o) => o.label.toLowerCase().includes(fresh.toLowerCase())),
				...(fresh && !options.some((o) => o.id === fresh) ? [{ id: fresh, label: `${words.addTag}: ${fresh}` }] : []),
			]}
			nameOf={(id) => options.find((o) => o.id === id)?.label ?? id}
			values={values}
			onSearch={setTyped}
			onChange={(v) => !readOnly && onChange(v)}
		/>
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
	onChange: (n: number | undefined) => void;
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
			onChange={(t) => onChange(t === "" ? undefined : Number(t))}
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
	onChange: (v: unknown) => void;
	readOnly?: boolean;
}) {
	const [text, setText] = useState(() => (value === null || value === undefined ? "" : JSON.stringify(value)));
	const [bad, setBad] = useState(false);
	return (
		<TextField
			label={label}
			optional
			value={text}
			spellCheck={false}
			readOnly={readOnly}
			error={bad ? words.badJson : undefined}
			onChange={(t) => {
				setText(t);
				try {
					onChange(t.trim() === "" ? null : JSON.parse(t));
					setBad(false);
				} catch {
					setBad(true);
				}
			}}
		/>
	);
}
