import { createContext, type ReactNode, useContext, useEffect, useRef } from "react";

// What the page on the screen offers to do: the buttons and menus beside its heading. The palette lists
// them, and keys run them: c creates, e edits, Control and Enter does the page's main action.

export type Offer = {
	title: string;
	/** Why it cannot be done now. */
	disabledReason?: ReactNode;
	kind?: "primary" | "create" | "edit";
	run: () => void;
};

/** Offering is true among the actions of a page. */
export const Offering = createContext(false);

const offers = new Map<object, () => Offer[]>();

/** pageOffers returns what the page on the screen offers, in the order of its buttons. */
export const pageOffers = (): Offer[] => [...offers.values()].flatMap((list) => list());

/** runOffer does the first thing of a kind that the page offers and that can be done. */
export function runOffer(...kinds: Offer["kind"][]) {
	pageOffers()
		.find((offer) => kinds.includes(offer.kind) && !offer.disabledReason)
		?.run();
}

/** useOffers registers actions that a button or a menu among the actions of a page offers. */
export function useOffers(list: Offer[]) {
	const offering = useContext(Offering);
	const current = useRef(list);
	current.current = list;
	useEffect(() => {
		if (!offering) return;
		const own = {};
		offers.set(own, () => current.current);
		return () => {
			offers.delete(own);
		};
	}, [offering]);
}
