import { type ComponentProps, Suspense } from "react";
import { lazyComponent } from "../../base/lazy";

const CheckBar = lazyComponent(() => import("./CheckBar").then((module) => ({ default: module.CheckBar })));

/** MailChecks is the bar that says what there is to mend in a mail; its place is kept while it is loaded. */
export const MailChecks = (props: ComponentProps<typeof CheckBar>) => (
	<div style={{ minBlockSize: "var(--target)" }}>
		<Suspense>
			<CheckBar {...props} />
		</Suspense>
	</div>
);
