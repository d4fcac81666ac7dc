import { type FormEvent, type ReactNode, Suspense, useRef } from "react";
import { Module } from "../../base/lazy";
import { catalogue } from "../../base/words/catalogue";
import type { ListedChoice } from "../../ui/aria/ChoiceList";
import { Button } from "../../ui/Button";
import { combos } from "../../ui/Combo";
import { PartDone } from "../../ui/partDone";
import { PopupPanel, panels } from "../../ui/Popup";
import type { Part } from "./pieces";
import css from "./Sentence.module.css";

const words = catalogue("rules.part", { named: "{label}: {value}", done: "Done", remove: "Remove" });

const lists = new Module(() => import("../../ui/aria/ChoiceList"));
const ChoiceList = lists.component((module) => module.ChoiceList);

/** Control is what changes a part: a choice from a short list, or fields. */
export type Control = {
	label: string;
	choices?: ListedChoice[];
	value?: string;
	choose?: (id: string) => void;
	/** Fields that are filled in, with what is wrong with the part. */
	fields?: (error: string | undefined) => ReactNode;
	/** Takes away what the condition can do without. */
	remove?: () => void;
};

type Props = {
	part: Part;
	/** Shown instead of the text. */
	icon?: ReactNode;
	control: Control;
	error?: string;
	describedBy?: string;
	isOpen: boolean;
	of?: string;
	onOpen: () => void;
	onClose: () => void;
	onDone: () => void;
};

/** PartButton is a part of a sentence. It opens what changes it, beside it. */
export function PartButton({ part, icon, control, error, describedBy, isOpen, of, onOpen, onClose, onDone }: Props) {
	const trigger = useRef<HTMLButtonElement>(null);
	const name = part.text === control.label ? part.text : words.named({ label: control.label, value: part.text });
	const preload = () => {
		if (control.choices) lists.preload();
		else for (const module of [panels, combos]) module.preload();
	};
	return (
		<>
			<button
				ref={trigger}
				type="button"
				className={icon ? css.lead : css.part}
				data-part={part.id}
				data-joins={part.joins}
				data-short={part.text.length < 4 || undefined}
				data-unset={part.unset}
				data-invalid={describedBy ? true : undefined}
				aria-label={name}
				title={icon ? name : undefined}
				aria-describedby={describedBy}
				aria-haspopup={control.choices ? "menu" : "dialog"}
				aria-expanded={isOpen}
				onPointerEnter={preload}
				onFocus={preload}
				onClick={(event) => {
					event.currentTarget.focus(); // what opens gives the focus back: not every browser focuses what is clicked
					if (isOpen) onClose();
					else onOpen();
				}}
			>
				{icon ?? part.text}
			</button>
			{isOpen && (
				<Suspense fallback={null}>
					{control.choices ? (
						<ChoiceList
							label={control.label}
							choices={control.choices}
							value={control.value}
							trigger={trigger}
							of={of}
							onClose={onClose}
							onChoose={(id) => {
								onDone();
								control.choose?.(id);
							}}
						/>
					) : (
						<PopupPanel label={control.label} trigger={trigger} onClose={onClose}>
							<Fields control={control} error={error} of={of} onClose={onClose} onDone={onDone} />
						</PopupPanel>
					)}
				</Suspense>
			)}
		</>
	);
}

function Fields({
	control,
	error,
	of,
	onClose,
	onDone,
}: Pick<Props, "control" | "error" | "of" | "onClose" | "onDone">) {
	return (
		<PartDone value={{ done: onDone, close: onClose }}>
			<form
				noValidate
				data-of={of}
				className={css.fields}
				onSubmit={(event: FormEvent) => {
					event.preventDefault();
					event.stopPropagation(); // not of a form around the sentence
					onDone();
				}}
				onKeyDownCapture={(event) => {
					// In these fields, Enter does not send a form by itself.
					if (event.key !== "Enter" || !(event.target as Element).matches("select, [role=spinbutton]")) return;
					event.preventDefault();
					event.stopPropagation();
					onDone();
				}}
				onKeyDown={(event) => event.stopPropagation()} // keys here do not move the condition
			>
				{control.fields?.(error)}
				<div className={css.buttons}>
					<Button small type="submit">
						{words.done}
					</Button>
					{control.remove && (
						<Button
							small
							variant="quiet"
							onClick={() => {
								control.remove?.();
								onDone();
							}}
						>
							{words.remove}
						</Button>
					)}
				</div>
			</form>
		</PartDone>
	);
}
