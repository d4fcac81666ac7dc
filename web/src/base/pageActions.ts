import { createContext, type ReactNode, useContext, useEffect, useRef } from "react";

// What the page on the screen offers to do: the buttons and menus beside its heading. The palette lists
// them, and keys run them: c creates, e edits, Control and Enter does the page's main action.

export type PageAction = {
	title: string;
	/** Why it cannot be done now. */
	disabledReason?: ReactNode;
	kind?: "primary" | "create" | "edit";
	run: () => void;
};

/** Offering is true among the actions of a page. */
export const PageActionsEnabled = createContext(false);

const registry = new Map<object, () => PageAction[]>();

/** pageActions returns what the page on the screen offers, in the order of its buttons. */
export const pageActions = (): PageAction[] => [...registry.values()].flatMap((list) => list());

/** runPageAction does the first thing of a kind that the page offers and that can be done. */
export function runPageAction(...kinds: PageAction["kind"][]) {
	pageActions()
		.find((offer) => kinds.includes(offer.kind) && !offer.disabledReason)
		?.run();
}

/** usePageActions registers actions that a button or a menu among the actions of a page offers. */
export function usePageActions(list: PageAction[]) {
	const enabled = useContext(PageActionsEnabled);
	const current = useRef(list);
	current.current = list;
	useEffect(() => {
		if (!enabled) return;
		const own = {};
		registry.set(own, () => current.current);
		return () => {
			registry.delete(own);
		};
	}, [enabled]);
}
