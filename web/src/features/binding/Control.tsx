import { useId } from "react";
import { CodeWithImages } from "../assets/CodeWithImages";
import type { ParameterEntry } from "../../api/schema";
import { Button } from "../../ui/Button";
import { described, Frame, Select, Switch, TextField } from "../../ui/Field";
import field from "../../ui/Field.module.css";
import { ImageField } from "../assets/ImageField";
import { imagePage } from "../assets/imagePage";
import { DateTime } from "../../ui/DateTime";
import { Thumb } from "../../ui/Thumb";
import { catalogue } from "../../base/words/catalogue";
import css from "./Binding.module.css";
import { fromText, nameOf, optionsOf, textOf } from "./binding";
import { RichTextField } from "./RichText";
import { TokenField } from "./Tokens";

const words = catalogue("binding.control", {
	reset: "Use default",
	choose: "Not selected",
	other: "{value} (not an option)",
	listHelp: "One per line.",
	picture: "Picture of {name}",
	pick: "Pick {name}",
	items: "{count, plural, one {# entry} other {# entries}}",
	whole: "A whole number",
	between: "From {min} to {max}",
	least: "At least {min}",
	most: "At most {max}",
});

type Props = {
	parameter: ParameterEntry;
	path: string;
	value: unknown;
	/** undefined removes the value: the default is used. */
	onChange: (value: unknown) => void;
	error?: string;
	readOnly?: boolean;
};

const mostOf = (parameter: ParameterEntry) =>
	typeof parameter.validation.max_length === "number" ? parameter.validation.max_length : undefined;

/** helpOf returns the help of a parameter, or what its rule for numbers says. */
function helpOf(parameter: ParameterEntry): string | undefined {
	if (parameter.help_text) return parameter.help_text;
	const { min, max, integer } = parameter.validation;
	const range =
		min !== undefined && max !== undefined
			? words.between({ min: textOf(min), max: textOf(max) })
			: min !== undefined
				? words.least({ min: textOf(min) })
				: max !== undefined
					? words.most({ max: textOf(max) })
					: undefined;
	return range ?? (integer === true ? words.whole : undefined);
}

/** Control edits the value of one parameter, by its type. A wrong value stays as it was typed. */
export function Control(props: Props) {
	const { parameter: p, value, onChange, readOnly } = props;
	const hasDefault = p.default !== null && p.default !== undefined;
	const set = value !== undefined && value !== null;
	return (
		<div className={css.control}>
			<Input {...props} />
			{hasDefault && set && !readOnly && p.type !== "boolean" && (
				<Button small variant="quiet" onClick={() => onChange(undefined)}>
					{words.reset}
				</Button>
			)}
		</div>
	);
}

function Input({ parameter: p, path, value, onChange, error, readOnly }: Props) {
	const label = nameOf(p);
	const help = helpOf(p);
	const optional = !p.required;
	const text = textOf(value);
	const placeholder = p.default !== null && p.default !== undefined ? textOf(p.default) : undefined;
	// An empty text is the same as none, except where a default would take its place.
	const write = (text: string) => onChange(text === "" && placeholder === undefined ? undefined : text);
	const common = { label, help, error, optional, path, placeholder, readOnly };
	switch (p.type) {
		case "text":
			return <TokenField {...common} value={text} onChange={write} maxLength={mostOf(p)} />;
		case "textarea":
			return <TokenField {...common} lines value={text} onChange={write} maxLength={mostOf(p)} />;
		case "url":
			return (
				<TokenField
					{...common}
					value={text}
					onChange={write}
					maxLength={mostOf(p)}
					inputMode="url"
					placeholder={placeholder ?? "https://"}
				/>
			);
		case "email":
			return (
				<TextField {...common} value={text} onChange={write} inputMode="email" autoComplete="off" spellCheck={false} />
			);
		case "rich_text":
			return <RichTextField {...common} value={text} onChange={write} maxLength={mostOf(p)} />;
		case "html":
			return <Markup {...common} value={text} onChange={write} />;
		case "image":
			return (
				<ImageField className={css.image} readOnly={readOnly} onChange={write}>
					<Thumb html={imagePage(text)} label={words.picture({ name: label })} width={96} height={72} layout={288} />
					<TokenField
						{...common}
						value={text}
						onChange={write}
						maxLength={mostOf(p)}
						inputMode="url"
						placeholder={placeholder ?? "https://"}
					/>
				</ImageField>
			);
		case "color":
			return <Color {...common} value={text} onChange={write} />;
		case "number":
			return (
				<TextField
					{...common}
					inputMode="decimal"
					autoComplete="off"
					value={text}
					onChange={(value) =>
						onChange(
							value.trim() === ""
								? placeholder === undefined
									? undefined
									: ""
								: value.endsWith(".") || /\.\d*0$/.test(value)
									? value
									: fromText(p, value),
						)
					}
					onBlur={() => typeof value === "string" && value !== "" && onChange(fromText(p, value))}
				/>
			);
		case "boolean":
			return (
				<Switch
					label={label}
					help={error ? <span className={css.bad}>{error}</span> : help}
					checked={value === undefined || value === null ? p.default === true : value === true}
					onChange={readOnly ? () => undefined : onChange}
					path={path}
				/>
			);
		case "date":
			if (text !== "" && !/^\d{4}-\d\d-\d\d$/.test(text))
				return <TextField {...common} value={text} onChange={write} />;
			return <TextField {...common} type="date" value={text} onChange={write} />;
		case "datetime": {
			if (text !== "" && !(/^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d/.test(text) && !Number.isNaN(Date.parse(text))))
				return <TextField {...common} value={text} onChange={write} />;
			return (
				<DateTime
					{...common}
					value={text || null}
					onChange={(time) => (time === null ? write("") : onChange(time.replace(".000Z", "Z")))}
				/>
			);
		}
		case "select": {
			const choices = optionsOf(p);
			const known = text === "" || choices.some((choice) => choice.value === text);
			return (
				<Select
					{...common}
					value={text}
					disabled={readOnly}
					onChange={write}
					choices={[
						{
							value: "",
							label:
								placeholder === undefined
									? words.choose
									: (choices.find((choice) => choice.value === placeholder)?.label ?? placeholder),
						},
						...choices,
						...(known ? [] : [{ value: text, label: words.other({ value: text }) }]),
					]}
				/>
			);
		}
		case "list":
			return <Lines {...common} value={value} onChange={onChange} />;
	}
}

