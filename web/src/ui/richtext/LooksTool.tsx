import { Palette } from "lucide-react";
import type { Command, EditorState } from "prosemirror-state";
import { useState } from "react";
import { catalogue } from "../../base/words/catalogue";
import { Button } from "../Button";
import { TextField } from "../Field";
import { Popup } from "../Popup";
import { look, setLook } from "./formats";
import css from "./RichText.module.css";

const words = catalogue("editor.looks", {
	tool: "Color and size",
	color: "Color",
	pick: "Choose a color",
	size: "Size in pixels",
	apply: "Apply",
	wrongColor: "Enter a color such as #c02020.",
	wrongSize: "Enter a number from 6 to 120.",
});

type Props = { state: EditorState; run: (command: Command, close?: () => void) => void };

/** LooksTool sets the colour and size of the selection. */
export function LooksTool({ state, run }: Props) {
	return (
		<Popup label={words.tool} buttonLabel={words.tool} button={<Palette aria-hidden size={16} />} className={css.tool}>
			{(close) => <LooksForm state={state} run={run} close={close} />}
		</Popup>
	);
}

const isColor = /^(#[0-9a-f]{3}|#[0-9a-f]{6}|[a-z]+)$/i;

function LooksForm({ state, run, close }: Props & { close: () => void }) {
	const [color, setColor] = useState(look(state, "color"));
	const [size, setSize] = useState(look(state, "font-size").replace(/px$/, ""));
	const badColor = color !== "" && !isColor.test(color) && color !== look(state, "color");
	const isNumber = /^\d+(\.\d+)?$/.test(size);
	const badSize =
		size !== "" && (isNumber ? Number(size) < 6 || Number(size) > 120 : size !== look(state, "font-size"));
	const apply: Command = (before, dispatch, view) => {
		setLook("color", color || null)(before, dispatch, view);
		return setLook("font-size", size === "" ? null : isNumber ? `${size}px` : size)(view?.state ?? before, dispatch);
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
				placeholder="#rrggbb"
				spellCheck={false}
				before={
					<input
						type="color"
						className={css.swatch}
						aria-label={words.pick}
						value={/^#[0-9a-f]{6}$/i.test(color) ? color : "#000000"}
						onChange={(event) => setColor(event.target.value)}
					/>
				}
			/>
			<TextField
				label={words.size}
				value={size}
				onChange={setSize}
				error={badSize ? words.wrongSize : undefined}
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
