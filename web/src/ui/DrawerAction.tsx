import { type ComponentProps, createContext, useContext } from "react";
import { createPortal } from "react-dom";
import { Button } from "./Button";

/** Footer is the place in the footer of a drawer for the action of what it shows, and whether another action there comes first; null: there is none. */
export const DrawerFooterElement = createContext<{ element: HTMLElement | null; second: boolean } | null>(null);

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
