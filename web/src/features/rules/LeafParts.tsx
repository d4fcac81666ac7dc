import { NumberField, Select, TextField } from "../../ui/Field";
import { catalogue } from "../../base/words/catalogue";
import css from "./Builder.module.css";
import { type Kind, type Leaf, leafOperators, leafWords, type Period, type Window } from "./leaves";

const words = catalogue("rules.leafParts", {
	condition: "Condition",
	window: "When",
	ranges: {
		ever: "at any time",
		last: "in the last",
		since: "since",
		until: "until",
		between: "between",
	},
	amount: "Number",
	unit: "Unit",
	from: "From",
	to: "To",
	units: { hour: "hours", day: "days", week: "weeks", month: "months", year: "years" },
});

/** ErrorOf returns what the server found wrong with a part of a condition, such as "first.filters[0]". */
export type ErrorOf = (part: string) => string | undefined;

export type Part = { leaf: Leaf; set: (part: Partial<Leaf>) => void; error?: string };

/** OperatorOf chooses what a condition says of its subject. */
export function OperatorOf({
	label = words.condition,
	kind,
	leaf,
	set,
}: Part & { label?: string; kind: Exclude<Kind, "field"> }) {
	return (
		<Select
			label={label}
			value={leaf.operator ?? ""}
			onChange={(value) => set({ operator: value })}
			choices={leafOperators[kind].map((operator) => ({
				value: operator,
				label: (leafWords.operators as { [key: string]: string })[operator] ?? operator,
			}))}
		/>
	);
}

/** Duration edits a length of time. */
export function Duration({
	label = words.amount,
	units,
	value,
	onChange,
	error,
}: {
	label?: string;
	units: readonly (keyof typeof words.units)[];
	value: Period;
	onChange: (value: Period) => void;
	error?: string;
}) {
	return (
		<div className={css.period}>
			<NumberField
				label={label}
				min={1}
				value={value.amount}
				onChange={(amount) => onChange({ ...value, amount })}
				error={error}
			/>
			<Select
				label={words.unit}
				value={value.unit}
				onChange={(unit) => onChange({ ...value, unit })}
				choices={units.map((unit) => ({ value: unit, label: words.units[unit] }))}
			/>
		</div>
	);
}

const unitsOfWindow = ["hour", "day", "week", "month", "year"] as const;

type RangeKind = keyof typeof words.ranges;

const rangeOf = (window: Window | undefined): RangeKind => {
	if (window?.in_the_last) return "last";
	if (window?.from) return window.to ? "between" : "since";
	return window?.to ? "until" : "ever";
};

/** When edits the time in which something happened. */
export function When({ label = words.window, leaf, set }: Part & { label?: string }) {
	const range = leaf.window;
	const today = new Date().toISOString().slice(0, 10);
	const [from, to] = [range?.from ?? today, range?.to ?? today];
	const ranges: { [K in RangeKind]: Window | undefined } = {
		ever: undefined,
		last: { in_the_last: { amount: 30, unit: "day" } },
		since: { from },
		until: { to },
		between: { from, to },
	};
	return (
		<>
			<Select
				label={label}
				value={rangeOf(range)}
				onChange={(value) => set({ window: ranges[value as RangeKind] })}
				choices={Object.entries(words.ranges).map(([value, label]) => ({ value, label }))}
			/>
			{range?.in_the_last && (
				<Duration
					units={unitsOfWindow}
					value={range.in_the_last}
					onChange={(in_the_last) => set({ window: { in_the_last } })}
				/>
			)}
			{(["from", "to"] as const).map(
				(end) =>
					range?.[end] && (
						<TextField
							key={end}
							label={words[end]}
							type="date"
							value={range[end].slice(0, 10)}
							onChange={(day) => day && set({ window: { ...range, [end]: day } })}
						/>
					),
			)}
		</>
	);
}
