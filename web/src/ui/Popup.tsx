import { type ReactNode, type RefObject, Suspense, useRef, useState } from "react";
import { Module } from "../base/lazy";
import button from "./Button.module.css";

export const panels = new Module(() => import("./aria/PopupPanel"));
export const PopupPanel = panels.component((module) => module.PopupPanel);

type Props = {
	/** What the panel is for. */
	label: string;
	/** The name of the button, if its content is not enough. */
	buttonLabel?: string;
	button: ReactNode;
	className?: string;
	end?: boolean;
	/** Whether what it is about is on. */
	pressed?: boolean;
	/** The button, for those who open it by keys. */
	triggerRef?: RefObject<HTMLButtonElement | null>;
	children: (close: () => void) => ReactNode;
};

/** Popup is a button that opens a small panel beside it. */
export function Popup({ label, buttonLabel, button: content, className, end, pressed, triggerRef, children }: Props) {
	const [open, setOpen] = useState(false);
	const own = useRef<HTMLButtonElement>(null);
	const trigger = triggerRef ?? own;
	const close = () => setOpen(false);
	return (
		<>
			<button
				ref={trigger}
				type="button"
				aria-label={buttonLabel}
				aria-haspopup="dialog"
				aria-expanded={open}
				data-pressed={pressed || undefined}
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
