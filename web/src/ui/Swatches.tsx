import { catalogue } from "../base/words/catalogue";
import css from "./Swatches.module.css";

const words = catalogue("editor.swatches", { other: "Another colour" });

/** Palette is a list of colours to choose from, such as those of a brand. */
export type Palette = { title: string; colors: { name: string; color: string }[] };

type Props = {
	palettes: Palette[];
	value: string;
	onChoose: (color: string) => void;
	onOther: (color: string) => void;
};

/** Swatches offer colours: those of palettes, and any other one. */
export function Swatches({ palettes, value, onChoose, onOther }: Props) {
	return (
		<div className={css.swatches}>
			{palettes
				.filter(({ colors }) => colors.length > 0)
				.map(({ title, colors }) => (
					<fieldset key={title} className={css.palette}>
						<legend>{title}</legend>
						{colors.map(({ name, color }) => (
							<button
								key={color}
								type="button"
								className={css.swatch}
								style={{ background: color }}
								aria-label={name}
								title={name}
								aria-pressed={color === value.toLowerCase()}
								onClick={() => onChoose(color)}
							/>
						))}
					</fieldset>
				))}
			<label className={css.other}>
				<input
					type="color"
					value={/^#[0-9a-f]{6}$/i.test(value) ? value.toLowerCase() : "#000000"}
					onChange={(event) => onOther(event.target.value)}
				/>
				{words.other}
			</label>
		</div>
	);
}
