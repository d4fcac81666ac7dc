import { Suspense } from "react";
import { later } from "../app/later";
import type { ConfirmProps, DialogProps } from "./aria/Dialog";

const load = () => import("./aria/Dialog");
const LazyDialog = later(() => load().then((m) => ({ default: m.Dialog })));
const LazyConfirm = later(() => load().then((m) => ({ default: m.Confirm })));

/** Dialog is a dialog or a drawer over the page. It keeps the focus, and gives it back. */
export function Dialog(props: DialogProps) {
	return (
		<Suspense fallback={null}>
			<LazyDialog {...props} />
		</Suspense>
	);
}

/** Confirm asks before what cannot be undone. Its text states the consequence in numbers. */
export function Confirm(props: ConfirmProps) {
	return (
		<Suspense fallback={null}>
			<LazyConfirm {...props} />
		</Suspense>
	);
}
