import type { FormField } from "../../api/schema";
import { Cards } from "../../ui/Cards";
import { Combo } from "../../ui/Combo";
import { Checkbox, Columns, Select, TextArea, TextField } from "../../ui/Field";
import { catalogue } from "../../base/words/catalogue";
import { inputsOf, keyOf, newField, type Binding, typeNames } from "./bindings";
import { useBindings } from "./useBindings";
import { linesOf } from "./draft";
import css from "./Form.module.css";

const words = catalogue("forms.fields", {
	add: "Add field",
	addHelp: "Fields already in the form are not offered.",
	hidden: "{name}, hidden",
	text: "Text",
	required: "required",
	binding: "Saved in",
	label: "Label",
	wording: "Consent wording",
	wordingHelp: "Stored as proof of each consent. The checkbox is never ticked in advance.",
	body: "Text",
	placeholder: "Placeholder",
	first: "First option, when nothing is selected",
	help: "Help text",
	must: "Required",
	mustTick: "Visitors must tick it",
	always: "The email address is always required.",
	input: "Input type",
	automatic: "Automatic",
	inputs: {
		text: "Single line of text",
		email: "Email address",
		tel: "Phone number",
		url: "URL",
		number: "Number",
		date: "Date",
		select: "Dropdown",
		radio: "Radio buttons",
		checkbox: "Checkbox",
		textarea: "Multiple lines",
		hidden: "Hidden",
	},
	options: "Options, one per line",
	initial: "Initial value",
	ticked: "Ticked initially",
	value: "Value",
	param: "Taken from the page URL",
	paramHelp: "A parameter such as utm_source. If it is missing, the value above is used.",
});

type Props = {
	fields: FormField[];
	onChange: (fields: FormField[]) => void;
	problem: (path: string) => string | undefined;
	readOnly: boolean;
};

/** Fields edits the fields of a form, in their order. */
export function Fields({ fields, onChange, problem, readOnly }: Props) {
	const bindings = useBindings();
	const used = new Set(fields.map(keyOf));
	const free = bindings.filter((b) => !used.has(b.key));
	const hideable = free.filter((b) => b.type === "custom_field" || (b.type === "contact" && b.binding !== "email"));
	const nameOf = (f: FormField) => bindings.find((b) => b.key === keyOf(f))?.name ?? f.binding ?? words.text;
	const add = (id: string) => {
		const [as, ...rest] = id.split(" ");
		const b = bindings.find((x) => x.key === rest.join(" "));
		if (as === "text")
			onChange([...fields, newField({ key: "", type: "text_block", binding: "", name: "", group: "" }, fields)]);
		else if (b) onChange([...fields, newField(b, fields, as === "hidden" ? "hidden" : b.type)]);
	};
	return (
		<div className={css.fields}>
			<Cards
				items={fields}
				onChange={onChange}
				readOnly={readOnly}
				title={(f) => f.label || nameOf(f)}
				detail={(f) =>
					[
						typeNames()[f.type],
						f.type !== "text_block" && f.label !== nameOf(f) && nameOf(f),
						f.required && words.required,
					]
						.filter(Boolean)
						.join(" · ")
				}
			>
				{(f, i) => (
					<Field
						field={f}
						at={`fields[${i}]`}
						name={nameOf(f)}
						choices={bindings.filter(
							(b) => !used.has(b.key) && (f.type === "hidden" ? hideable.includes(b) : b.type === f.type),
						)}
						problem={problem}
						onChange={(part) => onChange(fields.map((x, n) => (n === i ? { ...x, ...part } : x)))}
					/>
				)}
			</Cards>
			{!readOnly && (
				<Combo
					key={fields.map((f) => f.id).join()}
					label={words.add}
					help={words.addHelp}
					path="fields"
					error={fields.length === 0 ? problem("fields") : undefined}
					value={null}
					onChange={(id) => id && add(id)}
					options={[
						...free.map((b) => ({ id: `as ${b.key}`, label: b.name, detail: b.group })),
						{ id: "text", label: typeNames().text_block },
						...hideable.map((b) => ({
							id: `hidden ${b.key}`,
							label: words.hidden({ name: b.name }),
							detail: typeNames().hidden,
						})),
					]}
				/>
			)}
		</div>
	);
}

type FieldProps = {
	field: FormField;
	at: string;
	name: string;
	choices: Binding[];
	problem: (path: string) => string | undefined;
	onChange: (part: Partial<FormField>) => void;
};

