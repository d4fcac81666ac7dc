import { useQuery } from "@tanstack/react-query";
import { Plus, X } from "lucide-react";
import { useEffect, useState } from "react";
import { Button, IconButton } from "../../ui/Button";
import { Combo } from "../../ui/Combo";
import { Select, TextField } from "../../ui/Field";
import { catalogue } from "../../base/words/catalogue";
import css from "./Builder.module.css";
import { type FieldKind, initialValue, operatorName, operators, shapeOf } from "./fields";
import { type PropertyFilter, type PropertyKind, propertyKind, recordedKind } from "./propertyFilters";
import { ValueEditor } from "./ValueEditor";
import { eventPropertiesQuery } from "../activity/queries";

const words = catalogue("rules.properties", {
	property: "Property",
	propertyHelp: "Use dots for objects and [] for lists: items[].sku",
	kind: "Kind",
	kinds: { text: "Text", number: "Number", date: "Date", boolean: "Yes or no" },
	condition: "Condition",
	values: "Values",
	valuesHelp: "Separated by commas.",
	add: "Add property condition",
	remove: "Remove condition on {property}",
	removeEmpty: "Remove property condition",
});

type Props = {
	eventName?: string;
	filters: PropertyFilter[];
	onChange: (filters: PropertyFilter[]) => void;
	errorOf: (index: number) => string | undefined;
};

/** Properties edits conditions on properties of an event, which must all hold. */
export function Properties({ eventName, filters, onChange, errorOf }: Props) {
	const replaceFilter = (i: number, filter: PropertyFilter) =>
		onChange(filters.map((old, j) => (j === i ? filter : old)));
	return (
		<>
			{filters.map((filter, i) => (
				<div key={i} className={css.leaf}>
					<div className={css.editor}>
						<Condition
							eventName={eventName}
							filter={filter}
							onChange={(next) => replaceFilter(i, next)}
							error={errorOf(i)}
						/>
					</div>
					<IconButton
						small
						label={filter.property ? words.remove({ property: filter.property }) : words.removeEmpty}
						icon={<X aria-hidden />}
						onClick={() => onChange(filters.filter((_, j) => j !== i))}
					/>
				</div>
			))}
			<div>
				<Button
					small
					variant="quiet"
					icon={<Plus aria-hidden />}
					onClick={() => onChange([...filters, { property: "", operator: "equals", value: "" }])}
				>
					{words.add}
				</Button>
			</div>
		</>
	);
}

/** Condition edits one condition on a property of an event. */
export function Condition({
	eventName,
	filter,
	onChange,
	error,
}: {
	eventName?: string;
	filter: PropertyFilter;
	onChange: (filter: PropertyFilter) => void;
	error?: string;
}) {
	const [search, setSearch] = useState("");
	const [kind, setKind] = useState(propertyKind(filter));
	const [kindChosen, setKindChosen] = useState(false);
	const known = useQuery({ ...eventPropertiesQuery(eventName ?? "", search), enabled: Boolean(eventName) });
	// A text of a property has no suggestions, so its field is of a kind that has none either.
	const valueKind: FieldKind = kind === "text" ? "reference" : kind;
	const suggestions = known.data?.data ?? [];
	const change = (operator: string, of: PropertyKind, property = filter.property) => {
		setKind(of);
		onChange({
			...filter,
			property,
			operator,
			value: shapeOf(operator) === shapeOf(filter.operator) && of === kind ? filter.value : initialValue(operator, of),
		});
	};
	const recordedOf = (property: string) =>
		recordedKind(suggestions.find((suggestion) => suggestion.value === property)?.kinds);
	const choose = (property: string) => {
		const recorded = recordedOf(property) ?? kind;
		change(recorded === kind ? filter.operator : (operators[recorded][0] ?? "equals"), recorded, property);
	};
	// A property may be written before its suggestion has arrived. What somebody chose or typed since stays.
	const recorded = recordedOf(filter.property);
	const untouched = !kindChosen && filter.operator === "equals" && filter.value === "";
	useEffect(() => {
		if (untouched && recorded && recorded !== kind) choose(filter.property);
	});
	return (
		<>
			<Combo
				allowsCustomValue
				label={words.property}
				help={words.propertyHelp}
				options={suggestions.map((suggestion) => ({
					id: suggestion.value,
					label: suggestion.value,
					detail: suggestion.kinds?.join(", "),
				}))}
				value={filter.property || null}
				onSearch={setSearch}
				onChange={(value) => choose(value ?? "")}
			/>
			<Select
				label={words.kind}
				value={kind}
				onChange={(value) => {
					setKindChosen(true);
					change(operators[value as PropertyKind][0] ?? "equals", value as PropertyKind);
				}}
				choices={Object.entries(words.kinds).map(([value, label]) => ({ value, label }))}
			/>
			<Select
				label={words.condition}
				value={filter.operator}
				onChange={(value) => change(value, kind)}
				choices={operators[kind].map((operator) => ({ value: operator, label: operatorName(operator) }))}
			/>
			{shapeOf(filter.operator) === "many" ? (
				<TextField
					label={words.values}
					help={words.valuesHelp}
					value={Array.isArray(filter.value) ? filter.value.join(", ") : ""}
					onChange={(value) => onChange({ ...filter, value: value.split(/,\s*/) })}
					error={error}
				/>
			) : (
				<ValueEditor
					field={{ field: filter.property, name: filter.property, group: "", kind: valueKind }}
					operator={filter.operator}
					value={filter.value}
					onChange={(value) => onChange({ ...filter, value })}
					error={error}
				/>
			)}
			{shapeOf(filter.operator) === "none" && error && <p role="alert">{error}</p>}
		</>
	);
}
