import { Check } from "lucide-react";
import type { ReactNode, RefObject } from "react";
import { Header } from "react-aria-components/Header";
import { Menu, MenuItem, MenuSection } from "react-aria-components/Menu";
import { Popover } from "react-aria-components/Popover";
import menu from "./Menu.module.css";
import css from "./ChoiceList.module.css";
import { focusItem } from "./MenuList";

/** Choices with a group stand under its heading; those of a group follow one another. */
export type ListedChoice = { id: string; label: string; icon?: ReactNode; group?: string };

type Props = {
	label: string;
	choices: ListedChoice[];
	/** What is chosen now; without it, the choices are actions. */
	value?: string;
	trigger: RefObject<HTMLElement | null>;
	/** The id of what opened it. */
	of?: string;
	onChoose: (id: string) => void;
	onClose: () => void;
};

const item = (choice: ListedChoice, value: string | undefined) => (
	<MenuItem key={choice.id} id={choice.id} textValue={choice.label} className={menu.item}>
		{choice.icon && <span className={menu.icon}>{choice.icon}</span>}
		<span className={css.name}>{choice.label}</span>
		{choice.id === value && (
			<span className={menu.icon}>
				<Check aria-hidden />
			</span>
		)}
	</MenuItem>
);

/** ChoiceList is a short list of choices beside what opens it. A choice is found by its first letters, too. */
export function ChoiceList({ label, choices, value, trigger, of, onChoose, onClose }: Props) {
	const groups = [...new Set(choices.map((choice) => choice.group ?? ""))];
	return (
		<Popover
			className={menu.popover}
			aria-label={label}
			placement="bottom start"
			isOpen
			triggerRef={trigger}
			onOpenChange={(open) => !open && onClose()}
		>
			{/* biome-ignore lint/a11y/noStaticElementInteractions: it only passes the focus on */}
			<div data-of={of} className={menu.focus} onFocus={focusItem}>
				<Menu
					className={menu.menu}
					aria-label={label}
					autoFocus="first"
					selectionMode={value === undefined ? "none" : "single"}
					selectedKeys={value === undefined ? [] : [value]}
					onAction={(key) => onChoose(String(key))}
				>
					{groups.map((group) => {
						const inGroup = choices.filter((choice) => (choice.group ?? "") === group);
						return group === "" ? (
							inGroup.map((choice) => item(choice, value))
						) : (
							<MenuSection key={group} id={group}>
								<Header className={css.heading}>{group}</Header>
								{inGroup.map((choice) => item(choice, value))}
							</MenuSection>
						);
					})}
				</Menu>
			</div>
		</Popover>
	);
}
