import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { catalogue } from "../../base/words/catalogue";
import { Combo } from "../../ui/Combo";
import { Select, TextField } from "../../ui/Field";
import { eventPropertiesQuery } from "../activity/queries";
import { type FieldKind, operatorName, operators, shapeOf } from "./fields";
import type { Control } from "./PartButton";
import {
	chosenKind,
	ofKind,
	type PropertyFilter,
	type PropertyKind,
	propertyKind,
	recordedKind,
	valuesIn,
} from "./propertyFilters";
import { ValueEditor } from "./ValueEditor";

const words = catalogue("rules.properties", {
	property: "Property",
	propertyHelp: "Use dots for objects and [] for lists: items[].sku",
	kind: "Kind",
	kinds: { text: "Text", number: "Number", date: "Date", boolean: "Yes or no" },
	condition: "Condition",
	value: "Value",
	values: "Values",
	valuesHelp: "Separated by commas.",
});

type Props = {
	eventName: string | undefined;
	filter: PropertyFilter;
	onChange: (filter: PropertyFilter) => void;
	error?: string;
};

/** useRecorded returns the properties that events have had. A condition that says no more than the name of one gets its kind. */
function useRecorded({ eventName, filter, onChange }: Props, search: string) {
	const query = useQuery({ ...eventPropertiesQuery(eventName ?? "", search), enabled: Boolean(eventName) });
	const properties = query.data?.data ?? [];
	const kindOf = (property: string) =>
		recordedKind(properties.find((suggestion) => suggestion.value === property)?.kinds);
	// A property may be written before its suggestion has arrived. What somebody chose or typed since stays.
	const recorded = kindOf(filter.property);
	const isUntouched = filter[chosenKind] === undefined && filter.operator === "equals" && filter.value === "";
	useEffect(() => {
		if (isUntouched && recorded && recorded !== propertyKind(filter)) onChange(ofKind(filter, recorded));
	});
	return { properties, kindOf };
}

function PropertyName(props: Props) {
	const { filter, onChange, error } = props;
	const [search, setSearch] = useState("");
	const { properties, kindOf } = useRecorded(props, search);
	const kind = propertyKind(filter);
	return (
		<>
			<Combo
				allowsCustomValue
				autoFocus
				label={words.property}
				help={words.propertyHelp}
				options={properties.map((suggestion) => ({
					id: suggestion.value,
					label: suggestion.value,
					detail: suggestion.kinds?.join(", "),
				}))}
				value={filter.property || null}
				onSearch={setSearch}
				onChange={(value) => {
					const property = value ?? "";
					const recorded = kindOf(property);
					const next = recorded ? ofKind(filter, recorded, recorded === kind ? filter.operator : undefined) : filter;
					onChange({ ...next, property });
				}}
				error={error}
			/>
			<Select
				label={words.kind}
				value={kind}
				onChange={(value) => onChange(ofKind(filter, value as PropertyKind))}
				choices={Object.entries(words.kinds).map(([value, label]) => ({ value, label }))}
			/>
		</>
	);
}

function PropertyValue(props: Props) {
	const { filter, onChange, error } = props;
	useRecorded(props, filter.property);
	const [text, setText] = useState(Array.isArray(filter.value) ? filter.value.join(", ") : "");
	// A text of a property has no suggestions, so its field is of a kind that has none either.
	const kind = propertyKind(filter);
	const valueKind: FieldKind = kind === "text" ? "reference" : kind;
	return shapeOf(filter.operator) === "many" ? (
		<TextField
			autoFocus
			label={words.values}
			help={words.valuesHelp}
			value={text}
			onChange={(text) => {
				setText(text);
				onChange({ ...filter, value: valuesIn(text, kind) });
			}}
			error={error}
		/>
	) : (
		<ValueEditor
			autoFocus
			field={{ field: filter.property, name: filter.property, group: "", kind: valueKind }}
			operator={filter.operator}
			value={filter.value}
			onChange={(value) => onChange({ ...filter, value })}
			error={error}
		/>
	);
}

/** propertyControl returns what changes a part of a condition on a property: "property", "operator" or "value". */
export function propertyControl(part: string, props: Props, remove?: () => void): Control {
	const { filter, onChange } = props;
	switch (part) {
		case "property":
			return { label: words.property, fields: (error) => <PropertyName {...props} error={error} />, remove };
		case "operator": {
			const kind = propertyKind(filter);
			return {
				label: words.condition,
				choices: operators[kind].map((operator) => ({ id: operator, label: operatorName(operator) })),
				value: filter.operator,
				choose: (operator) => onChange(ofKind(filter, kind, operator)),
			};
		}
		default:
			return { label: words.value, fields: (error) => <PropertyValue {...props} error={error} /> };
	}
}
