import { type ReactNode, Suspense, useRef, useState } from "react";
import { Module } from "../base/lazy";
import button from "./Button.module.css";

const panels = new Module(() => import("./aria/PopupPanel"));
const PopupPanel = panels.component((module) => module.PopupPanel);

type Props = {
	/** What the panel is for. */
	label: string;
	/** The name of the button, if its content is not enough. */
	buttonLabel?: string;
	button: ReactNode;
	className?: string;
	end?: boolean;
	children: (close: () => void) => ReactNode;
};

/** Popup is a button that opens a small panel beside it. */
export function Popup({ label, buttonLabel, button: content, className, end, children }: Props) {
	const [open, setOpen] = useState(false);
	const trigger = useRef<HTMLButtonElement>(null);
	const close = () => setOpen(false);
	return (
		<>
			<button
				ref={trigger}
				type="button"
				aria-label={buttonLabel}
				aria-haspopup="dialog"
				aria-expanded={open}
				className={className ?? `${button.button} ${button.quiet} ${button.small}`}
				onPointerEnter={panels.preload}
				onFocus={panels.preload}
				onClick={() => setOpen(!open)}
			>
				{content}
			</button>
			{open && (
				<Suspense fallback={null}>
					<PopupPanel label={label} trigger={trigger} end={end} onClose={close}>
						{children(close)}
					</PopupPanel>
				</Suspense>
			)}
		</>
	);
}
