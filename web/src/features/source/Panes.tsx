import { Button } from "../../ui/Button";
import { catalogue } from "../../base/words/catalogue";
import css from "./Source.module.css";

const words = catalogue("source.panes", {
	show: "View",
	code: "Code",
	design: "Design",
	preview: "Preview",
});

type Props = {
	pane: string;
	onChange: (pane: string) => void;
	/** Whether there is a design; without one, narrow screens alone have a choice. */
	design: boolean;
};

/** Panes chooses what of a source is shown: its code, its design or, on narrow screens, the preview. */
export function Panes({ pane, onChange, design }: Props) {
	const current = pane === "design" && !design ? "code" : pane;
	const pick = (id: string, name: string) => (
		<Button
			small
			aria-pressed={current === id}
			variant={current === id ? "primary" : "default"}
			data-narrow={id === "preview" || undefined}
			onClick={() => onChange(id)}
		>
			{name}
		</Button>
	);
	return (
		// biome-ignore lint/a11y/useSemanticElements: a fieldset is one of a form
		<div role="group" aria-label={words.show} className={css.panes} data-narrow={!design || undefined}>
			{pick("code", words.code)}
			{design && pick("design", words.design)}
			{pick("preview", words.preview)}
		</div>
	);
}
