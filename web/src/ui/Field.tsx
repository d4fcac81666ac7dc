import { ChevronDown } from "lucide-react";
import {
	type InputHTMLAttributes,
	type ReactNode,
	type SelectHTMLAttributes,
	type TextareaHTMLAttributes,
	useId,
	useState,
} from "react";
import { catalogue } from "../base/words/catalogue";
import { DateField, isDate } from "./DateField";
import css from "./Field.module.css";
import { useShownError } from "./errorVisibility";

const words = catalogue("shell.field", {
	optional: "optional",
	problems: "{count, plural, =1 {1 problem} other {{count} problems}}",
	left: "{used} of {most}",
});

type Common = {
	label: string;
	help?: ReactNode;
	error?: string;
	optional?: boolean;
	hideLabel?: boolean;
};

/** Frame puts a label above a control, its tools beside the label, and help or what is wrong below. */
export function Frame({
	id,
	label,
	help,
	error,
	optional,
	hideLabel,
	tools,
	children,
}: Common & { id: string; tools?: ReactNode; children: ReactNode }) {
	const name = (
		<label htmlFor={id} id={`${id}-label`} className={hideLabel ? "visually-hidden" : css.label}>
			{label}
			{optional && <span className={css.optional}> ({words.optional})</span>}
		</label>
	);
	return (
		<div className={css.field}>
			{tools ? (
				<div className={css.top}>
					{name}
					<div className={css.tools}>{tools}</div>
				</div>
			) : (
				name
			)}
			{children}
			{error ? (
				<p id={`${id}-error`} className={css.error}>
					{error}
				</p>
			) : (
				help && (
					<p id={`${id}-help`} className={css.help}>
						{help}
					</p>
				)
			)}
		</div>
	);
}

/** described returns the attributes that join a control to its label, help and problem. */
export function described(id: string, help: ReactNode, error?: string) {
	return {
		id,
		"aria-invalid": error ? true : undefined,
		"aria-describedby": error ? `${id}-error` : help ? `${id}-help` : undefined,
	};
}

type TextProps = Common &
	Omit<InputHTMLAttributes<HTMLInputElement>, "onChange" | "value" | "id"> & {
		value: string;
		onChange: (value: string) => void;
		/** The field's path in the request: where the problems of an answer are shown. */
		path?: string;
		before?: ReactNode;
		after?: ReactNode;
		/** Values that the browser offers, with their names. */
		suggestions?: { value: string; label: string }[];
	};

/** TextField is a labelled field of one line. Dates and times are asked for part by part. */
export function TextField(props: TextProps) {
	const { type, min, max, onBlur, onKeyDown, ...rest } = props;
	if (!isDate(type)) return <Line {...props} />;
	return (
		<DateField
			{...rest}
			type={type}
			min={min?.toString()}
			max={max?.toString()}
			onBlur={onBlur && (() => onBlur({} as never))}
			onKeyDown={onKeyDown && ((event) => onKeyDown(event as never))}
		/>
	);
}

function Line({
	label,
	help,
	error: message,
	optional,
	hideLabel,
	value,
	onChange,
	path,
	before,
	after,
	suggestions,
	...rest
}: TextProps) {
	const id = useId();
	const error = useShownError(id, value, message);
	const maxLength = rest.maxLength;
	const nearLimit = maxLength !== undefined && value.length >= maxLength * 0.9;
	return (
		<Frame
			id={id}
			label={label}
			help={nearLimit ? words.left({ used: value.length, most: maxLength }) : help}
			error={error}
			optional={optional}
			hideLabel={hideLabel}
		>
			<div className={css.line}>
				{before && <span className={css.affix}>{before}</span>}
				<input
					{...rest}
					{...described(id, help, error)}
					data-path={path}
					list={suggestions && `${id}-list`}
					className={css.input}
					value={value}
					onChange={(e) => onChange(e.target.value)}
				/>
				{suggestions && (
					<datalist id={`${id}-list`}>
						{suggestions.map((suggestion) => (
							<option key={suggestion.value} value={suggestion.value} label={suggestion.label} />
						))}
					</datalist>
				)}
				{after && <span className={css.affix}>{after}</span>}
			</div>
		</Frame>
	);
}

type NumberProps = Omit<TextProps, "value" | "onChange" | "type"> & {
	value: number | undefined;
	onChange: (value: number) => void;
};

const textOf = (value: number) => (Number.isNaN(value) ? "" : String(value));

/** NumberField is a labelled number. It keeps what is typed, such as "-" before a digit; onChange gets NaN until that is a number. */
export function NumberField({ value, onChange, ...rest }: NumberProps) {
	const numberOf = (text: string) => (text.trim() === "" ? Number.NaN : Number(text));
	const now = value ?? Number.NaN;
	const [input, setText] = useState(textOf(now));
	const text = Object.is(numberOf(input), now) ? input : textOf(now);
	return (
		<TextField
			{...rest}
			type="number"
			value={text}
			onChange={(value) => {
				setText(value);
				onChange(numberOf(value));
			}}
		/>
	);
}

type AreaProps = Common &
	Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, "onChange" | "value" | "id"> & {
		value: string;
		onChange: (value: string) => void;
		path?: string;
		code?: boolean;
	};

