import { type ReactNode, useContext } from "react";
import { DrawerFooterElement } from "./DrawerAction";
import css from "./FormFooter.module.css";

/** FormFooter holds the actions of a form that is as long as its page, and stays in view. In a drawer they stand in its footer. */
export function FormFooter({ children }: { children: ReactNode }) {
	return useContext(DrawerFooterElement) ? children : <div className={css.footer}>{children}</div>;
}
