import type { ReactNode, RefObject } from "react";
import { Dialog } from "react-aria-components/Dialog";
import { Popover } from "react-aria-components/Popover";
import css from "./PopupPanel.module.css";

/** PopupPanel is the panel that a popup opens. */
export function PopupPanel({
	label,
	trigger,
	end,
	onClose,
	children,
}: {
	label: string;
	trigger: RefObject<HTMLElement | null>;
	end?: boolean;
	onClose: () => void;
	children: ReactNode;
}) {
	return (
		<Popover
			className={css.popover}
			placement={end ? "bottom end" : "bottom start"}
			isOpen
			triggerRef={trigger}
			onOpenChange={(open) => !open && onClose()}
		>
			<Dialog aria-label={label} className={css.dialog}>
				{children}
			</Dialog>
		</Popover>
	);
}
