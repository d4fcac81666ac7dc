import { Check, ChevronDown, X } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useContext, useEffect, useId, useRef, useState } from "react";
import { Button as AriaButton } from "react-aria-components/Button";
import { Collection } from "react-aria-components/Collection";
import { ComboBox, type ComboBoxProps, ComboBoxStateContext } from "react-aria-components/ComboBox";
import { Header } from "react-aria-components/Header";
import { Input } from "react-aria-components/Input";
import { Label } from "react-aria-components/Label";
import { ListBox, ListBoxItem, ListBoxSection } from "react-aria-components/ListBox";
import { Popover } from "react-aria-components/Popover";
import { FieldError, Text } from "react-aria-components/TextField";
import { catalogue } from "../../base/words/catalogue";
import css from "./Combo.module.css";
import field from "../Field.module.css";
import { ImmediateErrors, useShownError } from "../errorVisibility";
import { PartDone } from "../partDone";

const words = catalogue("shell.combo", {
	none: "Nothing matches.",
	loading: "Loading…",
	remove: "Remove {name}",
	open: "Show choices",
});

/** Options with a group stand under its heading; those of a group follow one another. */
export type Option = { id: string; label: string; detail?: ReactNode; icon?: ReactNode; group?: string };

type Section = { id: string; label: string; options: Option[] };

function sections(options: Option[]): Section[] {
	const all: Section[] = [];
	for (const option of options) {
		const last = all.at(-1);
		if (last && last.label === (option.group ?? "")) last.options.push(option);
		else all.push({ id: `group ${all.length}`, label: option.group ?? "", options: [option] });
	}
	return all;
}

const item = (option: Option) => (
	<ListBoxItem id={option.id} textValue={option.label} className={css.option}>
		{({ isSelected }) => (
			<>
				{option.icon && <span className={css.icon}>{option.icon}</span>}
				<span className={css.name}>{option.label}</span>
				{option.detail && <span className={css.detail}>{option.detail}</span>}
				{isSelected && <Check aria-hidden size={16} />}
			</>
		)}
	</ListBoxItem>
);

export type ComboProps = {
	label: string;
	options: Option[];
	value: string | null;
	onChange: (id: string | null) => void;
	/** Called with what was typed, to load other options; without it, options are filtered here. */
	onSearch?: (text: string) => void;
	/** Accept a value that is not an option. */
	allowsCustomValue?: boolean;
	/** Called when the choices are shown, to load them then. */
	onOpen?: () => void;
	/** The choices are being loaded. */
	loading?: boolean;
	placeholder?: string;
	help?: ReactNode;
	error?: string;
	hideLabel?: boolean;
	path?: string;
	autoFocus?: boolean;
	/** More can be chosen after the first choice. */
	several?: boolean;
};

export type PicksProps = Omit<ComboProps, "value" | "onChange" | "several"> & {
	values: string[];
	onChange: (values: string[]) => void;
	nameOf?: (id: string) => string;
};

/** normalized returns a text in lower case and without accents, as searches compare it. */
const normalized = (text: string) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

/** rank returns how well a typed text matches an option: by its id or whole name best, then by the beginning of its name. */
function rank(id: string, label: string, search: string): number {
	const text = normalized(search.trim());
	if (normalized(id) === text || normalized(label) === text) return 0;
	return normalized(label).startsWith(text) ? 1 : 2;
}

/** FirstMatch makes the best choice active that is left by what was typed, so that Enter takes it; or only the same. */
function FirstMatch({ search, isExact }: { search: string; isExact?: boolean }) {
	const state = useContext(ComboBoxStateContext);
	useEffect(() => {
		const choose = () => {
			if (!state?.isOpen) return;
			const { focusedKey } = state.selectionManager;
			if (focusedKey !== null && state.collection.getItem(focusedKey)) return; // of former choices it may be one that is gone
			const items = [...state.collection.getKeys()].flatMap((key) => {
				const item = state.collection.getItem(key);
				return item?.type === "item" && (!isExact || key === search)
					? [{ key, rank: rank(String(key), item.textValue, search) }]
					: [];
			});
			const [best] = items.sort((a, b) => a.rank - b.rank);
			if (best) state.selectionManager.setFocusedKey(best.key);
		};
		// After the effects of the field, which take an active choice away when the text changes: without a wait they would
		// undo this one, and nothing would be rendered that does it again.
		const timer = setTimeout(choose);
		return () => clearTimeout(timer);
	});
	return null;
}

/** usePartKeys returns what closes the panel of a part: by Enter where there is nothing else to choose, and by Escape. */
function usePartKeys(isComplete: () => boolean) {
	const part = useContext(PartDone);
	return (event: KeyboardEvent<HTMLInputElement>) => {
		const active = document.getElementById(event.currentTarget.getAttribute("aria-activedescendant") ?? "");
		const isChosen = active ? active.ariaSelected === "true" : isComplete();
		const act = event.key === "Escape" ? part?.close : event.key === "Enter" && isChosen && part?.done;
		if (!act) return;
		event.preventDefault();
		event.stopPropagation();
		act();
	};
}

