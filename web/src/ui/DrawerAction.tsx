import { type ComponentProps, createContext, useContext } from "react";
import { createPortal } from "react-dom";
import { Button } from "./Button";

/** Footer is the place in the footer of a drawer for the action of what it shows, and whether another action there comes first; null: there is none. */
export const DrawerPlace = createContext<{ place: HTMLElement | null; second: boolean } | null>(null);

export const DrawerFooter = DrawerPlace.Provider;

type Props = Omit<ComponentProps<typeof Button>, "type" | "look" | "form"> & {
	/** The id of the form that it sends. */ form: string;
};

/** DrawerAction sends a form: from the footer of the drawer around it, where it is always in view, or else from where it stands. */
export function DrawerAction(props: Props) {
	const footer = useContext(DrawerPlace);
	const button = <Button {...props} type="submit" look={footer?.second ? "default" : "primary"} />;
	return footer ? footer.place && createPortal(button, footer.place) : button;
}