type Common = {
	label: string;
	help?: string;
	error?: string;
	optional: boolean;
	path: string;
	placeholder?: string;
	readOnly?: boolean;
};

function Color({ value, onChange, ...props }: Common & { value: string; onChange: (value: string) => void }) {
	const short = /^#([0-9a-f])([0-9a-f])([0-9a-f])$/i.exec(value);
	const long = short ? `#${short[1]}${short[1]}${short[2]}${short[2]}${short[3]}${short[3]}` : value;
	const shown = /^#[0-9a-f]{6}$/i.test(long)
		? long
		: /^#[0-9a-f]{6}$/i.test(props.placeholder ?? "")
			? (props.placeholder ?? "")
			: "#000000";
	return (
		<TextField
			{...props}
			placeholder={props.placeholder ?? "#rrggbb"}
			value={value}
			onChange={onChange}
			spellCheck={false}
			before={
				<input
					type="color"
					className={css.swatch}
					aria-label={words.pick({ name: props.label })}
					value={shown.toLowerCase()}
					disabled={props.readOnly}
					onChange={(e) => onChange(e.target.value)}
				/>
			}
		/>
	);
}

function Markup({ value, onChange, ...props }: Common & { value: string; onChange: (value: string) => void }) {
	const id = useId();
	return (
		<Frame id={id} label={props.label} help={props.help} error={props.error} optional={props.optional}>
			<div
				id={id}
				tabIndex={-1}
				data-path={props.path}
				className={css.markup}
				data-bad={props.error ? true : undefined}
			>
				<CodeWithImages format="html" label={props.label} value={value} onChange={onChange} readOnly={props.readOnly} />
			</div>
		</Frame>
	);
}

function Lines({ value, onChange, ...props }: Common & { value: unknown; onChange: (value: unknown) => void }) {
	const id = useId();
	const isTextList = Array.isArray(value) && value.every((item) => typeof item === "string" && !item.includes("\n"));
	const text = isTextList ? (value as string[]).join("\n") : textOf(value);
	const help =
		isTextList && value.length > 0
			? `${words.listHelp} ${words.items({ count: value.filter((item) => item !== "").length })}`
			: words.listHelp;
	return (
		<Frame id={id} label={props.label} help={props.help ?? help} error={props.error} optional={props.optional}>
			<textarea
				{...described(id, true, props.error)}
				data-path={props.path}
				rows={4}
				readOnly={props.readOnly}
				placeholder={props.placeholder}
				className={`${field.input} ${field.area}`}
				value={text}
				onChange={(e) => onChange(e.target.value === "" ? undefined : e.target.value.split("\n"))}
				onBlur={() => isTextList && value.some((item) => item === "") && onChange(value.filter((item) => item !== ""))}
			/>
		</Frame>
	);
}
