import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { catalogue } from "../../base/words/catalogue";
import { Popup } from "../../ui/Popup";
import { type Palette, Swatches } from "../../ui/Swatches";
import { brandQuery } from "../settings/brandCode";
import { colorsIn, longOf } from "./colors";
import css from "./Design.module.css";
import type { Tree } from "./model/tree";

const words = catalogue("design.colors", {
	pick: "Choose: {name}",
	brand: "Brand",
	email: "In this email",
	primary: "Main colour",
	secondary: "Second colour",
	text: "Text",
	surface: "Behind the content",
	background: "Behind the email",
	button: "Button",
	buttonText: "Text of the button",
	named: "{name} ({color})",
});

/** usePalettes returns the colours to choose from: those of the brand, and those that a mail has already. */
export function usePalettes(tree: Tree): Palette[] {
	const { data: brand } = useQuery(brandQuery());
	return useMemo(() => {
		const all: [string, string | null | undefined][] = brand
			? [
					[words.primary, brand.colors.primary],
					[words.secondary, brand.colors.secondary],
					[words.text, brand.colors.text],
					[words.surface, brand.colors.surface],
					[words.background, brand.colors.background],
					[words.button, brand.button.color],
					[words.buttonText, brand.button.text_color],
				]
			: [];
		const ofBrand = new Map<string, string>();
		for (const [name, color] of all) {
			const long = longOf(color ?? "");
			if (long && !ofBrand.has(long)) ofBrand.set(long, words.named({ name, color: long }));
		}
		const others = colorsIn(tree.text).filter((color) => !ofBrand.has(color));
		return [
			{ title: words.brand, colors: [...ofBrand].map(([color, name]) => ({ name, color })) },
			{ title: words.email, colors: others.map((color) => ({ name: color, color })) },
		];
	}, [brand, tree.text]);
}

type Props = { label: string; tree: Tree; value: string; onChange: (color: string) => void };

/** ColorTool is a button in a field of a colour, which opens what there is to choose from. */
export function ColorTool({ label, tree, value, onChange }: Props) {
	const long = longOf(value);
	const name = words.pick({ name: label });
	return (
		<Popup
			label={name}
			buttonLabel={name}
			button={<span className={css.color} style={{ background: long }} data-none={!long || undefined} />}
			className={css.swatch}
		>
			{(close) => <Choice tree={tree} value={long ?? ""} onChange={onChange} close={close} />}
		</Popup>
	);
}

function Choice({ tree, value, onChange, close }: Omit<Props, "label"> & { close: () => void }) {
	return (
		<div className={css.colors}>
			<Swatches
				palettes={usePalettes(tree)}
				value={value}
				onChoose={(color) => {
					onChange(color);
					close();
				}}
				onOther={onChange}
			/>
		</div>
	);
}
