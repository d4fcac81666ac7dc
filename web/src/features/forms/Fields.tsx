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
	const unused = bindings.filter((binding) => !used.has(binding.key));
	const hideableBindings = unused.filter(
		(binding) => binding.type === "custom_field" || (binding.type === "contact" && binding.binding !== "email"),
	);
	const nameOf = (field: FormField) =>
		bindings.find((binding) => binding.key === keyOf(field))?.name ?? field.binding ?? words.text;
	const add = (id: string) => {
		const [fieldType, ...rest] = id.split(" ");
		const binding = bindings.find((binding) => binding.key === rest.join(" "));
		if (fieldType === "text")
			onChange([...fields, newField({ key: "", type: "text_block", binding: "", name: "", group: "" }, fields)]);
		else if (binding)
			onChange([...fields, newField(binding, fields, fieldType === "hidden" ? "hidden" : binding.type)]);
	};
	return (
		<div className={css.fields}>
			<Cards
				items={fields}
				onChange={onChange}
				readOnly={readOnly}
				title={(field) => field.label || nameOf(field)}
				detail={(field) =>
					[
						typeNames()[field.type],
						field.type !== "text_block" && field.label !== nameOf(field) && nameOf(field),
						field.required && words.required,
					]
						.filter(Boolean)
						.join(" · ")
				}
			>
				{(field, i) => (
					<Field
						field={field}
						path={`fields[${i}]`}
						name={nameOf(field)}
						choices={bindings.filter(
							(binding) =>
								!used.has(binding.key) &&
								(field.type === "hidden" ? hideableBindings.includes(binding) : binding.type === field.type),
						)}
						problem={problem}
						onChange={(part) => onChange(fields.map((field, index) => (index === i ? { ...field, ...part } : field)))}
					/>
				)}
			</Cards>
			{!readOnly && (
				<Combo
					key={fields.map((field) => field.id).join()}
					label={words.add}
					help={words.addHelp}
					path="fields"
					error={fields.length === 0 ? problem("fields") : undefined}
					value={null}
					onChange={(id) => id && add(id)}
					options={[
						...unused.map((binding) => ({ id: `as ${binding.key}`, label: binding.name, detail: binding.group })),
						{ id: "text", label: typeNames().text_block },
						...hideableBindings.map((binding) => ({
							id: `hidden ${binding.key}`,
							label: words.hidden({ name: binding.name }),
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
	path: string;
	name: string;
	choices: Binding[];
	problem: (path: string) => string | undefined;
	onChange: (part: Partial<FormField>) => void;
};

function Field({ field, path: at, name, choices, problem, onChange }: FieldProps) {
	const isEmail = field.type === "contact" && field.binding === "email";
	const input = field.input ?? "";
	const hasOptions = input === "select" || input === "radio";
	const path = (part: string) => `${at}.${part}`;
	if (field.type === "text_block") {
		return (
			<TextArea
				label={words.body}
				rows={3}
				path={path("label")}
				value={field.label}
				onChange={(label) => onChange({ label })}
				error={problem(path("label"))}
			/>
		);
	}
	const binding = (
		<Select
			label={words.binding}
			path={path("binding")}
			value={field.binding ?? ""}
			onChange={(value) =>
				onChange({ binding: value, input: field.type === "hidden" ? field.input : null, options: null })
			}
			choices={[
				{ value: field.binding ?? "", label: name },
				...choices.map((choice) => ({ value: choice.binding, label: choice.name })),
			]}
			error={problem(path("binding"))}
		/>
	);
	if (field.type === "hidden") {
		return (
			<>
				{binding}
				<TextField
					label={words.value}
					optional
					path={path("default_value")}
					value={String(field.default_value ?? "")}
					onChange={(value) => onChange({ default_value: value || null })}
					error={problem(path("default_value"))}
				/>
				<TextField
					label={words.param}
					optional
					help={words.paramHelp}
					path={path("param")}
					value={field.param ?? ""}
					onChange={(param) => onChange({ param: param || null })}
					error={problem(path("param"))}
				/>
			</>
		);
	}
	if (field.type === "consent") {
		return (
			<>
				<TextArea
					label={words.wording}
					rows={2}
					help={words.wordingHelp}
					path={path("label")}
					value={field.label}
					onChange={(label) => onChange({ label })}
					error={problem(path("label"))}
				/>
				{binding}
				<TextField
					label={words.help}
					optional
					path={path("help_text")}
					value={field.help_text ?? ""}
					onChange={(value) => onChange({ help_text: value || null })}
					error={problem(path("help_text"))}
				/>
				<Checkbox label={words.mustTick} checked={field.required} onChange={(required) => onChange({ required })} />
			</>
		);
	}
	return (
		<>
			<TextField
				label={words.label}
				path={path("label")}
				value={field.label}
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
						onChange={(value) =>
							onChange({
								input: value || null,
								options: value === "select" || value === "radio" ? field.options : null,
							})
						}
						choices={[
							{ value: "", label: words.automatic },
							...inputsOf(field).map((value) => ({
								value,
								label: (words.inputs as { [input: string]: string })[value] ?? value,
							})),
						]}
						error={problem(path("input"))}
					/>
				</Columns>
			)}
			{hasOptions && (
				<TextArea
					label={words.options}
					path={path("options")}
					value={(field.options ?? []).join("\n")}
					onChange={(value) => onChange({ options: value.split("\n") })}
					onBlur={(e) => onChange({ options: linesOf(e.target.value) })}
					error={problem(path("options"))}
				/>
			)}
			{input !== "checkbox" && input !== "radio" && (
				<TextField
					label={input === "select" ? words.first : words.placeholder}
					optional
					path={path("placeholder")}
					value={field.placeholder ?? ""}
					onChange={(value) => onChange({ placeholder: value || null })}
					error={problem(path("placeholder"))}
				/>
			)}
			<TextField
				label={words.help}
				optional
				path={path("help_text")}
				value={field.help_text ?? ""}
				onChange={(value) => onChange({ help_text: value || null })}
				error={problem(path("help_text"))}
			/>
			{input === "checkbox" ? (
				<Checkbox
					label={words.ticked}
					checked={field.default_value === true}
					onChange={(checked) => onChange({ default_value: checked || null })}
				/>
			) : (
				!isEmail && (
					<TextField
						label={words.initial}
						optional
						path={path("default_value")}
						value={String(field.default_value ?? "")}
						onChange={(value) => onChange({ default_value: value || null })}
						error={problem(path("default_value"))}
					/>
				)
			)}
			<Checkbox
				label={words.must}
				help={isEmail ? words.always : undefined}
				checked={field.required}
				onChange={(required) => onChange({ required })}
			/>
		</>
	);
}
