import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Combo, Picks } from "../../ui/Combo";
import { Columns, NumberField, Select, TextField } from "../../ui/Field";
import { catalogue } from "../../base/words/catalogue";
import css from "./ValueEditor.module.css";
import { type FieldInfo, shapeOf } from "./fields";
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

type Props = { field: FieldInfo; operator: string; value: unknown; onChange: (value: unknown) => void; error?: string };

/** ValueEditor edits the value of a condition, by the kind of its field and the shape that its operator takes. */
export function ValueEditor({ field, operator, value, onChange, error }: Props) {
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
					/>
				);
			}
			return field.kind === "text" || field.kind === "choice" ? (
				<SuggestedValue field={field} value={String(value ?? "")} onChange={onChange} error={error} />
			) : (
				<TextField
					label={words.value}
					type={type}
					value={String(value ?? "")}
					onChange={(value) => onChange(parse(value))}
					error={error}
				/>
			);
	}
}

/** useSuggestions returns values that contacts have in a field, frequent ones first. */
function useSuggestions(field: FieldInfo, search: string) {
	const tags = field.field === "tags";
	const values = useQuery({ ...valuesQuery(field.field, search), enabled: !tags });
	const known = useQuery({ ...tagsQuery(search), enabled: tags });
	return tags ? known : values;
}

function SuggestedValue({
	field,
	value,
	onChange,
	error,
}: {
	field: FieldInfo;
	value: string;
	onChange: (value: unknown) => void;
	error?: string;
}) {
	const [search, setSearch] = useState("");
	const query = useSuggestions(field, search);
	const options = (query.data?.data ?? []).map((suggestion) => ({
		id: suggestion.value,
		label: suggestion.value,
		detail: suggestion.count,
	}));
	return (
		<Combo
			allowsCustomValue
			label={words.value}
			options={options}
			value={value || null}
			onChange={(value) => onChange(value ?? "")}
			onSearch={setSearch}
			error={error}
		/>
	);
}

function MultipleValues({
	field,
	values,
	onChange,
	error,
}: {
	field: FieldInfo;
	values: string[];
	onChange: (value: unknown) => void;
	error?: string;
}) {
	const [search, setSearch] = useState("");
	const query = useSuggestions(field, search);
	const known =
		field.choices?.map((choice) => ({ id: choice.value, label: choice.label })) ??
		(query.data?.data ?? []).map((suggestion) => ({
			id: suggestion.value,
			label: suggestion.value,
			detail: suggestion.count,
		}));
	const newValue = search.trim();
	const options =
		!field.choices && newValue && !known.some((option) => option.id === newValue)
			? [...known, { id: newValue, label: newValue }]
			: known;
	const change = (all: string[]) => onChange(field.kind === "number" ? all.map(Number).filter(Number.isFinite) : all);
	return (
		<Picks
			label={words.values}
			help={words.help}
			options={options}
			values={values}
			onChange={change}
			onSearch={field.choices ? undefined : setSearch}
			error={error}
		/>
	);
}
