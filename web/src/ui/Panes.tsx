import { type ReactNode, useCallback, useLayoutEffect, useRef } from "react";
import { useParams } from "../base/params";
import css from "./Panes.module.css";

/** Where both panes have room beside each other; the same width stands in Panes.module.css. */
const isWide = () => matchMedia("(min-width: 1100px)").matches;

type Pane = "write" | "preview";

/** usePane returns which pane is shown where there is no room for both, and a function that shows one. */
export function usePane(): [Pane, (pane: Pane) => void] {
	const [params, set] = useParams();
	const show = useCallback((pane: Pane) => !isWide() && set({ pane: pane === "write" ? null : pane }), [set]);
	return [params.get("pane") === "preview" ? "preview" : "write", show];
}

type Props = {
	/** What the switch is called, and the panes in it. */
	label: string;
	names: { write: string; preview: string };
	write: ReactNode;
	preview: ReactNode;
};

/**
 * Panes shows what is written and, beside it and always in view, how it looks. A narrow screen shows one of them; each keeps
 * its place.
 */
export function Panes({ label, names, write, preview }: Props) {
	const [pane, show] = usePane();
	const element = useRef<HTMLDivElement>(null);
	const places = useRef<{ [pane: string]: number }>({});
	const last = useRef(pane);
	const change = (next: Pane) => {
		places.current[pane] = window.scrollY;
		show(next);
	};
	useLayoutEffect(() => {
		if (last.current === pane) return;
		last.current = pane;
		if (isWide()) return;
		const top = window.scrollY + (element.current?.getBoundingClientRect().top ?? 0) - topBar;
		window.scrollTo(0, places.current[pane] ?? Math.min(window.scrollY, top));
	}, [pane]);
	return (
		<div ref={element} className={css.panes} data-pane={pane}>
			<fieldset className={css.switch}>
				<legend className="visually-hidden">{label}</legend>
				{(["write", "preview"] as const).map((id) => (
					<button key={id} type="button" aria-pressed={pane === id} onClick={() => change(id)}>
						{names[id]}
					</button>
				))}
			</fieldset>
			<div className={css.write}>{write}</div>
			<div className={css.preview}>{preview}</div>
		</div>
	);
}

/** The height of the bar above every page, in pixels. */
const topBar = 56;
