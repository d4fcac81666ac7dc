import { Combo } from "../../../ui/Combo";
import { Columns, NumberField, Select } from "../../../ui/Field";
import css from "../StepFields.module.css";
import { type Names, stepWords } from "../steps";
import { words } from "./words";
import { choicesOf, known } from "./part";

/** Days chooses days of the week. */
export function Days({ value, onChange }: { value: number[]; onChange: (days: number[]) => void }) {
	const has = (d: number) => value.includes(d);
	return (
		<fieldset className={css.days}>
			<legend>{words.days}</legend>
			{[1, 2, 3, 4, 5, 6, 7].map((d) => (
				<button
					key={d}
					type="button"
					aria-pressed={has(d)}
					aria-label={stepWords.days[d as 1]}
					onClick={() => onChange(has(d) ? value.filter((x) => x !== d) : [...value, d].sort())}
				>
					{stepWords.shortDays[d as 1]}
				</button>
			))}
		</fieldset>
	);
}

type SpanProps = {
	label: string;
	value: { amount?: number; unit?: string } | undefined;
	onChange: (v: { amount?: number; unit: string }) => void;
	error?: string;
	path?: string;
};

/** Span is a length of time. */
export function Span({ label, value, onChange, error, path }: SpanProps) {
	const unit = value?.unit ?? "day";
	return (
		<Columns>
			<NumberField
				label={label}
				path={path}
				min={1}
				value={value?.amount}
				onChange={(n) => onChange({ amount: known(n), unit })}
				error={error}
			/>
			<Select
				label={words.unit}
				value={unit}
				onChange={(u) => onChange({ amount: value?.amount ?? 1, unit: u })}
				choices={["minute", "hour", "day", "week"].map((u) => ({ value: u, label: stepWords.unitNames[u as "day"] }))}
			/>
		</Columns>
	);
}

/** dateFields are the dates of contacts that can be waited for. */
const dateFields = (names: Names, own: boolean) =>
	names.fields
		.filter(
			(f) =>
				f.kind === "date" &&
				(f.field.startsWith("custom_fields.") || (own ? f.field !== "updated_at" : f.field === "created_at")),
		)
		.map((f) => ({ id: f.field, label: f.name }));

/** Offset says when, relative to a date. */
export function Offset({
	value,
	onChange,
}: {
	value: unknown;
	onChange: (v: { amount?: number; unit: string; direction: string } | undefined) => void;
}) {
	const o = value as { amount: number; unit: string; direction: string } | undefined;
	return (
		<>
			<Select
				label={words.offset}
				value={o?.direction ?? "on"}
				onChange={(d) =>
					onChange(d === "on" ? undefined : { amount: o?.amount ?? 1, unit: o?.unit ?? "day", direction: d })
				}
				choices={choicesOf(words.offsets)}
			/>
			{o && <Span label={words.amount} value={o} onChange={(s) => onChange({ ...s, direction: o.direction })} />}
		</>
	);
}

/** DateField chooses a date of contacts. */
export function DateField({
	names,
	value,
	onChange,
	all,
	error,
}: {
	names: Names;
	value: string;
	onChange: (field: string) => void;
	all?: boolean;
	error?: string;
}) {
	return (
		<Combo
			label={words.field}
			help={all ? words.fieldHelp : undefined}
			options={dateFields(names, all === true)}
			value={value || null}
			onChange={(f) => onChange(f ?? "")}
			error={error}
		/>
	);
}
