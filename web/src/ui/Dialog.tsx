import { Suspense } from "react";
import { Module } from "../base/lazy";
import type { ConfirmProps, DialogProps } from "./aria/Dialog";

export const dialogs = new Module(() => import("./aria/Dialog"));
const LazyDialog = dialogs.component((module) => module.Dialog);
const LazyConfirm = dialogs.component((module) => module.Confirm);

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
