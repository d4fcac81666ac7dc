import type { FocusEvent, RefObject } from "react";
import { Menu, MenuItem } from "react-aria-components/Menu";
import { Popover } from "react-aria-components/Popover";
import type { Action } from "../Menu";
import css from "./Menu.module.css";

type Props = {
	label: string;
	actions: Action[];
	trigger: RefObject<HTMLElement | null>;
	start?: boolean;
	onChoose: (a: Action) => void;
	onClose: () => void;
};

/** focusItem moves the focus from a list to its current item. */
function focusItem(e: FocusEvent<HTMLElement>) {
	if (e.target.role !== "menu") return;
	(
		e.target.querySelector<HTMLElement>('[role=menuitem][tabindex="0"]') ??
		e.target.querySelector<HTMLElement>("[role=menuitem]")
	)?.focus();
}

/** MenuList is the list that a menu opens. */
export function MenuList({ label, actions, trigger, start, onChoose, onClose }: Props) {
	return (
		<Popover
			className={css.popover}
			aria-label={label}
			placement={start ? "bottom start" : "bottom end"}
			isOpen
			triggerRef={trigger}
			onOpenChange={(open) => !open && onClose()}
		>
			{/* React Aria takes a click by a key for one of a screen reader, and then leaves the focus on the list. */}
			{/* biome-ignore lint/a11y/noStaticElementInteractions: it only passes the focus on */}
			<div className={css.focus} onFocus={focusItem}>
				<Menu
					className={css.menu}
					aria-label={label}
					autoFocus="first"
					onClose={onClose}
					disabledKeys={actions.filter((a) => a.why).map((a) => a.id)}
					onAction={(key) => {
						const chosen = actions.find((a) => a.id === key);
						if (chosen) onChoose(chosen);
					}}
				>
					{actions.map((a) => (
						<MenuItem key={a.id} id={a.id} textValue={a.label} className={`${css.item} ${a.danger ? css.danger : ""}`}>
							{a.icon && <span className={css.icon}>{a.icon}</span>}
							<span>
								{a.label}
								{(a.why ?? a.help) && <small>{a.why ?? a.help}</small>}
							</span>
						</MenuItem>
					))}
				</Menu>
			</div>
		</Popover>
	);
}
