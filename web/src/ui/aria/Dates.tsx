import { type CalendarDate, type CalendarDateTime, parseDate, parseDateTime, parseTime } from "@internationalized/date";
import { CalendarDays, ChevronLeft, ChevronRight } from "lucide-react";
import { type ReactNode, useMemo } from "react";
import { Button as AriaButton } from "react-aria-components/Button";
import {
	Calendar,
	CalendarCell,
	CalendarGrid,
	CalendarGridBody,
	CalendarGridHeader,
	CalendarHeaderCell,
	Heading,
} from "react-aria-components/Calendar";
import {
	DateInput,
	DatePicker,
	DateSegment,
	FieldError,
	Group,
	Label,
	Popover,
	Text,
} from "react-aria-components/DatePicker";
import { Dialog } from "react-aria-components/Dialog";
import { I18nProvider } from "react-aria-components/I18nProvider";
import { TimeField } from "react-aria-components/TimeField";
import { catalogue } from "../../base/words/catalogue";
import { language, languages } from "../../base/words/language";
import field from "../Field.module.css";
import css from "./Dates.module.css";

const words = catalogue("shell.dates", {
	optional: "optional",
	open: "Choose in a calendar",
	before: "Month before",
	after: "Month after",
});

export type DateProps = {
	/** date is a day, as "2026-05-09"; time a time of day, as "14:02"; datetime-local both, as "2026-05-09T14:02". */
	type: "date" | "time" | "datetime-local";
	label: string;
	help?: ReactNode;
	error?: string;
	optional?: boolean;
	hideLabel?: boolean;
	value: string;
	/** Called with a whole date or time, or with nothing once all parts are empty. */
	onChange: (value: string) => void;
	path?: string;
	min?: string;
	max?: string;
	readOnly?: boolean;
	disabled?: boolean;
	autoFocus?: boolean;
	onBlur?: () => void;
	onKeyDown?: (event: { key: string }) => void;
};

/** read returns what a text says, and null if it says nothing. */
function read<V>(parse: (text: string) => V, text: string | undefined): V | null {
	if (!text) return null;
	try {
		return parse(text);
	} catch {
		return null;
	}
}

/** Target is what gets the focus when a field's path is called for: its first part does. */
function Target({ path, children }: { path?: string; children: ReactNode }) {
	return (
		// biome-ignore lint/a11y/noStaticElementInteractions: it only passes the focus on
		<div
			data-path={path}
			tabIndex={-1}
			onFocus={(event) =>
				event.target === event.currentTarget &&
				event.currentTarget.querySelector<HTMLElement>("[role=spinbutton]")?.focus()
			}
		>
			{children}
		</div>
	);
}

/**
 * DateField is a field of a date, a time or both, part by part, in the form of the language and with 24 hours: that of
 * the browser follows the computer, and would contradict the dates beside it.
 */
export function DateField(props: DateProps) {
	// The same value is the same object: another one would replace what is typed in part.
	const day = props.type === "date";
	const value = useMemo(
		() => read<CalendarDate | CalendarDateTime>(day ? parseDate : parseDateTime, props.value),
		[day, props.value],
	);
	const time = useMemo(() => read(parseTime, props.value), [props.value]);
	const common = {
		className: field.field,
		hourCycle: 24,
		shouldForceLeadingZeros: true,
		isReadOnly: props.readOnly,
		isDisabled: props.disabled,
		isInvalid: props.error ? true : undefined,
		autoFocus: props.autoFocus,
		onBlur: props.onBlur,
		onKeyDown: props.onKeyDown,
	} as const;
	const label = (
		<Label className={props.hideLabel ? "visually-hidden" : field.label}>
			{props.label}
			{props.optional && <span className={field.optional}> ({words.optional})</span>}
		</Label>
	);
	const messages = (
		<>
			{props.help && !props.error && (
				<Text slot="description" className={field.help}>
					{props.help}
				</Text>
			)}
			<FieldError className={field.error}>{props.error}</FieldError>
		</>
	);
	const parts = (
		<DateInput className={css.parts}>{(part) => <DateSegment segment={part} className={css.part} />}</DateInput>
	);
	if (props.type === "time")
		return (
			<I18nProvider locale={languages[language()].dates}>
				<TimeField
					{...common}
					value={time}
					onChange={(value) => props.onChange(value ? value.toString().slice(0, 5) : "")}
				>
					{label}
					<Target path={props.path}>
						<div className={`${field.input} ${css.box}`} data-invalid={props.error ? true : undefined}>
							{parts}
						</div>
					</Target>
					{messages}
				</TimeField>
			</I18nProvider>
		);
	const parse = (text: string): CalendarDate | CalendarDateTime => (day ? parseDate(text) : parseDateTime(text));
	return (
		<I18nProvider locale={languages[language()].dates}>
			<DatePicker<CalendarDate | CalendarDateTime>
				{...common}
				granularity={day ? "day" : "minute"}
				value={value}
				minValue={read(parse, props.min) ?? undefined}
				maxValue={read(parse, props.max) ?? undefined}
				onChange={(value) => props.onChange(value ? value.toString().slice(0, 16) : "")}
			>
				{label}
				<Target path={props.path}>
					<Group className={`${field.input} ${css.box}`}>
						{parts}
						<AriaButton className={css.open} aria-label={words.open}>
							<CalendarDays aria-hidden size={16} />
						</AriaButton>
					</Group>
				</Target>
				{messages}
				<Popover className={css.popover} placement="bottom start">
					<Dialog className={css.dialog}>
						<Calendar>
							<header className={css.header}>
								<AriaButton slot="previous" className={css.turn} aria-label={words.before}>
									<ChevronLeft aria-hidden size={16} />
								</AriaButton>
								<Heading className={css.month} />
								<AriaButton slot="next" className={css.turn} aria-label={words.after}>
									<ChevronRight aria-hidden size={16} />
								</AriaButton>
							</header>
							<CalendarGrid className={css.days}>
								<CalendarGridHeader>
									{(name) => <CalendarHeaderCell className={css.weekday}>{name}</CalendarHeaderCell>}
								</CalendarGridHeader>
								<CalendarGridBody>{(date) => <CalendarCell date={date} className={css.day} />}</CalendarGridBody>
							</CalendarGrid>
						</Calendar>
					</Dialog>
				</Popover>
			</DatePicker>
		</I18nProvider>
	);
}
