import { X } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useEffect, useId, useLayoutEffect, useRef, useState } from "react";
import { createPortal } from "react-dom";
import { catalogue } from "../../base/words/catalogue";
import { IconButton } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { useNarrow } from "../../ui/useNarrow";
import css from "./SidePanel.module.css";

const words = catalogue("sequences.sidePanel", { close: "Close" });

type Props = {
	title: string;
	/** It has room for a mail and its picture. */
	wide?: boolean;
	/** A new object gives it the focus. */
	focus: object | null;
	/** Called by the button that closes it and by Escape. */
	onClose: () => void;
	footer: ReactNode;
	children: ReactNode;
};

/** isText reports whether something is a text with keys of its own: one with its formatting, or code. */
const isText = (target: HTMLElement) => target.isContentEditable || target.shadowRoot !== null;

/** SidePanel stands beside the page, which stays in use. On phones it is a drawer over it. */
export function SidePanel(props: Props) {
	if (!useNarrow()) return <Beside {...props} />;
	const { title, onClose, footer, children } = props;
	return (
		<Dialog drawer="wide" title={title} onClose={onClose} footer={footer}>
			{children}
		</Dialog>
	);
}

/** The height of the bar above every page, in pixels. */
const topBar = 56;

function Beside({ title, wide, focus, onClose, footer, children }: Props) {
	const id = useId();
	const anchor = useRef<HTMLSpanElement>(null);
	const [main, setMain] = useState<HTMLElement | null>(null);
	const panel = useRef<HTMLElement>(null);
	useLayoutEffect(() => setMain(anchor.current?.closest("main") ?? null), []);
	useEffect(() => {
		if (focus && main) panel.current?.focus({ preventScroll: true });
	}, [focus, main]);
	// What stands above the page, such as a strip, scrolls away: the panel ends at the end of the screen meanwhile, too.
	useLayoutEffect(() => {
		if (!main) return;
		const place = () =>
			panel.current?.style.setProperty("--panel-start", `${Math.max(topBar, main.getBoundingClientRect().top)}px`);
		place();
		window.addEventListener("scroll", place, { passive: true });
		window.addEventListener("resize", place);
		return () => {
			window.removeEventListener("scroll", place);
			window.removeEventListener("resize", place);
		};
	}, [main]);
	// Escape is of a list that is open in the panel first. Whether one is, is known before the list hears of the key.
	const isOfList = useRef(false);
	const key = (event: KeyboardEvent) => {
		if (event.key !== "Escape" || event.defaultPrevented || isOfList.current) return;
		const target = event.target as HTMLElement;
		if (!event.currentTarget.contains(target)) return; // of what was opened from the panel
		if (isText(target)) return; // where Escape, then Tab, leaves
		event.stopPropagation();
		onClose();
	};
	return (
		<>
			<span ref={anchor} hidden />
			{main &&
				createPortal(
					<section
						ref={panel}
						data-side-panel
						tabIndex={-1}
						aria-labelledby={id}
						className={wide ? `${css.panel} ${css.wide}` : css.panel}
						onKeyDownCapture={(event) => {
							isOfList.current = (event.target as HTMLElement).getAttribute("aria-expanded") === "true";
						}}
						onKeyDown={key}
					>
						<header className={css.header}>
							<h2 id={id}>{title}</h2>
							<IconButton label={words.close} icon={<X aria-hidden />} onClick={onClose} />
						</header>
						<div className={css.body}>{children}</div>
						<footer className={css.footer}>{footer}</footer>
					</section>,
					main,
				)}
		</>
	);
}
