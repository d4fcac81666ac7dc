import { useQuery } from "@tanstack/react-query";
import { Plus, X } from "lucide-react";
import { useState } from "react";
import { Button, IconButton } from "../../ui/Button";
import { Combo } from "../../ui/Combo";
import { Select, TextField } from "../../ui/Field";
import { catalogue } from "../../base/words/catalogue";
import css from "./Builder.module.css";
import { type FieldKind, initialValue, operatorName, operators, shapeOf } from "./fields";
import { type PropertyFilter, type PropertyKind, propertyKind } from "./propertyFilters";
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
	const put = (i: number, f: PropertyFilter) => onChange(filters.map((old, j) => (j === i ? f : old)));
	return (
		<>
			{filters.map((f, i) => (
				<div key={i} className={css.leaf}>
					<div className={css.editor}>
						<Condition eventName={eventName} filter={f} onChange={(next) => put(i, next)} error={errorOf(i)} />
					</div>
					<IconButton
						small
						label={f.property ? words.remove({ property: f.property }) : words.removeEmpty}
						icon={<X aria-hidden />}
						onClick={() => onChange(filters.filter((_, j) => j !== i))}
					/>
				</div>
			))}
			<div>
				<Button
					small
					look="quiet"
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
	onChange: (f: PropertyFilter) => void;
	error?: string;
}) {
	const [typed, setTyped] = useState("");
	const [kind, setKind] = useState(propertyKind(filter));
	const known = useQuery({ ...eventPropertiesQuery(eventName ?? "", typed), enabled: Boolean(eventName) });
	// A text of a property has no suggestions, so its field is of a kind that has none either.
	const valueKind: FieldKind = kind === "text" ? "reference" : kind;
	const change = (operator: string, of: PropertyKind) =>
		onChange({
			...filter,
			operator,
			value: shapeOf(operator) === shapeOf(filter.operator) && of === kind ? filter.value : initialValue(operator, of),
		});
	return (
		<>
			<Combo
				free
				label={words.property}
				help={words.propertyHelp}
				options={(known.data?.data ?? []).map((s) => ({ id: s.value, label: s.value, detail: s.kinds?.join(", ") }))}
				value={filter.property || null}
				onSearch={setTyped}
				onChange={(p) => onChange({ ...filter, property: p ?? "" })}
			/>
			<Select
				label={words.kind}
				value={kind}
				onChange={(k) => {
					setKind(k as PropertyKind);
					change(operators[k as PropertyKind][0] ?? "equals", k as PropertyKind);
				}}
				choices={Object.entries(words.kinds).map(([value, label]) => ({ value, label }))}
			/>
			<Select
				label={words.condition}
				value={filter.operator}
				onChange={(o) => change(o, kind)}
				choices={operators[kind].map((o) => ({ value: o, label: operatorName(o) }))}
			/>
			{shapeOf(filter.operator) === "many" ? (
				<TextField
					label={words.values}
					help={words.valuesHelp}
					value={Array.isArray(filter.value) ? filter.value.join(", ") : ""}
					onChange={(v) => onChange({ ...filter, value: v.split(/,\s*/) })}
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
