import { catalogue } from "../../base/words/catalogue";
import { NumberField, Select, TextField } from "../../ui/Field";
import css from "./Builder.module.css";
import type { Count, Period, Window } from "./leaves";

const words = catalogue("rules.leafParts", {
	window: "When",
	ranges: {
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
	count: "How often",
	counts: { at_least: "at least", at_most: "at most", exactly: "exactly" },
	times: "Times",
});

/** Duration edits a length of time. */
export function Duration({
	label = words.amount,
	units,
	value,
	onChange,
	error,
	autoFocus,
}: {
	label?: string;
	units: readonly (keyof typeof words.units)[];
	value: Period;
	onChange: (value: Period) => void;
	error?: string;
	autoFocus?: boolean;
}) {
	return (
		<div className={css.period}>
			<NumberField
				autoFocus={autoFocus}
				label={label}
				min={1}
				value={value.amount}
				onChange={(amount) => onChange({ ...value, amount })}
				error={error}
			/>
			<Select
				label={words.unit}
				value={value.unit.replace(/s$/, "")}
				onChange={(unit) => onChange({ ...value, unit })}
				choices={units.map((unit) => ({ value: unit, label: words.units[unit] }))}
			/>
		</div>
	);
}

const unitsOfWindow = ["hour", "day", "week", "month", "year"] as const;

type RangeKind = keyof typeof words.ranges;

const rangeOf = (window: Window): RangeKind => {
	if (window.in_the_last) return "last";
	if (window.from) return window.to ? "between" : "since";
	return "until";
};

/** When edits the time in which something happened. */
export function When({
	window,
	onChange,
	error,
}: {
	window: Window;
	onChange: (window: Window) => void;
	error?: string;
}) {
	const today = new Date().toISOString().slice(0, 10);
	const [from, to] = [window.from ?? today, window.to ?? today];
	const ranges: { [K in RangeKind]: Window } = {
		last: { in_the_last: { amount: 30, unit: "day" } },
		since: { from },
		until: { to },
		between: { from, to },
	};
	return (
		<>
			<Select
				autoFocus
				label={words.window}
				value={rangeOf(window)}
				onChange={(value) => onChange(ranges[value as RangeKind])}
				choices={Object.entries(words.ranges).map(([value, label]) => ({ value, label }))}
			/>
			{window.in_the_last && (
				<Duration
					units={unitsOfWindow}
					value={window.in_the_last}
					onChange={(in_the_last) => onChange({ in_the_last })}
					error={error}
				/>
			)}
			{(["from", "to"] as const).map(
				(end) =>
					window[end] && (
						<TextField
							key={end}
							label={words[end]}
							type="date"
							value={window[end].slice(0, 10)}
							onChange={(day) => day && onChange({ ...window, [end]: day })}
							error={error}
						/>
					),
			)}
		</>
	);
}

/** HowOften edits how often something happened. */
export function HowOften({
	count,
	onChange,
	error,
}: {
	count: Count;
	onChange: (count: Count) => void;
	error?: string;
}) {
	return (
		<div className={css.period}>
			<Select
				label={words.count}
				value={count.operator}
				onChange={(operator) => onChange({ ...count, operator })}
				choices={Object.entries(words.counts).map(([value, label]) => ({ value, label }))}
			/>
			<NumberField
				autoFocus
				label={words.times}
				min={0}
				value={count.value}
				onChange={(value) => onChange({ ...count, value })}
				error={error}
			/>
		</div>
	);
}
