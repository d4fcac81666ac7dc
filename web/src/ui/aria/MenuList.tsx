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
	onChoose: (action: Action) => void;
	onClose: () => void;
};

/** focusItem moves the focus from a list to its current item. */
export function focusItem(event: FocusEvent<HTMLElement>) {
	if (event.target.role !== "menu") return;
	(
		event.target.querySelector<HTMLElement>('[role^=menuitem][tabindex="0"]') ??
		event.target.querySelector<HTMLElement>("[role^=menuitem]")
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
					disabledKeys={actions.filter((action) => action.disabledReason).map((action) => action.id)}
					onAction={(key) => {
						const selected = actions.find((action) => action.id === key);
						if (selected) onChoose(selected);
					}}
				>
					{actions.map((action) => (
						<MenuItem
							key={action.id}
							id={action.id}
							textValue={action.label}
							className={`${css.item} ${action.danger ? css.danger : ""}`}
						>
							{action.icon && <span className={css.icon}>{action.icon}</span>}
							<span>
								{action.label}
								{(action.disabledReason ?? action.help) && <small>{action.disabledReason ?? action.help}</small>}
							</span>
						</MenuItem>
					))}
				</Menu>
			</div>
		</Popover>
	);
}
