import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Combo, type Option, Picks } from "../../ui/Combo";
import { Columns, NumberField, Select, TextField } from "../../ui/Field";
import { catalogue } from "../../base/words/catalogue";
import { codesOf } from "../../base/words/codes";
import css from "./ValueEditor.module.css";
import { type FieldInfo, shapeOf } from "./fields";
import { choiceName } from "./choiceName";
import { meaning } from "./period";
import { valuesQuery } from "./queries";
import { tagsQuery } from "../contacts/queries";

const words = catalogue("rules.valueEditor", {
	value: "Value",
	values: "Values",
	from: "From",
	to: "To",
	amount: "Number",
	unit: "Unit",
	units: { hour: "hours", day: "days", week: "weeks", month: "months", year: "years" },
	yes: "Yes",
	no: "No",
	today: "Today: {dates}",
	help: "Press Enter after each value.",
});

type Period = { amount: number; unit: string };

type Props = {
	field: FieldInfo;
	operator: string;
	value: unknown;
	onChange: (value: unknown) => void;
	error?: string;
	autoFocus?: boolean;
};

/** ValueEditor edits the value of a condition, by the kind of its field and the shape that its operator takes. */
export function ValueEditor({ field, operator, value, onChange, error, autoFocus }: Props) {
	const type =
		field.kind === "number" ? "number" : field.kind === "date" ? "date" : field.kind === "time" ? "time" : "text";
	const parse = (value: string): unknown => (field.kind === "number" ? (value === "" ? null : Number(value)) : value);
	switch (shapeOf(operator)) {
		case "none":
			return null;
		case "many":
			return (
				<MultipleValues
					field={field}
					values={Array.isArray(value) ? value.map(String) : []}
					onChange={onChange}
					error={error}
					autoFocus={autoFocus}
				/>
			);
		case "two": {
			const [a, b] = Array.isArray(value) ? value : ["", ""];
			return (
				<Columns>
					<TextField
						label={words.from}
						type={type}
						value={String(a ?? "")}
						onChange={(value) => onChange([parse(value), b])}
						error={error}
						autoFocus={autoFocus}
					/>
					<TextField
						label={words.to}
						type={type}
						value={String(b ?? "")}
						onChange={(value) => onChange([a, parse(value)])}
					/>
				</Columns>
			);
		}
		case "period": {
			const period = (value ?? {}) as Partial<Period>;
			return (
				<>
					<Columns>
						<NumberField
							label={words.amount}
							min={1}
							value={period.amount}
							onChange={(amount) => onChange({ ...period, amount })}
							error={error}
							autoFocus={autoFocus}
						/>
						<Select
							label={words.unit}
							value={period.unit ?? "day"}
							onChange={(unit) => onChange({ ...period, unit })}
							choices={Object.entries(words.units).map(([value, label]) => ({ value, label }))}
						/>
					</Columns>
					{meaning(operator, period) && (
						<p className={css.meaning}>{words.today({ dates: meaning(operator, period) })}</p>
					)}
				</>
			);
		}
		default:
			if (field.kind === "boolean") {
				return (
					<Select
						label={words.value}
						value={value === true ? "yes" : value === false ? "no" : ""}
						onChange={(value) => onChange(value === "yes")}
						autoFocus={autoFocus}
						choices={[
							...(typeof value === "boolean" ? [] : [{ value: "", label: "" }]),
							{ value: "yes", label: words.yes },
							{ value: "no", label: words.no },
						]}
					/>
				);
			}
			if (field.choices?.length) {
				return (
					<Combo
						label={words.value}
						options={field.choices.map((choice) => ({ id: choice.value, label: choice.label }))}
						value={String(value ?? "") || null}
						onChange={(id) => onChange(id ?? "")}
						error={error}
						autoFocus={autoFocus}
					/>
				);
			}
			return field.kind === "text" || field.kind === "choice" ? (
				<SuggestedValue
					field={field}
					value={String(value ?? "")}
					onChange={onChange}
					error={error}
					autoFocus={autoFocus}
				/>
			) : (
				<TextField
					label={words.value}
					type={type}
					value={String(value ?? "")}
					onChange={(value) => onChange(parse(value))}
					error={error}
					autoFocus={autoFocus}
				/>
			);
	}
}

/** useSuggestions returns values that contacts have in a field, frequent ones first, with the names of codes, and then the other codes. */
function useSuggestions(field: FieldInfo, search: string): Option[] {
	const tags = field.field === "tags";
	const text = field.codes ? "" : search;
	const values = useQuery({ ...valuesQuery(field.field, text), enabled: !tags && !field.choices });
	const known = useQuery({ ...tagsQuery(text), enabled: tags });
	const options = ((tags ? known : values).data?.data ?? []).map((suggestion) => ({
		id: suggestion.value,
		label: choiceName(field, suggestion.value),
		detail: suggestion.count,
	}));
	if (field.choices) return field.choices.map((choice) => ({ id: choice.value, label: choice.label }));
	if (!field.codes) return options;
	const used = new Set(options.map((option) => option.id));
	const others = codesOf(field.codes).filter(({ code }) => !used.has(code));
	return [...options, ...others.map(({ code, name }) => ({ id: code, label: name }))];
}

type ValueProps<V> = Pick<Props, "field" | "onChange" | "error" | "autoFocus"> & V;

function SuggestedValue({ field, value, onChange, ...rest }: ValueProps<{ value: string }>) {
	const [search, setSearch] = useState("");
	const options = useSuggestions(field, search);
	return (
		<Combo
			{...rest}
			allowsCustomValue={!field.codes}
			label={words.value}
			options={options}
			value={value || null}
			onChange={(value) => onChange(value ?? "")}
			onSearch={field.codes ? undefined : setSearch}
		/>
	);
}

function MultipleValues({ field, values, onChange, ...rest }: ValueProps<{ values: string[] }>) {
	const [search, setSearch] = useState("");
	const known = useSuggestions(field, search);
	const isFixed = field.choices !== undefined || field.codes !== undefined;
	const newValue = search.trim();
	const options =
		!isFixed && newValue && !known.some((option) => option.id === newValue)
			? [...known, { id: newValue, label: newValue }]
			: known;
	const change = (all: string[]) => onChange(field.kind === "number" ? all.map(Number).filter(Number.isFinite) : all);
	return (
		<Picks
			{...rest}
			label={words.values}
			help={words.help}
			options={options}
			values={values}
			onChange={change}
			nameOf={(value) => choiceName(field, value)}
			onSearch={isFixed ? undefined : setSearch}
		/>
	);
}
