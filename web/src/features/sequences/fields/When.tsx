import { Combo } from "../../../ui/Combo";
import { Columns, NumberField, Select } from "../../../ui/Field";
import css from "../StepFields.module.css";
import { type Names, stepWords } from "../steps";
import { words } from "./words";
import { choicesOf, known } from "./props";

/** Days chooses days of the week. */
export function Days({ value, onChange }: { value: number[]; onChange: (days: number[]) => void }) {
	const includes = (day: number) => value.includes(day);
	return (
		<fieldset className={css.days}>
			<legend>{words.days}</legend>
			{[1, 2, 3, 4, 5, 6, 7].map((day) => (
				<button
					key={day}
					type="button"
					aria-pressed={includes(day)}
					aria-label={stepWords.days[day as 1]}
					onClick={() => onChange(includes(day) ? value.filter((x) => x !== day) : [...value, day].sort())}
				>
					{stepWords.shortDays[day as 1]}
				</button>
			))}
		</fieldset>
	);
}

type SpanProps = {
	label: string;
	value: { amount?: number; unit?: string } | undefined;
	onChange: (value: { amount?: number; unit: string }) => void;
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
				onChange={(value) => onChange({ amount: known(value), unit })}
				error={error}
			/>
			<Select
				label={words.unit}
				value={unit}
				onChange={(u) => onChange({ amount: value?.amount ?? 1, unit: u })}
				choices={["minute", "hour", "day", "week"].map((unit) => ({
					value: unit,
					label: stepWords.unitNames[unit as "day"],
				}))}
			/>
		</Columns>
	);
}

/** dateFields are the dates of contacts that can be waited for. */
const dateFields = (names: Names, own: boolean) =>
	names.fields
		.filter(
			(field) =>
				field.kind === "date" &&
				(field.field.startsWith("custom_fields.") ||
					(own ? field.field !== "updated_at" : field.field === "created_at")),
		)
		.map((field) => ({ id: field.field, label: field.name }));

/** Offset says when, relative to a date. */
export function Offset({
	value,
	onChange,
}: {
	value: unknown;
	onChange: (value: { amount?: number; unit: string; direction: string } | undefined) => void;
}) {
	const offset = value as { amount: number; unit: string; direction: string } | undefined;
	return (
		<>
			<Select
				label={words.offset}
				value={offset?.direction ?? "on"}
				onChange={(value) =>
					onChange(
						value === "on" ? undefined : { amount: offset?.amount ?? 1, unit: offset?.unit ?? "day", direction: value },
					)
				}
				choices={choicesOf(words.offsets)}
			/>
			{offset && (
				<Span
					label={words.amount}
					value={offset}
					onChange={(value) => onChange({ ...value, direction: offset.direction })}
				/>
			)}
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
			onChange={(value) => onChange(value ?? "")}
			error={error}
		/>
	);
}