/** Combo is a field with a list of choices that typing narrows. */
export function Combo({
	label,
	options,
	value,
	onChange,
	onSearch,
	onOpen,
	loading,
	allowsCustomValue,
	placeholder,
	help,
	error: message,
	hideLabel,
	path,
	autoFocus,
	several,
}: ComboProps) {
	const id = useId();
	const part = useContext(PartDone);
	const error = useShownError(id, value, message);
	const [search, setSearch] = useState<string | null>(null);
	const selected = options.find((option) => option.id === value)?.label ?? (allowsCustomValue ? (value ?? "") : "");
	const shown: (Option | Section)[] = options.some((option) => option.group) ? sections(options) : options;
	const props: Partial<ComboBoxProps<Option | Section>> = onSearch ? { items: shown } : { defaultItems: shown };
	const ids = new Map(options.map((option) => [option.label, option.id]));
	const onPartKey = usePartKeys(() => Boolean(allowsCustomValue || !search));
	// What is typed is a value of its own, and chooses nothing: the choices would close.
	const chosen = useRef(value);
	if (search === null || !allowsCustomValue) chosen.current = value;
	return (
		<ComboBox
			{...props}
			id={id}
			defaultFilter={(label, text) =>
				normalized(label).includes(normalized(text)) ||
				(text !== "" && normalized(ids.get(label) ?? "") === normalized(text))
			}
			className={field.field}
			allowsCustomValue={allowsCustomValue}
			autoFocus={autoFocus}
			allowsEmptyCollection
			onOpenChange={(open) => open && onOpen?.()}
			onFocus={onOpen}
			menuTrigger="focus"
			selectedKey={chosen.current}
			inputValue={search ?? selected}
			isInvalid={Boolean(error)}
			onInputChange={(text) => {
				setSearch(text);
				onSearch?.(text);
				if (allowsCustomValue) onChange(text || null);
			}}
			onSelectionChange={(key) => {
				setSearch(null);
				// Leaving the field chooses again what is chosen; what was typed stays.
				const next = key === null ? (allowsCustomValue ? (search ?? value) || null : null) : String(key);
				if (next !== value) onChange(next);
				if (key !== null && key !== chosen.current && !several) part?.done();
			}}
			onBlur={() => {
				const exact =
					!allowsCustomValue && search
						? options.find((option) => rank(option.id, option.label, search) === 0)
						: undefined;
				if (exact && exact.id !== value) onChange(exact.id);
				setSearch(null);
			}}
		>
			{search && <FirstMatch search={search} isExact={allowsCustomValue} />}
			<Label className={hideLabel ? "visually-hidden" : field.label}>{label}</Label>
			<div className={css.box}>
				<Input className={field.input} placeholder={placeholder} data-path={path} onKeyDownCapture={onPartKey} />
				<AriaButton className={css.arrow} aria-label={words.open}>
					<ChevronDown aria-hidden size={16} />
				</AriaButton>
			</div>
			{help && !error && (
				<Text slot="description" className={field.help}>
					{help}
				</Text>
			)}
			<FieldError className={field.error}>{error}</FieldError>
			<Popover className={css.popover}>
				<ListBox
					className={css.list}
					renderEmptyState={() => <p className={css.none}>{loading ? words.loading : words.none}</p>}
				>
					{(option: Option | Section) =>
						"options" in option ? (
							<ListBoxSection id={option.id} aria-label={option.label}>
								<Header className={css.heading}>{option.label}</Header>
								<Collection items={option.options}>{item}</Collection>
							</ListBoxSection>
						) : (
							item(option)
						)
					}
				</ListBox>
			</Popover>
		</ComboBox>
	);
}

/** Picks is a field for several choices: those chosen stand before the field, and can be removed. */
export function Picks({ label, options, values, onChange, nameOf, autoFocus, ...rest }: PicksProps) {
	const key = values.join();
	const ownValues = useRef<string | null>(null); // the values that were chosen here: the field keeps the focus then
	const change = (next: string[]) => {
		ownValues.current = next.join();
		rest.onSearch?.("");
		onChange(next);
	};
	const name = (id: string) => nameOf?.(id) ?? options.find((option) => option.id === id)?.label ?? id;
	const unselected = options.filter((option) => !values.includes(option.id));
	return (
		<div className={css.picks}>
			{/* After each choice it is another field, which is empty. */}
			<ImmediateErrors value={values.length > 0}>
				<Combo
					key={key}
					{...rest}
					several
					autoFocus={ownValues.current === null ? autoFocus : ownValues.current === key}
					allowsCustomValue={false}
					label={label}
					options={unselected}
					value={null}
					onChange={(id) => id && !values.includes(id) && change([...values, id])}
				/>
			</ImmediateErrors>
			{values.length > 0 && (
				<ul className={css.chips} aria-label={label}>
					{values.map((value) => (
						<li key={value} className={css.chip}>
							<span>{name(value)}</span>
							<button
								type="button"
								aria-label={words.remove({ name: name(value) })}
								onClick={() => change(values.filter((o) => o !== value))}
							>
								<X aria-hidden size={14} />
							</button>
						</li>
					))}
				</ul>
			)}
		</div>
	);
}
