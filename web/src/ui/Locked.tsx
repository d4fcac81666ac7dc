import { createContext, type ReactNode, useContext } from "react";
import css from "./Field.module.css";
import { Callout } from "./Page";

/** Locked is around fields that a person may look at. With `why` it says who may change them, and they cannot be changed. */
export function Locked({ disabledReason, children }: { disabledReason?: string; children: ReactNode }) {
	return (
		<>
			{disabledReason && <Callout>{disabledReason}</Callout>}
			<Fixed locked={disabledReason !== undefined}>{children}</Fixed>
		</>
	);
}

const IsFixed = createContext(false);

/** useFixed reports whether fields here cannot be changed, for what is no field of the browser. */
export const useFixed = () => useContext(IsFixed);

/** Fixed is around fields that cannot be changed at times. */
export function Fixed({ locked, children }: { locked: boolean; children: ReactNode }) {
	return (
		<IsFixed value={useFixed() || locked}>
			<fieldset className={css.locked} disabled={locked}>
				{children}
			</fieldset>
		</IsFixed>
	);
}
