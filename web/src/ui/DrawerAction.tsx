import { type ComponentProps, createContext, useContext, useEffect } from "react";
import { createPortal } from "react-dom";
import { catalogue } from "../base/words/catalogue";
import { Button } from "./Button";

const words = catalogue("shell.drawerAction", { cancel: "Cancel" });

type Footer = {
	element: HTMLElement | null;
	second: boolean;
	/** Whether a way to cancel stands in the footer, in place of the button that closes the drawer. */
	setCancels: (cancels: boolean) => void;
};

/** Footer is the place in the footer of a drawer for the action of what it shows, and whether another action there comes first; null: there is none. */
export const DrawerFooterElement = createContext<Footer | null>(null);

export const DrawerFooter = DrawerFooterElement.Provider;

type Props = Omit<ComponentProps<typeof Button>, "type" | "look" | "form"> & {
	/** The id of the form that it sends. */ form: string;
};

/** DrawerAction sends a form: from the footer of the drawer around it, where it is always in view, or else from where it stands. */
export function DrawerAction(props: Props) {
	const footer = useContext(DrawerFooterElement);
	const button = <Button {...props} type="submit" variant={footer?.second ? "default" : "primary"} />;
	return footer ? footer.element && createPortal(button, footer.element) : button;
}

/** DrawerButton is another action on what a drawer shows. It stands beside the first one, as DrawerAction says. */
export function DrawerButton(props: ComponentProps<typeof Button>) {
	const footer = useContext(DrawerFooterElement);
	const button = <Button {...props} />;
	return footer ? footer.element && createPortal(button, footer.element) : button;
}

/** DrawerCancel drops what was typed in a drawer, in place of the button that closes it. */
export function DrawerCancel({ onCancel }: { onCancel: () => void }) {
	const setCancels = useContext(DrawerFooterElement)?.setCancels;
	useEffect(() => {
		setCancels?.(true);
		return () => setCancels?.(false);
	}, [setCancels]);
	return <DrawerButton onClick={onCancel}>{words.cancel}</DrawerButton>;
}