function Field({ field: f, at, name, choices, problem, onChange }: FieldProps) {
	const isEmail = f.type === "contact" && f.binding === "email";
	const input = f.input ?? "";
	const choice = input === "select" || input === "radio";
	const path = (part: string) => `${at}.${part}`;
	if (f.type === "text_block") {
		return (
			<TextArea
				label={words.body}
				rows={3}
				path={path("label")}
				value={f.label}
				onChange={(label) => onChange({ label })}
				error={problem(path("label"))}
			/>
		);
	}
	const binding = (
		<Select
			label={words.binding}
			path={path("binding")}
			value={f.binding ?? ""}
			onChange={(b) => onChange({ binding: b, input: f.type === "hidden" ? f.input : null, options: null })}
			choices={[{ value: f.binding ?? "", label: name }, ...choices.map((c) => ({ value: c.binding, label: c.name }))]}
			error={problem(path("binding"))}
		/>
	);
	if (f.type === "hidden") {
		return (
			<>
				{binding}
				<TextField
					label={words.value}
					optional
					path={path("default_value")}
					value={String(f.default_value ?? "")}
					onChange={(v) => onChange({ default_value: v || null })}
					error={problem(path("default_value"))}
				/>
				<TextField
					label={words.param}
					optional
					help={words.paramHelp}
					path={path("param")}
					value={f.param ?? ""}
					onChange={(param) => onChange({ param: param || null })}
					error={problem(path("param"))}
				/>
			</>
		);
	}
	if (f.type === "consent") {
		return (
			<>
				<TextArea
					label={words.wording}
					rows={2}
					help={words.wordingHelp}
					path={path("label")}
					value={f.label}
					onChange={(label) => onChange({ label })}
					error={problem(path("label"))}
				/>
				{binding}
				<TextField
					label={words.help}
					optional
					path={path("help_text")}
					value={f.help_text ?? ""}
					onChange={(v) => onChange({ help_text: v || null })}
					error={problem(path("help_text"))}
				/>
				<Checkbox label={words.mustTick} checked={f.required} onChange={(required) => onChange({ required })} />
			</>
		);
	}
	return (
		<>
			<TextField
				label={words.label}
				path={path("label")}
				value={f.label}
				onChange={(label) => onChange({ label })}
				error={problem(path("label"))}
			/>
			{!isEmail && (
				<Columns>
					{binding}
					<Select
						label={words.input}
						path={path("input")}
						value={input}
						onChange={(v) =>
							onChange({ input: v || null, options: v === "select" || v === "radio" ? f.options : null })
						}
						choices={[
							{ value: "", label: words.automatic },
							...inputsOf(f).map((value) => ({
								value,
								label: (words.inputs as { [input: string]: string })[value] ?? value,
							})),
						]}
						error={problem(path("input"))}
					/>
				</Columns>
			)}
			{choice && (
				<TextArea
					label={words.options}
					path={path("options")}
					value={(f.options ?? []).join("\n")}
					onChange={(v) => onChange({ options: v.split("\n") })}
					onBlur={(e) => onChange({ options: linesOf(e.target.value) })}
					error={problem(path("options"))}
				/>
			)}
			{input !== "checkbox" && input !== "radio" && (
				<TextField
					label={input === "select" ? words.first : words.placeholder}
					optional
					path={path("placeholder")}
					value={f.placeholder ?? ""}
					onChange={(v) => onChange({ placeholder: v || null })}
					error={problem(path("placeholder"))}
				/>
			)}
			<TextField
				label={words.help}
				optional
				path={path("help_text")}
				value={f.help_text ?? ""}
				onChange={(v) => onChange({ help_text: v || null })}
				error={problem(path("help_text"))}
			/>
			{input === "checkbox" ? (
				<Checkbox
					label={words.ticked}
					checked={f.default_value === true}
					onChange={(on) => onChange({ default_value: on || null })}
				/>
			) : (
				!isEmail && (
					<TextField
						label={words.initial}
						optional
						path={path("default_value")}
						value={String(f.default_value ?? "")}
						onChange={(v) => onChange({ default_value: v || null })}
						error={problem(path("default_value"))}
					/>
				)
			)}
			<Checkbox
				label={words.must}
				help={isEmail ? words.always : undefined}
				checked={f.required}
				onChange={(required) => onChange({ required })}
			/>
		</>
	);
}
