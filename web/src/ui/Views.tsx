import { catalogue } from "../base/words/catalogue";
import css from "./Views.module.css";

const words = catalogue("shell.views", { view: "View" });

type Props<View extends string> = {
	views: { [view in View]: string };
	current: View;
	onChange: (view: View) => void;
};

/** Views is a switch between views of the same thing. */
export function Views<View extends string>({ views, current, onChange }: Props<View>) {
	return (
		<fieldset className={css.views}>
			<legend className="visually-hidden">{words.view}</legend>
			{(Object.keys(views) as View[]).map((view) => (
				<button key={view} type="button" aria-pressed={view === current} onClick={() => onChange(view)}>
					{views[view]}
				</button>
			))}
		</fieldset>
	);
}
