import { MoreHorizontal } from "lucide-react";
import { type ReactNode, Suspense, useContext, useEffect, useRef, useState } from "react";
import { Module } from "../base/lazy";
import { usePageActions } from "../base/pageActions";
import { catalogue } from "../base/words/catalogue";
import button from "./Button.module.css";
import { CurrentRow } from "./currentRow";

const words = catalogue("shell.menu", { more: "More actions" });

export type Action = {
	id: string;
	label: string;
	icon?: ReactNode;
	danger?: boolean;
	/** Why it cannot be done now; it is shown below the label. */
	disabledReason?: string;
	help?: string;
	run: () => void;
};

export const menus = new Module(() => import("./aria/MenuList"));
const MenuList = menus.component((module) => module.MenuList);

type Props = {
	label?: string;
	actions: (Action | false | null | undefined)[];
	/** What the button shows; three dots if missing. */
	children?: ReactNode;
	small?: boolean;
	/** Classes of the button, instead of those of buttons. */
	className?: string;
	/** The list stands at the start of the button, not at its end. */
	start?: boolean;
};

/** Menu is a button that opens a list of actions. */
export function Menu({ label = words.more, actions, children, small, className, start }: Props) {
	const [open, setOpen] = useState(false);
	const trigger = useRef<HTMLButtonElement>(null);
	const current = useContext(CurrentRow);
	// What is chosen runs when the list is gone: a dialog that it opens then gives the focus back to the button.
	const [selected, setSelected] = useState<Action | null>(null);
	useEffect(() => {
		if (!selected || open) return;
		setSelected(null);
		if (document.activeElement === null || document.activeElement === document.body) trigger.current?.focus();
		selected.run();
	}, [selected, open]);
	const prefix = typeof children === "string" ? `${children}: ` : "";
	usePageActions(
		actions
			.filter((action): action is Action => Boolean(action))
			.map((action) => ({ title: prefix + action.label, disabledReason: action.disabledReason, run: action.run })),
	);
	return (
		<>
			<button
				ref={trigger}
				type="button"
				tabIndex={current === false ? -1 : undefined}
				aria-label={children && !className ? undefined : label}
				aria-haspopup="menu"
				aria-expanded={open}
				className={
					className ??
					[button.button, children ? button.default : `${button.quiet} ${button.square}`, small && button.small]
						.filter(Boolean)
						.join(" ")
				}
				onPointerEnter={menus.preload}
				onFocus={menus.preload}
				onClick={() => setOpen(!open)}
				onKeyDown={(event) => {
					if (event.key === "ArrowDown" || event.key === "ArrowUp") {
						event.preventDefault();
						setOpen(true);
					}
				}}
			>
				{children ?? <MoreHorizontal aria-hidden />}
			</button>
			{open && (
				<Suspense fallback={null}>
					<MenuList
						label={label}
						actions={actions.filter((action): action is Action => Boolean(action))}
						trigger={trigger}
						start={start}
						onChoose={setSelected}
						onClose={() => setOpen(false)}
					/>
				</Suspense>
			)}
		</>
	);
}
