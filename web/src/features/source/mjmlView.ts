// MJML is shown as a design or as code: as the address says, else as the person chose last on this device.

export type MjmlView = "design" | "code";

/** viewOf returns the view that an address asks for, else the one that was chosen last. */
export function viewOf(asked: string | null, chosen: string | null): MjmlView {
	if (asked === "design" || asked === "code") return asked;
	return chosen === "code" ? chosen : "design";
}
