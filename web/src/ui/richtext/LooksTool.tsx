import { Palette as PaletteIcon } from "lucide-react";
import type { Command, EditorState } from "prosemirror-state";
import { useState } from "react";
import { catalogue } from "../../base/words/catalogue";
import { Button } from "../Button";
import { TextField } from "../Field";
import { Popup } from "../Popup";
import { type Palette, Swatches } from "../Swatches";
import { hasSeveral, look, setLook } from "./formats";
import css from "./RichText.module.css";

const words = catalogue("editor.looks", {
	tool: "Colour and size",
	color: "Colour",
	size: "Size in pixels",
	several: "Several",
	apply: "Apply",
	wrongColor: "Enter a colour such as #c02020.",
	wrongSize: "Enter a number from 6 to 120.",
});

type Props = {
	state: EditorState;
	run: (command: Command, close?: () => void) => void;
	/** Colours to choose from. */
	palettes?: Palette[];
};

/** LooksTool sets the colour and size of the selection. */
export function LooksTool({ state, ...props }: Props) {
	return (
		<Popup
			label={words.tool}
			buttonLabel={words.tool}
			button={<PaletteIcon aria-hidden size={16} />}
			className={css.tool}
		>
			{(close) => <LooksForm state={state} {...props} close={close} />}
		</Popup>
	);
}

const isColor = /^(#[0-9a-f]{3}|#[0-9a-f]{6}|[a-z]+)$/i;

function LooksForm({ state, run, close, palettes = [] }: Props & { close: () => void }) {
	const before = { color: look(state, "color"), size: look(state, "font-size").replace(/px$/, "") };
	const [color, setColor] = useState(before.color);
	const [size, setSize] = useState(before.size);
	const badColor = color !== "" && !isColor.test(color) && color !== before.color;
	const isNumber = /^\d+(\.\d+)?$/.test(size);
	const badSize =
		size !== "" && (isNumber ? Number(size) < 6 || Number(size) > 120 : size !== look(state, "font-size"));
	// What was not changed here stays as it is, which may be another look in each part of the selection.
	const apply: Command = (state, dispatch, view) => {
		if (color !== before.color) setLook("color", color || null)(state, dispatch, view);
		if (size === before.size) return true;
		return setLook("font-size", size === "" ? null : isNumber ? `${size}px` : size)(view?.state ?? state, dispatch);
	};
	return (
		<form
			className={css.panel}
			onSubmit={(event) => {
				event.preventDefault();
				event.stopPropagation();
				if (!badColor && !badSize) run(apply, close);
			}}
		>
			<TextField
				label={words.color}
				value={color}
				onChange={setColor}
				error={badColor ? words.wrongColor : undefined}
				placeholder={hasSeveral(state, "color") ? words.several : "#rrggbb"}
				spellCheck={false}
			/>
			<Swatches palettes={palettes} value={color} onChoose={setColor} onOther={setColor} />
			<TextField
				label={words.size}
				value={size}
				onChange={setSize}
				error={badSize ? words.wrongSize : undefined}
				placeholder={hasSeveral(state, "font-size") ? words.several : undefined}
				inputMode="decimal"
			/>
			<div className={css.actions}>
				<Button small variant="primary" type="submit">
					{words.apply}
				</Button>
			</div>
		</form>
	);
}