/** TextArea is a labelled field of several lines. */
export function TextArea({
	label,
	help,
	error: message,
	optional,
	hideLabel,
	value,
	onChange,
	path,
	code,
	...rest
}: AreaProps) {
	const id = useId();
	const error = useShownError(id, value, message);
	return (
		<Frame id={id} label={label} help={help} error={error} optional={optional} hideLabel={hideLabel}>
			<textarea
				rows={4}
				{...rest}
				{...described(id, help, error)}
				data-path={path}
				className={`${css.input} ${css.area} ${code ? css.code : ""}`}
				value={value}
				onChange={(e) => onChange(e.target.value)}
			/>
		</Frame>
	);
}

export type Choice = { value: string; label: string; disabled?: boolean };

type SelectProps = Common &
	Omit<SelectHTMLAttributes<HTMLSelectElement>, "onChange" | "value" | "id"> & {
		value: string;
		onChange: (value: string) => void;
		choices: Choice[];
		path?: string;
	};

/** Select is a labelled choice of one from a short list. */
export function Select({
	label,
	help,
	error: message,
	optional,
	hideLabel,
	value,
	onChange,
	choices,
	path,
	...rest
}: SelectProps) {
	const id = useId();
	const error = useShownError(id, value, message);
	return (
		<Frame id={id} label={label} help={help} error={error} optional={optional} hideLabel={hideLabel}>
			<div className={css.select}>
				<select
					{...rest}
					{...described(id, help, error)}
					data-path={path}
					className={css.input}
					value={value}
					onChange={(e) => onChange(e.target.value)}
				>
					{choices.map((choice) => (
						<option key={choice.value} value={choice.value} disabled={choice.disabled}>
							{choice.label}
						</option>
					))}
				</select>
				<ChevronDown aria-hidden size={16} />
			</div>
		</Frame>
	);
}

type CheckProps = {
	label: ReactNode;
	help?: ReactNode;
	checked: boolean;
	onChange: (checked: boolean) => void;
	disabledReason?: ReactNode;
	path?: string;
};

/** Checkbox is a labelled yes or no, which is sent with its form. */
export function Checkbox({ label, help, checked, onChange, disabledReason, path }: CheckProps) {
	const id = useId();
	const description = disabledReason ?? help;
	return (
		<div className={css.check}>
			<input
				id={id}
				type="checkbox"
				checked={checked}
				data-path={path}
				aria-disabled={disabledReason ? true : undefined}
				aria-describedby={description ? `${id}-help` : undefined}
				onChange={(e) => !disabledReason && onChange(e.target.checked)}
			/>
			<div>
				<label htmlFor={id}>{label}</label>
				{description && (
					<p id={`${id}-help`} className={css.help}>
						{description}
					</p>
				)}
			</div>
		</div>
	);
}

/** Switch is a labelled yes or no that acts at once. */
export function Switch({ label, help, checked, onChange, disabledReason }: CheckProps) {
	const id = useId();
	const description = disabledReason ?? help;
	return (
		<div className={css.check}>
			<button
				id={id}
				type="button"
				role="switch"
				aria-checked={checked}
				aria-disabled={disabledReason ? true : undefined}
				aria-labelledby={`${id}-label`}
				aria-describedby={description ? `${id}-help` : undefined}
				className={css.switch}
				onClick={() => !disabledReason && onChange(!checked)}
			>
				<span aria-hidden />
			</button>
			<div>
				<span id={`${id}-label`}>{label}</span>
				{description && (
					<p id={`${id}-help`} className={css.help}>
						{description}
					</p>
				)}
			</div>
		</div>
	);
}

/** Radios is a labelled choice of one, with all choices in view. */
export function Radios({
	label,
	value,
	onChange,
	choices,
	hideLabel,
	row,
}: {
	label: string;
	value: string;
	onChange: (value: string) => void;
	choices: { value: string; label: ReactNode; help?: ReactNode; disabledReason?: ReactNode }[];
	hideLabel?: boolean;
	/** The choices stand beside each other. */
	row?: boolean;
}) {
	const name = useId();
	return (
		<fieldset className={css.radios} data-row={row || undefined}>
			<legend className={hideLabel ? "visually-hidden" : css.label}>{label}</legend>
			{choices.map((choice) => (
				<div key={choice.value} className={css.check}>
					<input
						id={`${name}-${choice.value}`}
						type="radio"
						name={name}
						checked={choice.value === value}
						aria-disabled={choice.disabledReason ? true : undefined}
						aria-describedby={choice.help || choice.disabledReason ? `${name}-${choice.value}-help` : undefined}
						onChange={() => !choice.disabledReason && onChange(choice.value)}
					/>
					<div>
						<label htmlFor={`${name}-${choice.value}`}>{choice.label}</label>
						{(choice.help || choice.disabledReason) && (
							<p id={`${name}-${choice.value}-help`} className={css.help}>
								{choice.disabledReason ?? choice.help}
							</p>
						)}
					</div>
				</div>
			))}
		</fieldset>
	);
}

/** Columns puts fields beside each other where there is room. */
export function Columns({ children }: { children: ReactNode }) {
	return <div className={`${css.columns} ${css.aligned}`}>{children}</div>;
}
