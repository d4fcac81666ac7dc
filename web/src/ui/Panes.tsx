import { type ReactNode, useCallback, useLayoutEffect, useRef, useSyncExternalStore } from "react";
import { useParams } from "../base/params";
import { catalogue } from "../base/words/catalogue";
import css from "./Panes.module.css";
import { Views } from "./Views";

const words = catalogue("shell.panes", { write: "Write", preview: "Preview" });

/** Where both panes have room beside each other; the same width stands in Panes.module.css. */
const wide = typeof matchMedia === "undefined" ? null : matchMedia("(min-width: 1100px)");
const isWide = () => wide?.matches ?? true;

/** useWide reports whether both panes have room beside each other. */
export const useWide = () =>
	useSyncExternalStore((listener) => {
		wide?.addEventListener("change", listener);
		return () => wide?.removeEventListener("change", listener);
	}, isWide);

type Pane = "write" | "preview";

/** usePane returns which pane is shown where there is no room for both, and a function that shows one. */
export function usePane(): [Pane, (pane: Pane) => void] {
	const [params, set] = useParams();
	const show = useCallback((pane: Pane) => !isWide() && set({ pane: pane === "write" ? null : pane }), [set]);
	return [params.get("pane") === "preview" ? "preview" : "write", show];
}

type Props = {
	write: ReactNode;
	preview: ReactNode;
	/** Whether what is written shows how it looks by itself: it has the whole width then. */
	whole?: boolean;
};

/**
 * Panes shows what is written and, beside it and always in view, how it looks. A narrow screen shows one of them; each keeps
 * its place.
 */
export function Panes({ write, preview, whole }: Props) {
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
		<div ref={element} className={css.panes} data-pane={pane} data-whole-write={whole || undefined}>
			<div className={css.switch}>
				<Views views={words} current={pane} onChange={change} />
			</div>
			<div className={css.write}>{write}</div>
			<div className={css.preview}>{preview}</div>
		</div>
	);
}

/** The height of the bar above every page, in pixels. */
const topBar = 56;
