import type { ComponentProps } from "react";
import { catalogue } from "../../base/words/catalogue";
import css from "./ColorField.module.css";
import { TextField } from "../../ui/Field";

const words = catalogue("settings.colorField", { pick: "Pick {name}" });

/** long returns a colour with six digits, in small letters. */
const long = (value = "") =>
	value
		.toLowerCase()
		.replace(/^#(.)(.)(.)$/, "#$1$1$2$2$3$3")
		.match(/^#[0-9a-f]{6}$/)?.[0];

/** ColorField is a labelled field for a colour such as #1f2a35, which can be picked, too. */
export function ColorField({ value, onChange, ...props }: Omit<ComponentProps<typeof TextField>, "before" | "type">) {
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
					value={long(value) ?? long(props.placeholder) ?? "#000000"}
					disabled={props.readOnly}
					onChange={(e) => onChange(e.target.value)}
				/>
			}
		/>
	);
}
